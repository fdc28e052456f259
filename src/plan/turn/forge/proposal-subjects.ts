import { LEDGER_BRANCH, shortenBranch } from '@backporch/git-store/ref-name'
import { describeResourceId } from '@backporch/kyaml/resource'
import { compareText, omitUndefined } from '@backporch/kyaml/text'
import type { MassRow, MassSubject } from '../../../proposal/text/mass-text.ts'
import type { ProposalState, ProposalSubject } from '../../../proposal/text/proposal-subject.ts'
import { wantsReport } from '../../../proposal/text/report-text.ts'
import type { DriftRecord } from '../../../record/documents/drift-record.ts'
import { computeJointFingerprint } from '../../../record/joint-fingerprint.ts'
import { formatLedgerUnitFolder, formatPathSegment } from '../../../record/record-paths.ts'
import { restoreLosses } from '../../../record/restore-losses.ts'
import type { Applier } from '../../../status/applier.ts'
import { timeStates } from '../../observation/drift-age.ts'
import type { Unit } from '../../observation/observation.ts'
import type { ProposalContext, TurnView } from '../../observation/turn-view.ts'
import type { AdoptedObject } from '../../unit/adopted-objects.ts'
import { findNotReleasable } from '../../unit/not-adoptable.ts'
import type { PlannedResult, UnitResult } from '../../unit/unit-result.ts'
import type { JointProposal } from '../joint/joint-proposal.ts'

const REPORT = /^clusters\/([^/]+)\/([^/]+)\/report\.yaml$/

/** Undefined if the unit has no record. */
export function buildUnitSubject(
  { view, dialect, version }: ProposalContext,
  unit: PlannedResult,
  units: readonly UnitResult[],
): ProposalSubject | undefined {
  const { plan, observation } = unit
  const { record, branch } = plan
  if (record === undefined) return undefined
  const { plannedBefore } = record.spec
  const { policy, applier, health, verdicts } = observation
  const reapplyFails = verdicts.flatMap(({ id, reapplyFails: why }) =>
    why === undefined
      ? []
      : [{ ref: { group: id.group, kind: id.kind, namespace: id.namespace, name: id.name }, why }],
  )
  return {
    record,
    unit: unit.unit,
    applier,
    health,
    reapplyFails,
    notAdoptable: unit.notAdoptable,
    notReleasable: findNotReleasable(observation),
    alsoIn: listUnitClusters(view, unit.unit, units),
    previousPlan:
      plannedBefore === undefined
        ? undefined
        : { plan: plannedBefore, by: record.spec.plannedBy || undefined },
    base: view.base,
    headBranch: branch,
    dialect,
    hasReport: wantsReport(record),
    policy: {
      name: policy.name,
      mode: policy.mode,
      location: policy.location,
      ...omitUndefined({ problem: policy.lastGood?.problem }),
    },
    closeSilence: policy.closeSilence,
    version,
    ledgerUrl: dialect.branchFileUrl(
      LEDGER_BRANCH,
      `${formatLedgerUnitFolder(unit.unit.cluster, unit.unit.slug)}/report.yaml`,
    ),
    states: listProposalStates(unit),
  }
}

function listProposalStates({
  plan,
  observation,
  adopted = [],
}: Pick<PlannedResult, 'plan' | 'observation' | 'adopted'>): ProposalState[] {
  const { snoozedUntil } = plan.report.status
  const timed = plan.record === undefined ? [] : timeStates(plan.report, plan.record, observation)
  const after = plan.record?.spec.after
  return [
    ...(after === undefined ? [] : [{ kind: 'not-restored', after } as const]),
    ...timed,
    ...(snoozedUntil === undefined ? [] : [{ kind: 'snoozed', until: snoozedUntil } as const]),
    ...listServerStates(adopted),
  ]
}

function listServerStates(adopted: readonly AdoptedObject[]): ProposalState[] {
  return (['refused', 'not-checked'] as const).flatMap((kind) => {
    const own = adopted.flatMap(({ id, answer }) =>
      answer.state === kind ? [{ name: describeResourceId(id), why: answer.why }] : [],
    )
    return own.length === 0
      ? []
      : [{ kind, objects: own.map(({ name }) => name), why: own[0]?.why ?? '' }]
  })
}

export function buildJointSubject(
  { view, dialect, version, notObserved }: ProposalContext,
  joint: JointProposal,
): MassSubject | undefined {
  const [first] = joint.members
  const like = first?.plan.record
  if (first === undefined || like === undefined) return undefined
  const { observation, unit } = first
  const { policy } = observation
  const here = joint.members.flatMap(({ plan }) => (plan.record === undefined ? [] : [plan.record]))
  const rowOf = (record: DriftRecord): MassRow => ({
    cluster: record.spec.unit.cluster,
    slug: unit.slug,
    since: record.spec.began,
    state: notObserved.has(record.spec.unit.cluster) ? 'not observed' : 'drifted',
    plan: record.spec.plan,
    episode: record.spec.episode,
  })
  const records = [...here, ...joint.away]
  const states = joint.members.flatMap(listProposalStates)
  return {
    base: view.base,
    headBranch: shortenBranch(joint.ref),
    dialect,
    hasReport: false,
    policy: {
      name: policy.name,
      mode: policy.mode,
      location: policy.location,
      ...omitUndefined({ problem: policy.lastGood?.problem }),
    },
    closeSilence: policy.closeSilence,
    version,
    ledgerUrl: dialect.branchFileUrl(LEDGER_BRANCH, 'clusters'),
    states: selectOneOfEachKind(states),
    fingerprint: computeJointFingerprint(records),
    episode: joint.ref.slice(joint.ref.lastIndexOf('/drift-') + '/drift-'.length),
    packageName: unit.packageName,
    changes: like.spec.changes,
    plan: like.spec.plan,
    settle: like.spec.settle,
    rows: records.map(rowOf).sort((left, right) => compareText(left.cluster, right.cluster)),
    losses: [...new Set(records.flatMap(restoreLosses))],
    appliers: groupAppliers(joint.members.map((member) => member.observation.applier)),
    notAdoptable: first.notAdoptable,
    notReleasable: findNotReleasable(observation),
  }
}

function selectOneOfEachKind(states: readonly ProposalState[]): readonly ProposalState[] {
  const since = (state: ProposalState): string => ('since' in state ? state.since : '')
  const retained = new Map<ProposalState['kind'], ProposalState>()
  for (const state of states) {
    const before = retained.get(state.kind)
    if (before === undefined || since(state) <= since(before)) retained.set(state.kind, state)
  }
  return [...retained.values()]
}

function groupAppliers(appliers: readonly Applier[]): MassSubject['appliers'] {
  const alike = Map.groupBy(appliers, ({ name, phrases: text }) => JSON.stringify([name, text]))
  return [...alike.values()]
    .flatMap((own) => own.slice(0, 1).map((applier) => ({ applier, clusters: own.length })))
    .sort((left, right) => right.clusters - left.clusters)
}

/**
 * Sorted path segments: a name that is not a plain file name gets a hash suffix.
 * @param units which the ledger may not have yet
 */
function listUnitClusters(
  { ledgerTree }: TurnView,
  { cluster, slug }: Unit,
  units: readonly UnitResult[],
): string[] {
  const known = ledgerTree.flatMap(({ path }) => {
    const [, other, own] = REPORT.exec(path) ?? []
    return other === undefined || own !== slug ? [] : [other]
  })
  const here = units.flatMap((one) =>
    one.state === 'planned' && one.unit.slug === slug ? [formatPathSegment(one.unit.cluster)] : [],
  )
  return [...new Set([...known, ...here])]
    .filter((other) => other !== formatPathSegment(cluster))
    .sort()
}
