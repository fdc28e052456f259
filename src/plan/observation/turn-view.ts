/** The parts of an observed repository and forge that all units of a turn share. */
import type { ForgeDialect, KnownProposal } from '@backporch/forge/hosted-forge'
import type { TreeFile } from '@backporch/git-store/package-repository'
import type { FoundPackage } from '@backporch/kpt/package'
import type { ObjectId } from '@backporch/kyaml/files'
import type { PolicySet } from '../../policy/parse-policy.ts'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'
import type { LedgerContent } from './ledger-after.ts'

export interface TurnView {
  readonly baseBranch: string
  readonly base: ObjectId
  readonly refs: ReadonlyMap<string, ObjectId>
  readonly packages: readonly FoundPackage[]
  readonly policies: PolicySet
  readonly ledgerTree: readonly TreeFile[]
  /** Of every unit, in the order of their outcomes. */
  readonly closed: readonly ClosedEpisode[]
  /** What the forge has of our proposals, by full ref name; empty where it was not read. */
  readonly proposals: ReadonlyMap<string, KnownProposal>
}

/** A forge with pages, as a turn sees it. */
export interface ForgeView {
  readonly dialect: ForgeDialect
  /** CODEOWNERS of the base branch; empty where there is none. */
  readonly codeOwners: string
  /** The ledger before the turn. */
  readonly ledger: LedgerContent
  /** Version of backporch, for the texts of proposals and issues. */
  readonly version: string
}

/** What the texts of the proposals of a turn are made from, beside the units. */
export interface ProposalContext {
  readonly view: TurnView
  readonly dialect: ForgeDialect
  /** Undefined where git alone is the forge. */
  readonly forge: ForgeView | undefined
  readonly version: string
  /** Names of the clusters that could not be observed. */
  readonly notObserved: ReadonlySet<string>
  /** Numbers of the proposals whose text stays as it is. */
  readonly keepTexts: ReadonlySet<number>
}
