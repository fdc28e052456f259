/** A shown value as one short piece of text: in commit messages, tables and lines of `diff`. */
import { canonicalJson, type Json } from '../krm/json.ts'
import { oneLine } from './one-line.ts'

const HIDDEN = /^(hmac-sha256:[0-9a-f]{16} \((\d+) bytes\)|redacted \(not read\))$/

/** Strings are quoted, `∅` stands for "not there", a hidden value shows as `••••`. */
export function formatValue(value: Json | undefined, limit = 60): string {
  if (value === undefined) return '∅'
  if (typeof value === 'string' && HIDDEN.test(value)) return '••••'
  return oneLine(canonicalJson(value), limit)
}

/** Bytes of a hidden value, or undefined where it was not read or is not hidden. */
export function hiddenBytes(value: Json | undefined): number | undefined {
  const match = typeof value === 'string' ? HIDDEN.exec(value) : null
  return match?.[2] === undefined ? undefined : Number(match[2])
}
