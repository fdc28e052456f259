/** The input of a proposal's text: values only, so that the same drift gives the same bytes. */
import type { ForgeDialect } from '@backporch/forge/hosted-forge'
import type { ObjectId } from '@backporch/kyaml/files'
import { resourceKey } from '@backporch/kyaml/resource'
import { RISKS } from '../../drift/compare/drift.ts'
import type { Change } from '../../record/documents/change.ts'
import type { DriftRecord, Plan } from '../../record/documents/drift-record.ts'
import type { Applier } from '../../status/applier.ts'
import type { GroupMember } from '../../status/resource-group.ts'

/** One package in one cluster, as src/plan/observation/observation.ts has it. */
interface ProposalUnit {
  readonly cluster: string
  readonly packageName: string
  readonly packagePath: string
  readonly slug: string
  /** Absent for a package of kpt. */
  readonly source?: 'kpt' | 'folder'
  /** The resource of a syncer by which it was found: `Flux Kustomization flux-system/apps`. */
  readonly appliedBy?: string
}

/** A state that the body names. The first three make the proposal a draft. Times are RFC 3339 UTC. */
export type ProposalState =
  | { readonly kind: 'changing' }
  | { readonly kind: 'render-failed'; readonly why: string }
  | { readonly kind: 'storm' }
  | { readonly kind: 'edited' }
  | { readonly kind: 'stale'; readonly since: string }
  /** `after`: seconds until people are mentioned. The proposal is `stale` too. */
  | { readonly kind: 'overdue'; readonly since: string; readonly after: number }
  | { readonly kind: 'snoozed'; readonly until: string }
  /** A proposal about the same drift was merged, and the cluster still differed after the time of the policy. */
  | { readonly kind: 'not-restored'; readonly after: string }
  | { readonly kind: 'not-observed'; readonly since: string }
  /** Of objects with adopted values. */
  | {
      readonly kind: 'not-checked' | 'refused'
      readonly objects: readonly string[]
      readonly why: string
    }

interface DecidingPolicy {
  readonly name: string
  readonly mode: string
  /** `path:line` in the repository; undefined for the shipped default. */
  readonly location: string | undefined
  /** Of the base commit, where its policy cannot be used. */
  readonly problem?: PolicyProblem
}

export interface PolicyProblem {
  /** `.drift/policy.yaml:8`. */
  readonly where: string
  readonly why: string
}

/** Input of every proposal's text, for one cluster or for many. */
export interface ProposalFrame {
  /** Compared commit of the base branch: links to files point to it. */
  readonly base: ObjectId
  /** Short name of the proposal's branch. */
  readonly headBranch: string
  readonly dialect: ForgeDialect
  /** Whether the branch has the full report (`wantsReport`). */
  readonly hasReport: boolean
  readonly policy: DecidingPolicy
  /** Seconds for which a close silences this drift. */
  readonly closeSilence: number
  /** Of Backporch. */
  readonly version: string
  /** Address of the unit's status in the ledger; empty where there is no page. */
  readonly ledgerUrl: string
  readonly states: readonly ProposalState[]
}

export interface ProposalSubject extends ProposalFrame {
  readonly record: DriftRecord
  readonly unit: ProposalUnit
  readonly applier: Applier
  /** Live status of the unit's objects; empty where it is not known. */
  readonly health: readonly GroupMember[]
  /** Objects that a plain apply of git's manifest fails for, with the server's reason. */
  readonly reapplyFails: readonly { readonly ref: Change['ref']; readonly why: string }[]
  /** Reasons by fingerprint of a change. Credentials and undeclared objects need no entry. */
  readonly notAdoptable: ReadonlyMap<string, string>
  /** Reasons by fingerprint of a change. */
  readonly notReleasable: ReadonlyMap<string, string>
  /** Other clusters that run the same package. */
  readonly alsoIn: readonly string[]
  /** The plan before a person chose the present one. */
  readonly previousPlan: { readonly plan: Plan; readonly by: string } | undefined
}

export interface ProposalText {
  readonly title: string
  /** At most `dialect.bodyLimit` UTF-16 code units, where that is 2,500 or more. */
  readonly body: string
  readonly labels: readonly string[]
  readonly draft: boolean
}

/** A change with its number in commands, from 1. */
export interface NumberedChange {
  readonly change: Change
  readonly number: number
}

/** The differences of one object, and the worst of their risks. */
export interface ObjectChanges {
  readonly ref: Change['ref']
  readonly changes: readonly NumberedChange[]
  readonly risk: Change['risk']
}

export function worstRisk(changes: readonly Pick<Change, 'risk'>[]): Change['risk'] {
  return RISKS.find((risk) => changes.some((change) => change.risk === risk)) ?? 'low'
}

/** Numbered as the record has them, riskiest first; equal risks in the order of the record. */
export function rankChanges(changes: readonly Change[]): readonly NumberedChange[] {
  return changes
    .map((change, index) => ({ change, number: index + 1 }))
    .sort((left, right) => RISKS.indexOf(left.change.risk) - RISKS.indexOf(right.change.risk))
}

/** By object, the riskiest first. */
export function rankObjects(changes: readonly Change[]): readonly ObjectChanges[] {
  const ranked = Map.groupBy(rankChanges(changes), ({ change: { ref } }) => resourceKey(ref))
  return [...ranked.values()].flatMap((own) => {
    const [first] = own
    const inOrder = own.toSorted((left, right) => left.number - right.number)
    return first === undefined
      ? []
      : [{ ref: first.change.ref, changes: inOrder, risk: first.change.risk }]
  })
}

/** Why the live value cannot be written to git; undefined where it can. */
export function whyNotAdoptable(
  change: Change,
  reported: ReadonlyMap<string, string>,
): string | undefined {
  if (change.redacted === true) return 'the value is a credential and is never written to git'
  return reported.get(change.fingerprint)
}

/** Whether a merged Restore has no effect: git is unchanged, and nobody applies it. */
export function nobodyApplies({ record, applier }: ProposalSubject): boolean {
  const restores = record.spec.changes.some(({ resolution }) => resolution === 'Restore')
  return restores && record.spec.settle === 'syncer' && applier.restores === 'never'
}
