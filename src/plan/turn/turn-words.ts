/** What a turn did or would do, in words: the same from the command line and in the log of the controller. */
import type { PlannedUnit } from '../observation/planned-unit.ts'

const WORDS = {
  created: 'recorded',
  updated: 'updated',
  unchanged: 'unchanged',
  healed: 'withdrawn',
} as const
export type WrittenWord = (typeof WORDS)[keyof typeof WORDS] | 'proposed'

/** What was done to the unit's branch; undefined for nothing. A draft that becomes a proposal is proposed, whatever was recorded before. */
export function writtenWord({
  plan: { outcome, report },
  observation,
}: PlannedUnit): WrittenWord | undefined {
  const isNew =
    outcome === 'created' ||
    (outcome === 'updated' && !observation.git.branches.some(({ state }) => state === 'proposed'))
  if (isNew && report.status.lifecycle === 'Proposed') return 'proposed'
  return outcome in WORDS ? WORDS[outcome as keyof typeof WORDS] : undefined
}

/** Every write of a real run, under a sentence that announces a dry run. */
export function dryRunLines(written: readonly string[]): readonly string[] {
  if (written.length === 0) return ['dry run: there is nothing to write']
  return [
    'dry run: nothing is written. A real run would now:',
    ...written.map((line) => `  ${line}`),
  ]
}
