/**
 * The ledger's entry about a cluster as a whole after a turn: that it was observed, or since when it cannot be. A turn without news
 * writes it only where the last entry is as old as the policy's `detect.interval`: no commit a minute, and no status that looks older than
 * it is (docs/adr/0026-what-status-knows.md).
 */
import type { FailureCode } from '../../failure.ts'
import { ledgerObservationPath, ledgerUnitFolder } from '../../record/record-paths.ts'
import type { ClusterObservation } from '../../record/schema.ts'
import { unitName } from '../../record/unit-name.ts'
import { formatDocument } from '../../record/write-document.ts'
import { later } from '../limits/drift-age.ts'
import type { LedgerFile, LedgerWrites } from '../turn/action.ts'
import type { PlannedUnit } from '../turn/planned-unit.ts'
import { observationFile } from './ledger-files.ts'
import { isOlder, knownUntil } from './seen-at.ts'
import { reasonOf, type UnobservedUnit, unobservedFiles } from './unobserved.ts'

export interface ClusterTurn {
  readonly cluster: string
  /** RFC 3339 UTC: of the observation, or of the failed attempt. */
  readonly at: string
  /** RFC 3339 UTC: the present. */
  readonly now: string
  /** As the ledger has it. */
  readonly before: ClusterObservation | undefined
  /** Which cluster it is; or why nothing at all could be observed. */
  readonly identity: Omit<ClusterObservation['status'], 'changedAt' | 'seenAt' | 'unobserved'> | FailureCode
  /** Whether the turn observed every package of the cluster. */
  readonly whole: boolean
  readonly planned: readonly PlannedUnit[]
  readonly unobserved: readonly UnobservedUnit[]
  /** Seconds. */
  readonly interval: number
}

/** What a turn writes into the ledger of one cluster as a whole. */
export interface ClusterLedgerWrites extends LedgerWrites {
  readonly cluster: string
}

/** Part of the interval after which the observation of a cluster is written again: turns are not exact to the second. */
const DUE = 0.9

export function clusterWrites(turn: ClusterTurn): LedgerWrites {
  const { cluster, at, now, before, unobserved, planned } = turn
  const lost = unobserved.map((unit) => ({ unit, files: unobservedFiles(unit, before, at, now) })).filter(({ files }) => files.length > 0)
  const lines = lost.map(({ unit: { unit } }) => `${unitName(unit)}: Unknown`)
  const files = lost.flatMap((each) => each.files)
  const path = ledgerObservationPath(cluster)
  const updates = files.length > 0 || planned.some(({ plan }) => plan.writes.ledger.some((file) => file.path === path))
  const { identity } = turn
  const isLost = typeof identity === 'string'
  const status = isLost ? lostStatus(turn, identity, updates) : observedStatus(turn, identity, updates)
  if (status !== undefined) files.push(observationFile(cluster, status))
  if (isLost) return { ledger: files, ledgerLines: status === undefined ? lines : [`cannot be observed (${identity})`, ...lines] }
  const again = turn.whole ? [] : planned.flatMap((unit) => observedAgain(unit, turn))
  const observed = status !== undefined && !updates ? ['seen, with nothing new'] : again.map(({ line }) => line)
  return { ledger: [...files, ...again.map(({ file }) => file)], ledgerLines: [...lines, ...observed] }
}

/** Undefined where nothing is to be written. */
function lostStatus({ at, before }: ClusterTurn, code: FailureCode, updates: boolean): ClusterObservation['status'] | undefined {
  const known = before?.status.unobserved
  if (known !== undefined && !updates) return undefined
  const { version = '', identity = '' } = before?.status ?? {}
  return { ...before?.status, changedAt: at, version, identity, unobserved: { since: known?.since ?? at, ...reasonOf(code) } }
}

/** As `lostStatus`. */
function observedStatus(
  { at, now, before, whole, planned, interval }: ClusterTurn,
  identity: Exclude<ClusterTurn['identity'], string>,
  updates: boolean,
): ClusterObservation['status'] | undefined {
  const known = before?.status
  if (isOlder(at, known?.seenAt ?? '', now)) return undefined
  const due =
    whole && planned.some(({ observation }) => observation.git.ledger.report !== undefined) && isDue(known?.seenAt ?? '', at, interval)
  if (!due && !updates && known?.unobserved === undefined) return undefined
  const seenAt = whole ? at : known?.seenAt
  return { changedAt: updates ? at : (known?.changedAt ?? at), ...identity, ...(seenAt === undefined ? {} : { seenAt }) }
}

function isDue(seenAt: string, at: string, interval: number): boolean {
  return seenAt === '' || later(seenAt, interval * DUE) <= at
}

/** Of a unit that a turn about some packages observed, and that has no news. */
function observedAgain(
  { plan, observation }: PlannedUnit,
  { before, at, now, interval }: ClusterTurn,
): { readonly file: LedgerFile; readonly line: string }[] {
  const { unit, git } = observation
  const { report } = git.ledger
  const path = `${ledgerUnitFolder(unit.cluster, unit.slug)}/report.yaml`
  if (report === undefined || plan.writes.ledger.some((file) => file.path === path)) return []
  const known = knownUntil(report, before?.status)
  if (isOlder(at, known, now) || !isDue(known, at, interval)) return []
  const { at: first, seenAt: _seen, ...observed } = report.spec.observed
  const text = formatDocument({ ...report, spec: { ...report.spec, observed: { at: first, seenAt: at, ...observed } } })
  return [{ file: { path, text }, line: `${unit.packageName}: seen, with nothing new` }]
}
