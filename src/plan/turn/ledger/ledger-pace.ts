/**
 * The ledger is pushed at once if people wait for it, and at most once a minute for status alone
 * (docs/adr/0056-what-the-ledger-says-about-time.md).
 */
import type { DriftReport } from '../../../record/documents/drift-report.ts'
import { isNothing } from '../../observation/action.ts'
import { addSeconds } from '../../observation/drift-age.ts'
import { isWaiting } from '../../observation/waiting-state.ts'
import type { UnitResult } from '../../unit/unit-result.ts'
import type { ClusterLedgerWrites } from './cluster-writes.ts'

/** Seconds. Many clusters and packages share one push. */
const PACE = 60

export interface LedgerPush {
  readonly units: readonly UnitResult[]
  readonly clusters: readonly ClusterLedgerWrites[]
}

/**
 * Nothing is lost: every turn compares with the ledger.
 * @param pushedAt RFC 3339 UTC: this process's last ledger push; undefined without one, and if it
 * does not wait
 * @param now RFC 3339 UTC
 */
export function waitsForPace(
  { units, clusters }: LedgerPush,
  pushedAt: string | undefined,
  now: string,
): boolean {
  // A clock set back does not hold anything for long.
  if (pushedAt === undefined || now < pushedAt || addSeconds(pushedAt, PACE) <= now) return false
  return units.every(isStatusAlone) && !clusters.some(({ isNews }) => isNews)
}

function isStatusAlone(unit: UnitResult): boolean {
  if (unit.state === 'failed' || isNothing(unit.plan.writes)) return true
  const { writes, report } = unit.plan
  const before = unit.observation.git.ledger.report
  if (
    writes.updates.length > 0 ||
    before === undefined ||
    !writes.ledger.every(({ path }) => STATUS_FILE.test(path))
  )
    return false
  return formatNews(before) === formatNews(report)
}

const STATUS_FILE = /^clusters\/.+\/(?:report|resourcegroup|observation)\.yaml$/

/** What people wait for. States without drift follow each other while a syncer works. */
function formatNews({ spec, status }: DriftReport): string {
  const { state, episode, lifecycle, plan, branch, held, snoozedUntil, stuckSince } = status
  const word = isWaiting(state) ? 'InSync' : state
  return JSON.stringify([
    spec.fingerprint,
    word,
    episode,
    lifecycle,
    plan,
    branch,
    held?.reason,
    snoozedUntil,
    stuckSince,
  ])
}
