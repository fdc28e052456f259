/**
 * A turn without news writes only if the last entry is as old as the policy's `detect.interval`, so
 * that there is no commit per minute, and no status that looks older than it is
 * (docs/adr/0056-what-the-ledger-says-about-time.md).
 */
import type { FailureCode } from '@backporch/kyaml/failure'
import { omitUndefined } from '@backporch/kyaml/text'
import type {
  ClusterObservation,
  ClusterStatus,
} from '../../../record/documents/cluster-observation.ts'
import {
  formatLedgerObservationPath,
  formatLedgerUnitFolder,
} from '../../../record/record-paths.ts'
import { getUnitName } from '../../../record/unit-name.ts'
import { formatDocument } from '../../../record/write-document.ts'
import type { LedgerFile, LedgerWrites } from '../../observation/action.ts'
import { addSeconds } from '../../observation/drift-age.ts'
import { createObservationFile } from '../../observation/ledger-files.ts'
import type { PlannedUnit } from '../../observation/planned-unit.ts'
import { getKnownUntil, getLastLook, isAhead, isOlder } from '../../observation/seen-at.ts'
import {
  createUnobservedFiles,
  getFailureReason,
  type UnobservedUnit,
} from '../../unit/unobserved.ts'

export interface ClusterTurn {
  readonly cluster: string
  readonly at: string
  /** RFC 3339 UTC. */
  readonly now: string
  readonly before: ClusterObservation | undefined
  readonly identity: Pick<ClusterStatus, 'version' | 'identity' | 'recorded'> | FailureCode
  readonly whole: boolean
  readonly planned: readonly PlannedUnit[]
  readonly unobserved: readonly UnobservedUnit[]
  readonly policy?: ClusterStatus['policy']
  /** Seconds between writes without news. */
  readonly interval: number
}

export interface ClusterLedgerWrites extends LedgerWrites {
  readonly cluster: string
  /** The cluster or a package became unobservable, or observable again. */
  readonly isNews: boolean
}

export function createClusterWrites(turn: ClusterTurn): Omit<ClusterLedgerWrites, 'cluster'> {
  const { cluster, at, now, before, unobserved, planned } = turn
  const lost = unobserved
    .map((unit) => ({ unit, files: createUnobservedFiles(unit, before, at, now) }))
    .filter(({ files }) => files.length > 0)
  const lines = lost.map(({ unit: { unit } }) => `${getUnitName(unit)}: Unknown`)
  const files = lost.flatMap((each) => each.files)
  const path = formatLedgerObservationPath(cluster)
  const updates =
    files.length > 0 ||
    planned.some(({ plan }) => plan.writes.ledger.some((file) => file.path === path))
  const { identity } = turn
  const isLost = typeof identity === 'string'
  const status = isLost
    ? createLostStatus(turn, identity, updates)
    : createObservedStatus(turn, identity, updates)
  const isNews =
    lost.some(({ unit: { report } }) => report?.status.state !== 'Unknown') ||
    (status !== undefined &&
      (status.reachable !== before?.status.reachable || !isSamePolicy(status, before?.status)))
  if (status !== undefined) files.push(createObservationFile(cluster, status, before))
  if (isLost)
    return {
      ledger: files,
      ledgerLines: status === undefined ? lines : [`cannot be observed (${identity})`, ...lines],
      isNews,
    }
  const again = turn.whole ? [] : planned.flatMap((unit) => listRefreshedReports(unit, turn))
  const seen =
    status !== undefined && !updates ? ['seen, with nothing new'] : again.map(({ line }) => line)
  const observed =
    status === undefined || isSamePolicy(status, before?.status) ? seen : [formatPolicyLine(status)]
  return {
    ledger: [...files, ...again.map(({ file }) => file)],
    ledgerLines: [...lines, ...observed],
    isNews,
  }
}

function formatPolicyLine({ policy }: ClusterStatus): string {
  return policy === undefined
    ? 'the policy of the base branch decides again'
    : `the policy cannot be used (${policy.where}): that of ${policy.commit.slice(0, 7)} decides`
}

function createLostStatus(
  { at, now, before }: ClusterTurn,
  code: FailureCode,
  updates: boolean,
): ClusterStatus | undefined {
  const known = before?.status
  if (
    isOlder({ at, now, recorded: false }, getLastLook(known)) ||
    (known?.reachable === false && !updates)
  )
    return undefined
  const { version = '', identity = '', recorded, observedAt, failure, policy } = known ?? {}
  const since = failure === undefined || isAhead(failure.since, now) ? at : failure.since
  return {
    changedAt: at,
    version,
    identity,
    ...omitUndefined({ recorded, observedAt }),
    reachable: false,
    failure: { since, ...getFailureReason(code) },
    ...omitUndefined({ policy }),
  }
}

function createObservedStatus(
  turn: ClusterTurn,
  identity: Exclude<ClusterTurn['identity'], string>,
  updates: boolean,
): ClusterStatus | undefined {
  const { at, now, before, whole, planned, policy } = turn
  const known = before?.status
  if (isOlder({ at, now, recorded: identity.recorded === true }, getLastLook(known)))
    return undefined
  const isKnown =
    known !== undefined ||
    planned.some(({ observation }) => observation.git.ledger.report !== undefined)
  const due = whole && isKnown && isDue(known?.observedAt, turn)
  if (!due && !updates && known?.reachable !== false && isSamePolicy({ policy }, known))
    return undefined
  const observedAt = whole ? at : known?.observedAt
  const changedAt =
    updates || known === undefined || isAhead(known.changedAt, now) ? at : known.changedAt
  return {
    changedAt,
    ...identity,
    ...omitUndefined({ observedAt }),
    reachable: true,
    ...omitUndefined({ policy }),
  }
}

function isSamePolicy(
  left: Pick<ClusterStatus, 'policy'>,
  right: Pick<ClusterStatus, 'policy'> | undefined,
): boolean {
  return JSON.stringify(left.policy) === JSON.stringify(right?.policy)
}

function isDue(known: string | undefined, { at, now, interval }: ClusterTurn): boolean {
  if (known === undefined) return true
  // A recording may itself have a future time.
  if (isAhead(known, now)) return known !== at
  return addSeconds(known, interval) <= at
}

function listRefreshedReports(
  { plan, observation }: PlannedUnit,
  turn: ClusterTurn,
): { readonly file: LedgerFile; readonly line: string }[] {
  const { unit, git, cluster } = observation
  const { before, at, now } = turn
  const { report } = git.ledger
  const path = `${formatLedgerUnitFolder(unit.cluster, unit.slug)}/report.yaml`
  if (report === undefined || plan.writes.ledger.some((file) => file.path === path)) return []
  const known = getKnownUntil(report, before?.status)
  if (isOlder({ at, now, recorded: cluster.recorded }, known) || !isDue(known, turn)) return []
  const { at: first, seenAt: _seen, ...observed } = report.spec.observed
  const text = formatDocument({
    ...report,
    spec: { ...report.spec, observed: { at: first, seenAt: at, ...observed } },
  })
  return [{ file: { path, text }, line: `${unit.packageName}: seen, with nothing new` }]
}
