import { createHash } from 'node:crypto'
import type { DriftRecord } from './documents/drift-record.ts'

export function computeJointFingerprint(records: readonly DriftRecord[]): string {
  const parts = records.map(({ spec }) => spec.fingerprint).sort()
  return `sha256:${createHash('sha256').update(parts.join('\n')).digest('hex')}`
}
