import { formatCanonicalJson, type Json } from '@backporch/kyaml/json'
import { convertToOneLine } from '@backporch/kyaml/text'

const HIDDEN = /^(hmac-sha256:[0-9a-f]{16} \((\d+) bytes\)|redacted \(not read\))$/

/** Strings are quoted, `∅` means absent, a hidden value shows as `••••`. */
export function formatValue(value: Json | undefined, limit = 60): string {
  if (value === undefined) return '∅'
  if (typeof value === 'string' && HIDDEN.test(value)) return '••••'
  return convertToOneLine(formatCanonicalJson(value), limit)
}

/** If both would be cut alike, they begin shortly before the first difference. */
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

/** At a word boundary if that leaves half of the characters; a third is always left. */
function startBefore(text: readonly string[], at: number, room: number, limit: number): number {
  const context = Math.max(Math.floor(limit / 3), room)
  const from = Math.max(1, at - context)
  const gap = text
    .slice(from, from + Math.floor(context / 2))
    .findIndex((character) => !/[\p{L}\p{N}]/u.test(character))
  return gap === -1 ? from : from + gap + 1
}

/** Undefined if it was not read or is not hidden. */
export function parseHiddenBytes(value: Json | undefined): number | undefined {
  const match = typeof value === 'string' ? HIDDEN.exec(value) : null
  return match?.[2] === undefined ? undefined : Number(match[2])
}
