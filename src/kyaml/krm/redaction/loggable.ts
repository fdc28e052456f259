/** Text for a log. A log takes `Loggable`, never a plain text, so that no value of a cluster or a Secret manifest reaches it by oversight. */
import { oneLine } from '../../text/one-line.ts'
import { hasSecretText } from './credential-text.ts'

declare const loggable: unique symbol
/** One line. Only this file creates it. */
export type Loggable = string & { readonly [loggable]: true }

/**
 * The name of a cluster, a package, a branch or an address, or a line about names. Never a value.
 * @returns the name; `redacted` if it has the form of a credential
 */
export function loggableName(name: string, limit = 300): Loggable {
  return loggableText(name, limit)
}

/** A sentence of a failure or a note, which may quote a library; `redacted` if it has the form of a credential. */
export function loggableText(text: string, limit = 2_000): Loggable {
  return (hasSecretText(text) ? 'redacted' : oneLine(text, limit)) as Loggable
}
