import type { ObjectVerdict } from '../../../drift/compare/drift.ts'

export type RowVerdict = 'in-sync' | 'drifted' | 'absent' | 'unreadable' | 'other' | 'report'
const VERDICTS: readonly RowVerdict[] = [
  'in-sync',
  'drifted',
  'absent',
  'unreadable',
  'other',
  'report',
]
const PROOFS = ['none', 'ownership', 'creation', 'dry-run'] as const
const STATUSES = [
  undefined,
  'Current',
  'InProgress',
  'Failed',
  'Terminating',
  'NotFound',
  'Unknown',
] as const

export interface RowState {
  readonly verdict: RowVerdict
  readonly proof: ObjectVerdict['proof']
  /** Undefined if it was not computed. */
  readonly status: string | undefined
  readonly marked: boolean
  readonly scope: number
}

/** More kinds in more namespaces share the last number. */
export const MOST_SCOPES = 1 << 17

export function packState({ verdict, proof, status, marked, scope }: RowState): number {
  const health = Math.max(0, STATUSES.indexOf(status as (typeof STATUSES)[number]))
  return (
    VERDICTS.indexOf(verdict) |
    (PROOFS.indexOf(proof) << 4) |
    (health << 8) |
    ((marked ? 1 : 0) << 12) |
    (scope << 13)
  )
}

export function unpackState(state: number): RowState {
  return {
    verdict: VERDICTS[state & 0xf] ?? 'other',
    proof: PROOFS[(state >> 4) & 0xf] ?? 'none',
    status: STATUSES[(state >> 8) & 0xf],
    marked: ((state >> 12) & 1) === 1,
    scope: (state >> 13) & (MOST_SCOPES - 1),
  }
}
