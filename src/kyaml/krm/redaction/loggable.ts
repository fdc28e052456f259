/**
 * A log accepts only `Loggable`, so that no value of a cluster or a Secret reaches it by mistake.
 */
import { convertToOneLine } from '../../text/one-line.ts'
import { hasSecretText } from './credential-text.ts'

declare const loggable: unique symbol
export type Loggable = string & { readonly [loggable]: true }

/**
 * Never for a value.
 * @returns `redacted` if it has the form of a credential
 */
export function formatLoggableName(name: string, limit = 300): Loggable {
  return formatLoggableText(name, limit)
}

/** May quote a library; `redacted` if it has the form of a credential. */
export function formatLoggableText(text: string, limit = 2_000): Loggable {
  return (hasSecretText(text) ? 'redacted' : convertToOneLine(text, limit)) as Loggable
}
