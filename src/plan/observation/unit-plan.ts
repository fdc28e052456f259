import type { FileChange } from '@backporch/git-store/package-repository'
import type { Note } from '@backporch/kyaml/note'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import type { GitWrites } from './action.ts'
import type { FoundOutcome } from './found-outcome.ts'
import type { Hold } from './hold.ts'
import type { JointLocation } from './joint-location.ts'
import type { OpenBranch, ResolutionRequest } from './observation.ts'

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
  /** Short name; empty if there is none. */
  readonly branch: string
  readonly record: DriftRecord | undefined
  readonly writes: GitWrites
  readonly outcomes: readonly FoundOutcome[]
  readonly openBranches: readonly OpenBranch[]
  /** No commit of the unit writes it. */
  readonly joint?: readonly FileChange[] | undefined
  /** Decisions through Porch that go to the base branch in one commit for the turn. */
  readonly landing: readonly FileChange[]
  readonly notes: readonly Note[]
}

export interface PlanOptions {
  readonly resolutionRequest?: ResolutionRequest | undefined
  /** Ids that earlier units begin in the same turn. */
  readonly begun?: ReadonlySet<string>
  /** Keeps new proposals as drafts; what is already open stays open. */
  readonly hold?: Hold | undefined
  readonly joint?: JointLocation | undefined
}
