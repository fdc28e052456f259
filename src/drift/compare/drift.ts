/** What differs between a package in git and the objects in a cluster, and what is known about each difference. */
import type { DesiredResource } from '@backporch/kpt/desired-set'
import type { Failure } from '@backporch/kyaml/failure'
import type { FieldManager, FieldPath } from '@backporch/kyaml/field'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import type { Note } from '@backporch/kyaml/note'
import type { Visibility, VisibilityOf } from '@backporch/kyaml/redaction'
import type { ResourceId } from '@backporch/kyaml/resource'

/** `modified`, `removed`, `added` are of a field; `missing` and `unexpected` of a whole object. */
export type ChangeKind = 'modified' | 'removed' | 'added' | 'missing' | 'unexpected'

export type ActorClass = 'human-tool' | 'controller' | 'gitops' | 'webhook' | 'unknown'

/**
 * `audit`: the audit log has the very request. `audit-time`: the server names this manager as the owner of the field, and the audit log
 * has one user that wrote under this name at its time. `field-manager`: the server names this manager as the owner of the field.
 * `last-writer`: the field is gone, so it has no owner; this is the only other writer of the object. `none`: there is no trace of a writer.
 */
export type Confidence = 'audit' | 'audit-time' | 'field-manager' | 'last-writer' | 'none'

/** Another manager than the syncer and the actor that owns the same field. */
export interface FieldOwner extends FieldManager {
  readonly class: ActorClass
  /** RFC 3339 UTC of the manager's last change to any of its fields of this object; empty if unknown. */
  readonly at: string
}

/** A writer. Its manager is `unknown` with confidence `none`. */
export interface Actor extends Omit<FieldOwner, 'operation'> {
  readonly operation: FieldOwner['operation'] | ''
  readonly confidence: Confidence
  /** As the API server authenticated them; from an audit log alone. */
  readonly user?: string
  /** Whom that user acted as (impersonation). */
  readonly actingAs?: string
  /** The other owners of the field, the latest first; left out where there are none. */
  readonly others?: readonly FieldOwner[]
}

export type Risk = 'critical' | 'high' | 'medium' | 'low'
export const RISKS: readonly Risk[] = ['critical', 'high', 'medium', 'low']

/** The resolutions of design §1. */
export type Resolution = 'Restore' | 'Adopt' | 'Release'

/**
 * One difference. `git` and `live` are the plain values: they stay in the process, and every writer gets them through
 * `show` (src/kyaml/krm/redaction/redacted.ts).
 */
export interface Drift {
  readonly id: ResourceId
  readonly apiVersion: string
  /** uid of the live object; empty for `missing`. */
  readonly uid: string
  readonly change: ChangeKind
  /** Empty for `missing` and `unexpected`. */
  readonly path: FieldPath
  readonly git: Json | undefined
  readonly live: Json | undefined
  /** The rules of policy, schema and neighbouring objects for showing its values; undefined where their path and form decide. */
  readonly visibility?: Visibility | undefined
  readonly forEdit?: EditFacts
  /** The live value exists and was not read (a Secret seen as metadata only). */
  readonly liveUnread: boolean
  /** Whether the syncer's next apply takes the field out of the object once git does not declare it (src/drift/detect/lost-when-released.ts). */
  readonly lostWhenReleased?: boolean
  /** The autoscaler that sets the field, which git declares too: Release ends that. */
  readonly scaler?: ResourceId
  /** Release is the plan without a choice: an autoscaler sets it, or no apply takes it out and nothing shows that a person wrote it. */
  readonly releases?: true
  readonly actor: Actor
  readonly risk: Risk
  /** Where the syncer's field manager took the object back to an older commit than it had. */
  readonly rolledBack?: RolledBack
  /** Code of the rule in src/drift/risk/risk.ts that gave the risk. */
  readonly reason: string
  /** Sentences for people, each a fact about this difference. */
  readonly notes: readonly string[]
}

/** What an edit of git has to know beside the values. */
interface EditFacts {
  /** Of a removed field: the highest map or list above it that live lacks too. */
  readonly absentAbove?: FieldPath
  /** Of an added item of a list: its fields that the server allocated, which git leaves out (src/drift/detect/allocated-fields.ts). */
  readonly allocated?: readonly string[]
}

/** The input that determines the risk of a difference. */
export type RiskSubject = Pick<Drift, 'id' | 'change' | 'path' | 'git' | 'live'>

/** What the syncer applied once is not live any more: an older content is, in the hands of its field manager. */
export interface RolledBack {
  /** The commit that live is of, 40 hex digits; empty for the time before the package was there. */
  readonly commit: string
  /** The newer commit that was live, and its last observation, RFC 3339 UTC; undefined where the syncer reports it itself. */
  readonly seen?: { readonly commit: string; readonly at: string }
}

/**
 * The field manager of the package's syncer (src/syncers/syncer.ts), and the ones under which the same syncer wrote before: a client-side apply that
 * became a server-side one, a Helm release that Helm 4 took over, what a controller's library moved to its own name.
 */
export interface SyncerManager extends FieldManager {
  readonly former?: readonly FieldManager[]
}

/**
 * `Ignored`: by a rule. `Released`: by a merged decision. `Behind`: git moved, and live is what an earlier commit rendered.
 * `SyncFailed`: the same, and the syncer tried and failed.
 * `Reconciling`: the syncer or the server is at work on it. `Suspended`: git moved, and the syncer is suspended.
 */
export type SetAsideState =
  | 'Ignored'
  | 'Released'
  | 'Behind'
  | 'SyncFailed'
  | 'Reconciling'
  | 'Suspended'

/** A difference that is no drift: by which rule, or because git or the syncer is on the way. */
export interface SetAside {
  readonly drift: Drift
  readonly state: SetAsideState
  /** Why, as a sentence; for `Ignored` it names the rule. */
  readonly why: string
  /** Name of the preset rule, or the place of the ignore rule; undefined for the other states. */
  readonly rule?: string
  /** Of what waits for the syncer: the commit that live is of, 40 hex digits. */
  readonly commit?: string
  /** Of what waits for longer than the policy allows, or whose syncer failed: since when, RFC 3339 UTC; empty where unknown. */
  readonly stuckSince?: string
  /** Of the same: what to inspect, and the syncer's present report there. */
  readonly observe?: string
}

/** A preset rule that could have muted a difference and did not: `because` is a clause for people. */
export interface TriedRule {
  readonly path: FieldPath
  readonly change: ChangeKind
  /** `preset:hpa`. */
  readonly rule: string
  readonly because: string
}

export interface ObjectVerdict {
  readonly id: ResourceId
  readonly apiVersion: string
  /** Where git declares it; undefined for an unexpected object. */
  readonly desired: DesiredResource | undefined
  /**
   * `in-sync`: proven, by the means in `proof`; `creation`: git, and what a server makes of it, explain all that is live. `drifted`: at least one item. `unverified`: something could not be
   * proven, see `failure`; items that ownership shows are still listed. `unreadable`: nothing is known. `blocked`: no visible
   * change, and the server refuses what git has, see `failure`. `outside`: the package does not cover it, and nothing of it is stored.
   */
  readonly state: 'in-sync' | 'drifted' | 'unverified' | 'unreadable' | 'blocked' | 'outside'
  readonly proof: 'ownership' | 'creation' | 'dry-run' | 'none'
  readonly items: readonly Drift[]
  /** Items that only the syncer wrote, as far as the object shows: the package's history decides (src/drift/behind/behind.ts). */
  readonly mayBeBehind?: ReadonlySet<Drift>
  readonly setAside: readonly SetAside[]
  /** Preset rules that were tried and did not mute; none is left out that is about the kind and the field. */
  readonly tried?: readonly TriedRule[]
  /** The live object as it was read, where a field of it differs: plain values, like those of the items. */
  readonly live?: JsonObject
  /** The visibility of the object's other values; undefined where their path and form decide. */
  readonly visibilityOf?: VisibilityOf
  /** What people should know of the object though it is no difference: sentences. */
  readonly notes?: readonly Note[]
  /** Why nothing is written to the object whoever approves it: no proof that the package covers it. */
  readonly notSettled?: Failure
  /** Why the object is unreadable, unverified, blocked or outside. */
  readonly failure: Failure | undefined
  /** Why a plain re-apply of the desired object fails, where the server reports that it does. */
  readonly reapplyFails: string | undefined
}
