/** A shown value as one short piece of text: in commit messages, tables and lines of `diff`. */
import { canonicalJson, type Json } from '@backporch/kyaml/json'
import { oneLine } from '@backporch/kyaml/text'

const HIDDEN = /^(hmac-sha256:[0-9a-f]{16} \((\d+) bytes\)|redacted \(not read\))$/

/** Strings are quoted, `∅` means "not there", a hidden value shows as `••••`. */
export function formatValue(value: Json | undefined, limit = 60): string {
  if (value === undefined) return '∅'
  if (typeof value === 'string' && HIDDEN.test(value)) return '••••'
  return oneLine(canonicalJson(value), limit)
}

/**
 * Both sides of a difference as `formatValue` has them; where they would look alike because both are cut, they begin shortly
 * before the place where they part: `…unprivileged:1.27"`.
 */
export function formatSides(
  { git, live }: { readonly git?: Json | undefined; readonly live?: Json | undefined },
  limit = 60,
): { readonly git: string; readonly live: string } {
  const cut = { git: formatValue(git, limit), live: formatValue(live, limit) }
  if (cut.git !== cut.live || !cut.git.endsWith('…')) return cut
  const whole = [git, live].map((value) => Array.from(formatValue(value, Number.POSITIVE_INFINITY)))
  const [left = [], right = []] = whole
  const parts = left.findIndex((character, index) => character !== right[index])
  const at = parts === -1 ? left.length : parts
  if (at === right.length && at === left.length) return cut
  const from = startBefore(left, at, limit - 1 - (Math.max(left.length, right.length) - at), limit)
  const side = (text: readonly string[]): string => {
    const rest = text.slice(from)
    return `…${(rest.length < limit ? rest : [...rest.slice(0, Math.max(0, limit - 2)), '…']).join('')}`
  }
  return { git: side(left), live: side(right) }
}

/** At the first word behind `room` characters before `at`, where that leaves half of them; a third of the limit is always left. */
function startBefore(text: readonly string[], at: number, room: number, limit: number): number {
  const context = Math.max(Math.floor(limit / 3), room)
  const from = Math.max(1, at - context)
  const gap = text
    .slice(from, from + Math.floor(context / 2))
    .findIndex((character) => !/[\p{L}\p{N}]/u.test(character))
  return gap === -1 ? from : from + gap + 1
}

/** Bytes of a hidden value, or undefined where it was not read or is not hidden. */
export function hiddenBytes(value: Json | undefined): number | undefined {
  const match = typeof value === 'string' ? HIDDEN.exec(value) : null
  return match?.[2] === undefined ? undefined : Number(match[2])
}
