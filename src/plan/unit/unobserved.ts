/**
 * Records a unit that could not be observed as `Unknown`, with the time and the reason. This is
 * written once, however long it lasts (docs/adr/0026-what-status-knows.md).
 */
import { FAILURE_CODES, type FailureCode } from '@backporch/kyaml/failure'
import { omitUndefined } from '@backporch/kyaml/text'
import { reportName } from '../../record/build-report.ts'
import type { ClusterObservation } from '../../record/documents/cluster-observation.ts'
import { createDocumentHead } from '../../record/documents/document.ts'
import type { DriftReport, Incomplete } from '../../record/documents/drift-report.ts'
import { formatDocument } from '../../record/write-document.ts'
import { markResourceGroupUnobserved } from '../../status/resource-group.ts'
import type { LedgerFile } from '../observation/action.ts'
import { addSeconds } from '../observation/drift-age.ts'
import { readObject } from '../observation/ledger-files.ts'
import { getKnownUntil, isOlder } from '../observation/seen-at.ts'

export interface UnobservedUnit {
  readonly folder: string
  readonly report: DriftReport | undefined
  readonly resourceGroup: string | undefined
  readonly unit: DriftReport['spec']['unit']
  readonly code: FailureCode
}

/** Seconds between written reasons that change from turn to turn. */
const REASON_EVERY = 3_600

/**
 * None if the ledger has the same already, or something newer.
 * @param at RFC 3339 UTC: when the observation failed
 * @param now RFC 3339 UTC
 */
export function createUnobservedFiles(
  lost: UnobservedUnit,
  before: ClusterObservation | undefined,
  at: string,
  now: string,
): readonly LedgerFile[] {
  const { report, folder, code } = lost
  if (
    report !== undefined &&
    isOlder({ at, now, recorded: false }, getKnownUntil(report, before?.status))
  )
    return []
  if (report !== undefined && report.status.state === 'Unknown' && isUnitReason(report)) {
    const [known] = report.status.incomplete ?? []
    if (known?.code === code || addSeconds(before?.status.changedAt ?? '', REASON_EVERY) > at)
      return []
  }
  const next =
    report === undefined ? createFirstReport(lost, at) : createUnknownReport(report, code, at)
  const files: LedgerFile[] = [{ path: `${folder}/report.yaml`, text: formatDocument(next) }]
  const group =
    lost.resourceGroup === undefined ? undefined : readObject(lost.resourceGroup, folder)
  const unknown = group === undefined ? undefined : markResourceGroupUnobserved(group, at)
  return unknown === undefined
    ? files
    : [...files, { path: `${folder}/resourcegroup.yaml`, text: formatDocument(unknown) }]
}

/** In Backporch's words: answers of a cluster or function stay out of the ledger. */
export function getFailureReason(code: FailureCode): {
  readonly code: FailureCode
  readonly why: string
  readonly remedy: string
} {
  return {
    code,
    why: FAILURE_CODES[code],
    remedy: `run backporch scan for details, and backporch explain ${code}`,
  }
}

function isUnitReason({ status: { incomplete = [] } }: DriftReport): boolean {
  return (
    incomplete.length === 1 &&
    incomplete[0]?.ref === undefined &&
    incomplete[0]?.state === 'unreadable'
  )
}

function createUnknownReport(before: DriftReport, code: FailureCode, at: string): DriftReport {
  const {
    state,
    since,
    lastKnown,
    stuckSince: _stuck,
    rollout,
    setAside,
    incomplete: _incomplete,
    health: _health,
    ...rest
  } = before.status
  const known = state === 'Unknown' ? lastKnown : { state, since }
  return {
    ...before,
    status: {
      state: 'Unknown',
      since: state === 'Unknown' ? since : at,
      ...omitUndefined({ lastKnown: known }),
      ...rest,
      health: { status: 'Unknown' },
      ...omitUndefined({ rollout, setAside }),
      incomplete: createIncomplete(code),
    },
  }
}

export function createFirstReport(
  { unit, code }: Pick<UnobservedUnit, 'unit' | 'code'>,
  at: string,
): DriftReport {
  return {
    ...createDocumentHead('DriftReport', reportName(unit)),
    spec: { unit, fingerprint: '', observed: { at: '', syncer: '', objects: 0 }, changes: [] },
    status: {
      state: 'Unknown',
      since: at,
      episode: '',
      lifecycle: '',
      plan: '',
      health: { status: 'Unknown' },
      incomplete: createIncomplete(code),
    },
  }
}

function createIncomplete(code: FailureCode): Incomplete[] {
  return [{ state: 'unreadable', ...getFailureReason(code) }]
}
