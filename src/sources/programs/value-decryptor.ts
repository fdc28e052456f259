import type { FailureDetail } from '@backporch/kyaml/failure'
import type { PlainValues } from '@backporch/kyaml/redaction'

export interface EncryptedText {
  /** The file, from the repository root, or the object. */
  readonly where: string
  readonly text: string
  readonly format: 'yaml' | 'json'
  /** Whether the signature must match the text; a built object has none. */
  readonly signed: boolean
}

export type Decryption = { readonly values: PlainValues } | { readonly failure: FailureDetail }

export interface ValueDecryptor {
  /**
   * Equal texts give equal values.
   * @throws only the signal's reason
   */
  decrypt(encrypted: EncryptedText, signal: AbortSignal): Promise<Decryption>
}
