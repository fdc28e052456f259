/** Decrypts what SOPS encrypted: a program of the operator with the keys of the operator. */
import type { FailureDetail } from '@backporch/kyaml/failure'
import type { PlainValues } from '@backporch/kyaml/redaction'

export interface EncryptedText {
  /** For people: the file, from the root of the repository, or the object. */
  readonly where: string
  readonly text: string
  readonly format: 'yaml' | 'json'
  /** Whether the signature has to be that of the text; an object that was built has none. */
  readonly signed: boolean
}

export type Decryption = { readonly values: PlainValues } | { readonly failure: FailureDetail }

export interface ValueDecryptor {
  /** Equal texts give equal values. @throws only the signal's reason */
  decrypt(encrypted: EncryptedText, signal: AbortSignal): Promise<Decryption>
}
