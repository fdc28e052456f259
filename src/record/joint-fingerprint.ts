/** What a joint proposal is about, as one fingerprint: of all its clusters, in no order. */
import { createHash } from 'node:crypto'
import type { DriftRecord } from './documents/drift-record.ts'

/** `sha256:` and 64 hex digits. */
export function jointFingerprint(records: readonly DriftRecord[]): string {
  const parts = records.map(({ spec }) => spec.fingerprint).sort()
  return `sha256:${createHash('sha256').update(parts.join('\n')).digest('hex')}`
}
