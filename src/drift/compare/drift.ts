import type { DesiredResource } from '@backporch/kpt/desired-set'
import type { Failure } from '@backporch/kyaml/failure'
import type { FieldManager, FieldPath } from '@backporch/kyaml/field'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import type { Note } from '@backporch/kyaml/note'
import type { Visibility, VisibilityOf } from '@backporch/kyaml/redaction'
import type { ResourceId } from '@backporch/kyaml/resource'

/** `missing` and `unexpected` apply to a whole object. */
export type ChangeKind = 'modified' | 'removed' | 'added' | 'missing' | 'unexpected'

export type ActorClass = 'human-tool' | 'controller' | 'gitops' | 'webhook' | 'unknown'

/**
 * `audit`: the audit log has the exact request. `audit-time`: the manager owns the field, and one
 * user wrote under its name at its time. `field-manager`: the manager owns the field.
 * `last-writer`: the field is gone and has no owner; this is the object's only other writer.
 */
export type Confidence = 'audit' | 'audit-time' | 'field-manager' | 'last-writer' | 'none'

export interface FieldOwner extends FieldManager {
  readonly class: ActorClass
  /** RFC 3339 UTC of its last change to any field of this object; undefined if unknown. */
  readonly at: string | undefined
}

/** The manager is `unknown` with confidence `none`. */
export interface Actor extends Omit<FieldOwner, 'operation'> {
  readonly operation: FieldOwner['operation'] | undefined
  readonly confidence: Confidence
  readonly user?: string
  readonly actingAs?: string
  readonly others?: readonly FieldOwner[]
}

export type Risk = 'critical' | 'high' | 'medium' | 'low'
export const RISKS: readonly Risk[] = ['critical', 'high', 'medium', 'low']

export type Resolution = 'Restore' | 'Adopt' | 'Release'

/**
 * `git` and `live` are plain values: they stay in the process, and every output gets them through
 * `show` (src/kyaml/krm/redaction/redacted.ts).
 */
export interface Drift {
  readonly id: ResourceId
  readonly apiVersion: string
  /** Undefined for `missing`. */
  readonly uid: string | undefined
  readonly change: ChangeKind
  /** Empty for `missing` and `unexpected`. */
  readonly path: FieldPath
  readonly git: Json | undefined
  readonly live: Json | undefined
  readonly visibility?: Visibility | undefined
  readonly forEdit?: EditFacts
  /** The live value exists (a Secret seen as metadata only). */
  readonly liveUnread: boolean
  /**
   * The syncer's next apply removes the field once git drops it
   * (`isLostWhenReleased` of src/drift/detect/object-comparison.ts).
   */
  readonly lostWhenReleased?: boolean
  /** It sets a field that git also declares: Release ends that. */
  readonly scaler?: ResourceId
  /**
   * Release is the plan without a choice: an autoscaler sets it, or no apply removes it and nothing
   * shows that a person wrote it.
   */
  readonly releases?: true
  readonly actor: Actor
  readonly risk: Risk
  readonly rolledBack?: RolledBack
  /** A rule of src/drift/risk/risk.ts. */
  readonly reason: string
  readonly notes: readonly string[]
}

interface EditFacts {
  /** For a removed field: the highest parent that live also lacks. */
  readonly absentAbove?: FieldPath
  /**
   * Server-allocated fields of an added list item, which git omits
   * (src/drift/detect/allocated-fields.ts).
   */
  readonly allocated?: readonly string[]
}

export type RiskSubject = Pick<Drift, 'id' | 'change' | 'path' | 'git' | 'live'>

export interface RolledBack {
  /** 40 hex digits; empty for the time before the package. */
  readonly commit: string
  /**
   * The newer commit that was live; undefined if the syncer reports the rollback itself. RFC 3339
   * UTC.
   */
  readonly seen?: { readonly commit: string; readonly at: string }
}

/**
 * With former names: a client-side apply that became server-side, a release that Helm 4 took over,
 * fields that a controller's library moved to its own name.
 */
export interface SyncerManager extends FieldManager {
  readonly former?: readonly FieldManager[]
}

/**
 * `Released`: by a merged decision. `Behind`: live is what an earlier commit rendered.
 * `SyncFailed`: the same, and the syncer failed. `Reconciling`: the syncer or the server is
 * working. `Suspended`: git moved, and the syncer is suspended.
 */
export type SetAsideState =
  | 'Ignored'
  | 'Released'
  | 'Behind'
  | 'SyncFailed'
  | 'Reconciling'
  | 'Suspended'

/** By a rule, or because git or the syncer is in progress. */
export interface SetAside {
  readonly drift: Drift
  readonly state: SetAsideState
  readonly why: string
  readonly rule?: string
  /** If it waits for the syncer: the commit of the live content. */
  readonly commit?: string
  /** If it waits too long, or its syncer failed: RFC 3339 UTC; empty if unknown. */
  readonly stuckSince?: string
  /** For the same case: what to inspect, and the syncer's report there. */
  readonly observe?: string
}

/** It did not mute; `because` is a clause. */
export interface TriedRule {
  readonly path: FieldPath
  readonly change: ChangeKind
  readonly rule: string
  readonly because: string
}

export interface ObjectVerdict {
  readonly id: ResourceId
  readonly apiVersion: string
  readonly desired: DesiredResource | undefined
  /**
   * `in-sync`: proven by `proof`; `creation`: git and the server's additions explain everything
   * live. `unverified`: not proven, see `failure`; items that ownership shows are listed.
   * `unreadable`: nothing is known. `blocked`: no visible change, and the server refuses what git
   * has, see `failure`. `outside`: the package does not cover it, and nothing of it is stored.
   */
  readonly state: 'in-sync' | 'drifted' | 'unverified' | 'unreadable' | 'blocked' | 'outside'
  readonly proof: 'ownership' | 'creation' | 'dry-run' | 'none'
  readonly items: readonly Drift[]
  /**
   * As far as the object shows, only the syncer wrote them: the history decides
   * (src/drift/behind/behind.ts).
   */
  readonly mayBeBehind?: ReadonlySet<Drift>
  readonly setAside: readonly SetAside[]
  readonly tried?: readonly TriedRule[]
  readonly live?: JsonObject
  readonly visibilityOf?: VisibilityOf
  readonly notes?: readonly Note[]
  /** Nothing is written, even after an approval: no proof that the package covers the object. */
  readonly notSettled?: Failure
  readonly failure: Failure | undefined
  /** Only if the server reports it. */
  readonly reapplyFails: string | undefined
}
