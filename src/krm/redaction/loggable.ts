/**
 * Text on its way into a log. A log takes `Loggable` and never a plain text, so that a value that was read from a cluster or a Secret
 * manifest cannot reach it by oversight: a value comes in as `show` lets it out, a name as a name.
 */
import { oneLine } from '../../text/one-line.ts'
import { hasSecretText } from './credential-text.ts'
import { type Shown, shownJson } from './redacted.ts'

declare const loggable: unique symbol
/** One line. Made only here. */
export type Loggable = string & { readonly [loggable]: true }

/**
 * The name of something, or a line about names: a cluster, a package, a branch, an address. Never a value.
 * @returns the name; `redacted` where it has the form of a credential all the same
 */
export function loggableName(name: string, limit = 300): Loggable {
  return loggableText(name, limit)
}

/** A sentence of a failure or a note, which may quote a library. @returns `redacted` where it has the form of a credential */
export function loggableText(text: string, limit = 2_000): Loggable {
  return (hasSecretText(text) ? 'redacted' : oneLine(text, limit)) as Loggable
}

/** A value, as `show` lets it out. */
export function loggableValue(shown: Shown, limit = 300): Loggable {
  const json = shownJson(shown)
  return oneLine(typeof json === 'string' ? json : (JSON.stringify(json) ?? 'absent'), limit) as Loggable
}
