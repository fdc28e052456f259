import type { ClusterIdentity } from '@backporch/cluster/cluster'
import type { KnownProposal } from '@backporch/forge/hosted-forge'
import type { TreeFile } from '@backporch/git-store/package-repository'
import type { FunctionLibrary } from '@backporch/kpt/function'
import type { FailureCode } from '@backporch/kyaml/failure'
import type { ObjectId, PackageFiles } from '@backporch/kyaml/files'
import type { Note } from '@backporch/kyaml/note'
import type { RedactionKey } from '@backporch/kyaml/redaction'
import type { InventoryRef } from '@backporch/kyaml/resource'
import type { AdoptionLibrary, ManifestLibrary } from '../../drift/authored/object-manifest.ts'
import type { ObjectVerdict, Resolution, SyncerManager } from '../../drift/compare/drift.ts'
import type { Boundary } from '../../policy/boundary.ts'
import type { EffectivePolicy } from '../../policy/effective-policy.ts'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import type { DriftReport, Incomplete } from '../../record/documents/drift-report.ts'
import type { PushedContent } from '../../record/pushed-branch.ts'
import type { BuiltUnit } from '../../sources/build/built-unit.ts'
import type { Applier } from '../../status/applier.ts'
import type { GroupMember } from '../../status/resource-group.ts'

/** One package in one cluster. */
export interface Unit {
  readonly cluster: string
  /** From the repository root; empty for the root itself. */
  readonly packagePath: string
  /** Path, or for the root package its name. */
  readonly packageName: string
  readonly slug: string
  /** Default: a kpt package. */
  readonly source?: 'kpt' | 'folder'
  /** The syncer resource, as in `Flux Kustomization flux-system/apps`. */
  readonly appliedBy?: string
}

export interface OpenBranch {
  readonly ref: string
  readonly state: 'drafts' | 'proposed'
  readonly workspace: string
  readonly commit: ObjectId
  /** First parent of the branch. */
  readonly base: ObjectId
  readonly record: DriftRecord
  /** By the ledger: only a record that Backporch pushed to this branch can be declined. */
  readonly recordPushed?: boolean
  /** A commit on it is not Backporch's: never pushed to. */
  readonly foreign: boolean
  /** The beginning of a sentence. */
  readonly foreignWhy?: string
  /**
   * Whether the ledger has its commit as the last pushed one; absent if it has none of the branch.
   */
  readonly known?: boolean
  /** By a Backporch key; absent if no key was given. */
  readonly signed?: boolean
  /** Recreated whatever its record contains. */
  readonly outdated?: boolean
  readonly hasEarlierName?: true
  /**
   * From `drafts/` to `proposed/` or back, as `porchctl rpkg propose` and `reject` do; `by` is
   * undefined if no commit names the person.
   */
  readonly moved?: { readonly by: string | undefined }
  readonly holds?: PushedContent
  /** Of the same package in other clusters: a joint proposal. */
  readonly others: readonly JointRecord[]
}

export interface JointRecord {
  readonly path: string
  /** Undefined if unreadable: then left unchanged. */
  readonly record: DriftRecord | undefined
}

export interface SiblingBranch
  extends Pick<OpenBranch, 'ref' | 'workspace' | 'commit' | 'base' | 'foreign'> {
  readonly records: readonly JointRecord[]
}

export interface MergeCommit {
  readonly commit: ObjectId
  /** The commit to tag: the merge commit or one below it, with the package's `kpt:` line. */
  readonly published: ObjectId
  /** A person may have written another squash message. */
  readonly named: boolean
  /** RFC 3339 UTC: author time. */
  readonly at: string
  /**
   * From the message if `approve` created the commit, otherwise its author, `Ada
   * <ada@example.com>`; undefined for a Backporch commit that was squashed or rebased.
   */
  readonly by: string | undefined
  /** Part of a sentence; absent if the merged content equals the proposal. */
  readonly altered?: string
}

/** Published by somebody else from a Backporch workspace: `porchctl rpkg approve`, or plain git. */
export interface PublishedWorkspace {
  readonly workspace: string
  readonly revision: number
  readonly commit: ObjectId
  /** RFC 3339 UTC: author time. */
  readonly at: string
  /** `Ada <ada@example.com>`; undefined for Backporch's account. */
  readonly by: string | undefined
  readonly record: DriftRecord
  /** Commit of its branch, if that still exists and contains nothing unpublished. */
  readonly left?: ObjectId
  readonly altered?: string
}

export interface UndoneDecision {
  readonly episode: string
  /**
   * `TagMoved`: the tag of its revision is on somebody else's commit. `AdoptionUndone`: git
   * declares the earlier content again.
   */
  readonly how: 'TagMoved' | 'AdoptionUndone'
  /** 40 hex digits; undefined if it was not found. */
  readonly commit: string | undefined
  /** Undefined if unknown or Backporch's account. */
  readonly by: string | undefined
}

export interface EndedHead {
  readonly commit: ObjectId
  /** Undefined if the record came after the decision, which does not cover it. */
  readonly record: DriftRecord | undefined
  readonly recordPushed?: boolean
  readonly unread?: string | undefined
}

/** Another version wrote it, or a person edited it. */
export interface UnreadableRecord {
  /** Of an open workspace, or of a decision on the base branch. */
  readonly location: 'branch' | 'base'
  readonly episode: string
  readonly where: string
  readonly code: FailureCode
  readonly why: string
}

export interface GitState {
  readonly baseBranch: string
  readonly base: ObjectId
  /** At `base`. Equal ids on two commits mean the same package. */
  readonly files: PackageFiles
  readonly tree: readonly TreeFile[]
  readonly treeHash: string
  readonly baseTrees: ReadonlyMap<ObjectId, readonly TreeFile[]>
  /** By full name. */
  readonly refs: ReadonlyMap<string, ObjectId>
  /** More than one of each state are reported. */
  readonly branches: readonly OpenBranch[]
  readonly siblings: readonly SiblingBranch[]
  /** On the base branch, oldest first. */
  readonly merged: readonly DriftRecord[]
  /** The next proposal moves them. */
  readonly earlierNamed: readonly { readonly path: string; readonly text: string }[]
  readonly unreadable: readonly UnreadableRecord[]
  /** By full ref name. */
  readonly heads: ReadonlyMap<string, EndedHead>
  /** By workspace, without those that the ledger lists as closed. */
  readonly mergeCommits: ReadonlyMap<string, MergeCommit>
  /** Since the ledger's report, in order. */
  readonly published: readonly PublishedWorkspace[]
  /** By id of the closed episode, where the ledger has no commit. */
  readonly decidedCommits: ReadonlyMap<string, ObjectId>
  /** In the package's folder, as Porch publishes it. */
  readonly travellingRecord: boolean
  /** Without those that the ledger knows. */
  readonly undone: readonly UndoneDecision[]
  /** 0 if there is none. */
  readonly revision: number
  /** `<repository>.<path with dots>.<workspace>`; empty if there is none. */
  readonly publishedName: string
  readonly episodes: EpisodeIds
  readonly ledger: LedgerState
}

export interface EpisodeIds {
  readonly closed: ReadonlySet<string>
  /** Whoever owns the branches. */
  readonly open: ReadonlySet<string>
  readonly pushed: ReadonlySet<string>
}

export interface LedgerState {
  /** Null before the first commit. */
  readonly head: ObjectId | null
  readonly report: DriftReport | undefined
  /** Oldest first. */
  readonly closed: readonly ClosedEpisode[]
  /** By path: a file is written only if its text changes. */
  readonly texts: ReadonlyMap<string, string>
}

export interface Observation {
  readonly unit: Unit
  readonly cluster: ClusterIdentity
  /**
   * RFC 3339 UTC; later times in the ledger are in the future. Default: the time of the
   * observation.
   */
  readonly now?: string
  readonly syncer: SyncerManager | undefined
  readonly applier: Applier
  readonly verdicts: readonly ObjectVerdict[]
  readonly health: readonly GroupMember[]
  /**
   * By `getResourceKey`: objects with fields that an earlier settle wrote and did not hand over to the
   * syncer.
   */
  readonly notHandedOver: ReadonlySet<string>
  readonly inventory: InventoryRef | undefined
  /** If not empty, absence of drift is not proven. */
  readonly incomplete: readonly Incomplete[]
  /** Then its files are not the applied objects. */
  readonly pipeline: boolean
  readonly functions: FunctionLibrary
  /** Undefined if kpt renders it or its files are applied unchanged. */
  readonly built?: BuiltUnit
  readonly manifests?: ManifestLibrary
  readonly adoptions?: AdoptionLibrary
  readonly git: GitState
  /** By full ref name; empty if git is the forge. */
  readonly proposals: ReadonlyMap<string, KnownProposal>
  readonly policy: EffectivePolicy
  /** What placements allow; if undefined, only live objects show it. */
  readonly boundary?: Boundary | undefined
  readonly key: RedactionKey
  /** RFC 3339 UTC: this turn's request pauses reminders until then. */
  readonly snoozeUntil?: string
  /** What could not be read and hides no drift. */
  readonly notes?: readonly Note[]
  /**
   * Cluster name, with `*` for any text, that this turn's request removes from the joint proposal.
   */
  readonly exclude?: string
}

export interface Choice {
  readonly resolution: Resolution
  /** Fingerprints; undefined means all. */
  readonly changes: ReadonlySet<string> | undefined
  /** Which of several equal locations in git is edited. */
  readonly via?: string | undefined
  /** It names no change: a change that cannot have the resolution keeps its own. */
  readonly isAll?: boolean
}

export interface ResolutionRequest extends Choice {
  readonly message: string | undefined
  /** The later of two about one change counts. */
  readonly more?: readonly Choice[]
  /** Login of the requester; empty if unknown, undefined if it is not stored. */
  readonly by?: string
}
