import type { PlannedUnit } from '../observation/planned-unit.ts'

const WORDS = {
  created: 'recorded',
  updated: 'updated',
  unchanged: 'unchanged',
  healed: 'withdrawn',
} as const
export type WrittenWord = (typeof WORDS)[keyof typeof WORDS] | 'proposed'

/** Undefined for nothing. A draft that becomes a proposal counts as proposed. */
export function getWrittenWord({
  plan: { outcome, report },
  observation,
}: PlannedUnit): WrittenWord | undefined {
  const isNew =
    outcome === 'created' ||
    (outcome === 'updated' && !observation.git.branches.some(({ state }) => state === 'proposed'))
  if (isNew && report.status.lifecycle === 'Proposed') return 'proposed'
  return outcome in WORDS ? WORDS[outcome as keyof typeof WORDS] : undefined
}

export function dryRunLines(written: readonly string[]): readonly string[] {
  if (written.length === 0) return ['dry run: there is nothing to write']
  return [
    'dry run: nothing is written. A real run would now:',
    ...written.map((line) => `  ${line}`),
  ]
}
