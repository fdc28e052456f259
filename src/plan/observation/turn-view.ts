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
  /** By full ref name; empty if it was not read. */
  readonly proposals: ReadonlyMap<string, KnownProposal>
}

export interface ForgeView {
  readonly dialect: ForgeDialect
  /** Of the base branch; empty if there is none. */
  readonly codeOwners: string
  readonly ledger: LedgerContent
  readonly version: string
}

export interface ProposalContext {
  readonly view: TurnView
  readonly dialect: ForgeDialect
  /** Undefined if git alone is the forge. */
  readonly forge: ForgeView | undefined
  readonly version: string
  readonly notObserved: ReadonlySet<string>
  readonly keepTexts: ReadonlySet<number>
}
