/** Everything that one turn knows before it decides: reads only, no judgement. */
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
  /** From the root of the repository; empty where the repository itself is the package. */
  readonly packagePath: string
  /** Path, or for the root package its name: what branches and tags are named by. */
  readonly packageName: string
  readonly slug: string
  /** Of what it is made; a package of kpt where it is left out. */
  readonly source?: 'kpt' | 'folder'
  /** The resource of a syncer by which it was found: `Flux Kustomization flux-system/apps`. */
  readonly appliedBy?: string
}

/** A `drafts/` or `proposed/` branch of the unit. */
export interface OpenBranch {
  /** Full ref name. */
  readonly ref: string
  readonly state: 'drafts' | 'proposed'
  readonly workspace: string
  readonly commit: ObjectId
  /** First parent: the base commit that the branch was built on. */
  readonly base: ObjectId
  readonly record: DriftRecord
  /** Whether the ledger has the record as one that we pushed to this branch: only such a one can be declined. */
  readonly recordPushed?: boolean
  /** True when a commit on the branch is not ours: the branch is foreign, and is never pushed to. */
  readonly foreign: boolean
  /** Why, as the beginning of a sentence: `a commit that backporch did not make`. */
  readonly foreignWhy?: string
  /** Whether the ledger has its commit as the last one that we pushed; absent where it has none of the branch. */
  readonly known?: boolean
  /** Whether it has a valid signature of a key of ours; absent where no key was given. */
  readonly signed?: boolean
  /** Ours and out of date: it is recreated whatever its record contains. */
  readonly outdated?: boolean
  /** Its record has the name that earlier versions gave it. */
  readonly hasEarlierName?: true
  /** Who moved it from `drafts/` to `proposed/` or back, as `porchctl rpkg propose` and `reject` do; empty where no commit names the person. */
  readonly movedBy?: string
  /** What it holds, where that was found by comparing and the ledger is to know it. */
  readonly holds?: PushedContent
  /** Records of the same package in other clusters, which this branch is about too: the proposal is a joint one. */
  readonly others: readonly JointRecord[]
}

/** A record of another cluster on a joint proposal. */
export interface JointRecord {
  /** From the root. */
  readonly path: string
  /** Undefined where it cannot be read: it is left as it is. */
  readonly record: DriftRecord | undefined
}

/** An open proposal of the same package that other clusters have, and this unit does not. */
export interface SiblingBranch
  extends Pick<OpenBranch, 'ref' | 'workspace' | 'commit' | 'base' | 'foreign'> {
  readonly records: readonly JointRecord[]
}

/** Where the record of a merged proposal came onto the base branch. */
export interface MergeCommit {
  readonly commit: ObjectId
  /** The commit to tag: below or at the merge commit, with the `kpt:` line of the package in its message. */
  readonly published: ObjectId
  /** Whether it has that line: a person may have written another message for a squash. */
  readonly named: boolean
  /** RFC 3339 UTC: author time of the merge commit. */
  readonly at: string
  /**
   * Who decided according to the message of the merge commit, where `approve` created it; its author otherwise, `Ada <ada@example.com>`; empty
   * where it is our own commit, squashed or rebased.
   */
  readonly by: string
  /** Why what landed is not what we proposed, as a part of a sentence; absent where it is. */
  readonly altered?: string
}

/** A revision of the unit's package that was published from a workspace of ours by somebody else: `porchctl rpkg approve`, or plain git. */
export interface PublishedWorkspace {
  readonly workspace: string
  readonly revision: number
  /** The tagged commit. */
  readonly commit: ObjectId
  /** RFC 3339 UTC: author time of the tagged commit. */
  readonly at: string
  /** Its author, `Ada <ada@example.com>`; empty where that is our own account. */
  readonly by: string
  /** The unit's record that was published. */
  readonly record: DriftRecord
  /** Commit of its branch, where that is left and has nothing that was not published. */
  readonly left?: ObjectId
  /** As that of a merge commit. */
  readonly altered?: string
}

/** A merged decision that git does not have as it was. */
export interface UndoneDecision {
  /** Id of the closed episode. */
  readonly episode: string
  /** `TagMoved`: the tag of its revision is on a commit of somebody else. `AdoptionUndone`: git declares again what it did before. */
  readonly how: 'TagMoved' | 'AdoptionUndone'
  /** The commit that did it, 40 hex digits; empty where it was not found. */
  readonly commit: string
  /** Its author, `Ada <ada@example.com>`; empty where that is our own account, or not known. */
  readonly by: string
}

/** The commit that was merged or closed, of a proposal whose branch is elsewhere now, or gone. */
export interface EndedHead {
  readonly commit: ObjectId
  /** The unit's record on it; undefined where it has none: it came after the decision, which does not cover it. */
  readonly record: DriftRecord | undefined
  /** As that of an open branch. */
  readonly recordPushed?: boolean
  /** Why it cannot be read; undefined where it was. */
  readonly unread?: string | undefined
}

/** A record of the unit that cannot be read: another version wrote it, or a person edited it. */
export interface UnreadableRecord {
  /** `branch`: of an open workspace; `base`: of a decision on the base branch. */
  readonly location: 'branch' | 'base'
  readonly episode: string
  /** `proposed/apps/web/drift-9f2c1a7b`, or the path of the file. */
  readonly where: string
  readonly code: FailureCode
  readonly why: string
}

export interface GitState {
  readonly baseBranch: string
  readonly base: ObjectId
  /** Files of the package at `base`, and their ids: the same ids on two commits mean the same package. */
  readonly files: PackageFiles
  readonly tree: readonly TreeFile[]
  /** `contentHash` of `tree`. */
  readonly treeHash: string
  /** Ids of the package's files at each open branch's base. */
  readonly baseTrees: ReadonlyMap<ObjectId, readonly TreeFile[]>
  /** Object ids of the refs of the remote, by full name. */
  readonly refs: ReadonlyMap<string, ObjectId>
  /** At most one of each state in a healthy repository; more are reported. */
  readonly branches: readonly OpenBranch[]
  readonly siblings: readonly SiblingBranch[]
  /** Records of the unit on the base branch, oldest first. */
  readonly merged: readonly DriftRecord[]
  /** Those of them that have the name of an earlier version: the next proposal moves them. */
  readonly earlierNamed: readonly { readonly path: string; readonly text: string }[]
  readonly unreadable: readonly UnreadableRecord[]
  /** By full ref name. */
  readonly heads: ReadonlyMap<string, EndedHead>
  /** By workspace: of the merged proposals that the ledger does not have as closed yet. */
  readonly mergeCommits: ReadonlyMap<string, MergeCommit>
  /** Revisions that were published since the ledger's report, in their order. */
  readonly published: readonly PublishedWorkspace[]
  /** By id of the closed episode: where merged decisions landed of which the ledger has no commit. */
  readonly decidedCommits: ReadonlyMap<string, ObjectId>
  /** Whether the package has a record in its folder, as Porch publishes it. */
  readonly travellingRecord: boolean
  /** Of which the ledger does not know yet. */
  readonly undone: readonly UndoneDecision[]
  /** Latest published revision number; 0 when there is none. */
  readonly revision: number
  /** Porch object name of that revision, `<repository>.<path with dots>.<workspace>`; empty when there is none. */
  readonly publishedName: string
  /** Ids that are taken by any unit, this one included. */
  readonly episodes: EpisodeIds
  readonly ledger: LedgerState
}

/** Ids of episodes, of all units of the repository. */
export interface EpisodeIds {
  readonly closed: ReadonlySet<string>
  /** Of the branches `drafts/…/drift-<id>` and `proposed/…/drift-<id>`, whosever they are. */
  readonly open: ReadonlySet<string>
  /** Of the branches that were pushed once. */
  readonly pushed: ReadonlySet<string>
}

export interface LedgerState {
  /** Head of the ledger branch; null before the first commit. */
  readonly head: ObjectId | null
  readonly report: DriftReport | undefined
  /** Of the unit, oldest first. */
  readonly closed: readonly ClosedEpisode[]
  /** Present text of the unit's files, by path: a file is written only when its text changes. */
  readonly texts: ReadonlyMap<string, string>
}

export interface Observation {
  readonly unit: Unit
  readonly cluster: ClusterIdentity
  /** RFC 3339 UTC: the present, by which a time in the ledger is one to come. Left out: that of the observation. */
  readonly now?: string
  readonly syncer: SyncerManager | undefined
  /** Who applies the package, and what that does after a merge. */
  readonly applier: Applier
  readonly verdicts: readonly ObjectVerdict[]
  readonly health: readonly GroupMember[]
  /** Objects, by `resourceKey`, with fields that an earlier settle wrote and did not hand over to the syncer. */
  readonly notHandedOver: ReadonlySet<string>
  /** The inventory that the package names. */
  readonly inventory: InventoryRef | undefined
  /** What could not be observed, for people; not empty: absence of drift is not proven. */
  readonly incomplete: readonly Incomplete[]
  /** Whether the package has a pipeline, so that its files are not what runs. */
  readonly pipeline: boolean
  /** Renders an edited package again. */
  readonly functions: FunctionLibrary
  /** The source of another renderer than kpt; undefined where kpt renders it, or its files are applied as they are. */
  readonly built?: BuiltUnit
  /** Manifests of live objects that git does not declare. */
  readonly manifests?: ManifestLibrary
  /** What the server says of objects with adopted values. */
  readonly adoptions?: AdoptionLibrary
  readonly git: GitState
  /** What the forge has of the unit's proposals, by full ref name; empty where git is the forge. */
  readonly proposals: ReadonlyMap<string, KnownProposal>
  readonly policy: EffectivePolicy
  /** What placements allow the package; where this is undefined, only live objects show it. */
  readonly boundary?: Boundary | undefined
  readonly key: RedactionKey
  /** RFC 3339 UTC: a request of this turn pauses reminders until then. */
  readonly snoozeUntil?: string
  /** What could not be read and hides no drift, for people. */
  readonly notes?: readonly Note[]
  /** Name of a cluster, with `*` for any text: a request of this turn takes it out of the joint proposal. */
  readonly exclude?: string
}

/** A resolution for some or all of the open changes. */
export interface Choice {
  readonly resolution: Resolution
  /** Fingerprints of the changes that are meant; undefined means all. */
  readonly changes: ReadonlySet<string> | undefined
  /** Which of several equal locations in git is edited; undefined without a choice. */
  readonly via?: string | undefined
  /** Whether it names no change: one that cannot have the resolution keeps the one that it has. */
  readonly isAll?: boolean
}

/** A person's request. */
export interface ResolutionRequest extends Choice {
  readonly message: string | undefined
  /** Further choices of the same plan: of two about one change the later one counts. */
  readonly more?: readonly Choice[]
  /** Login of the requester; empty where that is not known, undefined where it is not stored. */
  readonly by?: string
}
