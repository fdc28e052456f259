/**
 * What Backporch promises: P1 to P30. Each has checks, files of tests that fail when it is broken, and mutants: one deliberate
 * fault in the source for each, which the checks have to find. `scoreboard.ts` breaks, runs and writes docs/reliability.md.
 */
import { DECISIONS } from './promises/decisions.ts'
import { OBSERVATION_AND_STATE } from './promises/observation-and-state.ts'
import { SECRETS_AND_WRITES } from './promises/secrets-and-writes.ts'
import { TRUST_AND_OPERATION } from './promises/trust-and-operation.ts'

export interface Mutant {
  /** What the fault does, in the present tense: `the hash has no key`. */
  readonly breaks: string
  /** Below the root of the repository. */
  readonly file: string
  /** Stands exactly once in the file. */
  readonly find: string
  readonly replace: string
  /** Part of the path of the tests that have to find it, where the checks of the promise would take long; all checks otherwise. */
  readonly by?: string
}

export interface Promised {
  /** `P1` */
  readonly id: string
  /** One sentence. */
  readonly promise: string
  /** Paths of test files. */
  readonly checks: readonly string[]
  readonly mutants: readonly Mutant[]
  /** What of the promise no check proves yet, and what that waits for; the promise is unproven where there is no mutant either. */
  readonly open?: string
}

/** @throws Error where the text to replace is not there exactly once: the source moved on, and the mutant has to follow */
export function mutate(source: string, { file, find, replace }: Mutant): string {
  const parts = source.split(find)
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${find}`)
  return parts.join(replace)
}

export const PROMISES: readonly Promised[] = [
  ...SECRETS_AND_WRITES,
  ...OBSERVATION_AND_STATE,
  ...DECISIONS,
  ...TRUST_AND_OPERATION,
]
