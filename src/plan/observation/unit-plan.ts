/** The plan of one unit for one turn. */
import type { FileChange } from '@backporch/git-store/package-repository'
import type { Note } from '@backporch/kyaml/note'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import type { GitWrites } from './action.ts'
import type { FoundOutcome } from './found-outcome.ts'
import type { Hold } from './hold.ts'
import type { JointLocation } from './joint-location.ts'
import type { OpenBranch, ResolutionRequest } from './observation.ts'

/** What happened to the unit's branch in this turn. */
export type BranchOutcome =
  | 'none'
  | 'created'
  | 'updated'
  | 'unchanged'
  | 'healed'
  | 'foreign'
  | 'frozen'
  | 'silenced'
  | 'applying'

export interface UnitPlan {
  readonly report: DriftReport
  readonly outcome: BranchOutcome
  /** Short name of the branch that holds the record after this turn; empty where there is none. */
  readonly branch: string
  readonly record: DriftRecord | undefined
  readonly writes: GitWrites
  /** Episodes that ended without `approve` and `reject`, by the branch that they were on. */
  readonly outcomes: readonly FoundOutcome[]
  /** The unit's branches as the turn found them, without those that were decided. */
  readonly openBranches: readonly OpenBranch[]
  /** What the unit brings to the joint proposal that its branch is; no commit of its own writes that. */
  readonly joint?: readonly FileChange[] | undefined
  /** Records of decisions through Porch that go onto the base branch, in a commit of the whole turn. */
  readonly landing: readonly FileChange[]
  /** Sentences for people about this turn. */
  readonly notes: readonly Note[]
}

export interface PlanOptions {
  readonly resolutionRequest?: ResolutionRequest | undefined
  /** Ids of the episodes that the units before this one begin in the same turn. */
  readonly begun?: ReadonlySet<string>
  /** Keeps what would be proposed a draft; what is open already stays open. */
  readonly hold?: Hold | undefined
  /** The record goes onto the branch of a joint proposal. */
  readonly joint?: JointLocation | undefined
}
