/**
 * What a proposal text is about. It consists of values only, so that the same drift gives the same
 * bytes.
 */
import type { ForgeDialect } from '@backporch/forge/hosted-forge'
import type { ObjectId } from '@backporch/kyaml/files'
import { getResourceKey } from '@backporch/kyaml/resource'
import { RISKS } from '../../drift/compare/drift.ts'
import type { Change } from '../../record/documents/change.ts'
import type { DriftRecord, Plan } from '../../record/documents/drift-record.ts'
import type { Applier } from '../../status/applier.ts'
import type { GroupMember } from '../../status/resource-group.ts'

interface ProposalUnit {
  readonly cluster: string
  readonly packageName: string
  readonly packagePath: string
  readonly slug: string
  /** Absent for a kpt package. */
  readonly source?: 'kpt' | 'folder'
  /** The syncer resource, as `Flux Kustomization flux-system/apps`. */
  readonly appliedBy?: string
}

/** The first three make the proposal a draft. Times are RFC 3339 UTC. */
export type ProposalState =
  | { readonly kind: 'changing' }
  | { readonly kind: 'render-failed'; readonly why: string }
  | { readonly kind: 'storm' }
  | { readonly kind: 'edited' }
  | { readonly kind: 'stale'; readonly since: string }
  /** `after`: seconds. Also `stale`. */
  | { readonly kind: 'overdue'; readonly since: string; readonly after: number }
  | { readonly kind: 'snoozed'; readonly until: string }
  /** In the policy's time, although the same drift was merged. */
  | { readonly kind: 'not-restored'; readonly after: string }
  | { readonly kind: 'not-observed'; readonly since: string }
  /** With adopted values. */
  | {
      readonly kind: 'not-checked' | 'refused'
      readonly objects: readonly string[]
      readonly why: string
    }

interface DecidingPolicy {
  readonly name: string
  readonly mode: string
  /** `path:line`; undefined for the shipped default. */
  readonly location: string | undefined
  readonly problem?: PolicyProblem
}

export interface PolicyProblem {
  readonly where: string
  readonly why: string
}

export interface ProposalFrame {
  /** Compared commit; links point to it. */
  readonly base: ObjectId
  readonly headBranch: string
  readonly dialect: ForgeDialect
  readonly hasReport: boolean
  readonly policy: DecidingPolicy
  /** Seconds. */
  readonly closeSilence: number
  readonly version: string
  /** Empty if there is no page. */
  readonly ledgerUrl: string
  readonly states: readonly ProposalState[]
}

export interface ProposalSubject extends ProposalFrame {
  readonly record: DriftRecord
  readonly unit: ProposalUnit
  readonly applier: Applier
  /** Empty if unknown. */
  readonly health: readonly GroupMember[]
  /** A plain apply of git's manifest fails, with the server's reason. */
  readonly reapplyFails: readonly { readonly ref: Change['ref']; readonly why: string }[]
  /** Reasons by fingerprint of a change. Credentials and undeclared objects need no entry. */
  readonly notAdoptable: ReadonlyMap<string, string>
  /** Reasons by fingerprint of a change. */
  readonly notReleasable: ReadonlyMap<string, string>
  readonly alsoIn: readonly string[]
  /** Before a person chose the present one. */
  readonly previousPlan: { readonly plan: Plan; readonly by: string | undefined } | undefined
}

export interface ProposalText {
  readonly title: string
  /** At most `dialect.bodyLimit` UTF-16 code units, if that is 2,500 or more. */
  readonly body: string
  readonly labels: readonly string[]
  readonly draft: boolean
}

/** From 1, as in commands. */
export interface NumberedChange {
  readonly change: Change
  readonly number: number
}

export interface ObjectChanges {
  readonly ref: Change['ref']
  readonly changes: readonly NumberedChange[]
  readonly risk: Change['risk']
}

export function getWorstRisk(changes: readonly Pick<Change, 'risk'>[]): Change['risk'] {
  return RISKS.find((risk) => changes.some((change) => change.risk === risk)) ?? 'low'
}

/** Riskiest first; equal risks in record order. */
export function rankChanges(changes: readonly Change[]): readonly NumberedChange[] {
  return changes
    .map((change, index) => ({ change, number: index + 1 }))
    .sort((left, right) => RISKS.indexOf(left.change.risk) - RISKS.indexOf(right.change.risk))
}

/** Riskiest first. */
export function rankObjects(changes: readonly Change[]): readonly ObjectChanges[] {
  const ranked = Map.groupBy(rankChanges(changes), ({ change: { ref } }) => getResourceKey(ref))
  return [...ranked.values()].flatMap((own) => {
    const [first] = own
    const inOrder = own.toSorted((left, right) => left.number - right.number)
    return first === undefined
      ? []
      : [{ ref: first.change.ref, changes: inOrder, risk: first.change.risk }]
  })
}

/** Undefined if it can be written to git. */
export function explainNotAdoptable(
  change: Change,
  reported: ReadonlyMap<string, string>,
): string | undefined {
  if (change.redacted === true) return 'the value is a credential and is never written to git'
  return reported.get(change.fingerprint)
}

export function hasNoApplier({ record, applier }: ProposalSubject): boolean {
  const restores = record.spec.changes.some(({ resolution }) => resolution === 'Restore')
  return restores && record.spec.settle === 'syncer' && applier.restores === 'never'
}
