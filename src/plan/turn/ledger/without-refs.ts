import { shortenBranch } from '@backporch/git-store/ref-name'
import { omitUndefined } from '@backporch/kyaml/text'
import type { DriftReport } from '../../../record/documents/drift-report.ts'
import { NO_WRITES } from '../../observation/action.ts'
import { findOtherBase } from '../../observation/base-branch.ts'
import { createClosedFile } from '../../observation/closed-episode.ts'
import type { Hold } from '../../observation/hold.ts'
import { createLedgerFiles } from '../../observation/ledger-files.ts'
import type { Observation, OpenBranch } from '../../observation/observation.ts'
import type { UnitPlan } from '../../observation/unit-plan.ts'
import { getPlan } from '../../unit/commands/pick-changes.ts'
import { findNewerObservation } from '../../unit/too-old.ts'

const REFUSED: Hold = {
  reason: 'refused',
  why: 'a rule of the repository refuses its branch (BP4002): backporch scan prints what it says',
}

/**
 * A ledger that names a proposal without its branch would tell the next turn that a person deleted
 * it. The next turn finds a decision that moves a ref again, so the ledger must not have it before.
 * @param isRefused the report says that the remote refused them
 */
export function removeRefs(observed: Observation, plan: UnitPlan, isRefused: boolean): UnitPlan {
  const open =
    plan.openBranches.find(({ state }) => state === 'proposed') ??
    plan.openBranches.find(({ state }) => state === 'drafts')
  const named = new Set(plan.writes.updates.map(({ ref }) => ref))
  const outcomes = plan.outcomes.filter(
    ({ ref, episode }) => episode.status.outcome === 'Declined' && !named.has(ref),
  )
  const report = reportWithout(observed, plan, open, isRefused)
  const isRecorded =
    findOtherBase(observed) === undefined && findNewerObservation(observed) === undefined
  const isSilent =
    report.status.state === 'Off' && (observed.git.ledger.report?.status.state ?? 'Off') === 'Off'
  const kept = isRecorded ? outcomes : []
  const { files, line } =
    isRecorded && !isSilent ? createLedgerFiles(observed, report) : { files: [], line: undefined }
  const ledger = [...kept.map(({ episode }) => createClosedFile(episode)), ...files]
  return {
    ...plan,
    report,
    branch: open === undefined ? '' : shortenBranch(open.ref),
    record: open?.record,
    writes: {
      ...NO_WRITES,
      ledger,
      ledgerLines:
        ledger.length === 0 ? [] : [line ?? `${observed.unit.packageName}: ${report.status.state}`],
    },
    outcomes: kept,
    joint: undefined,
  }
}

function reportWithout(
  { git }: Observation,
  plan: UnitPlan,
  open: OpenBranch | undefined,
  isRefused: boolean,
): DriftReport {
  const { spec, status } = plan.report
  const {
    state,
    since,
    lastKnown,
    stuckSince,
    plan: planned,
    held,
    snoozedUntil,
    ...later
  } = status
  const { episode: _episode, lifecycle: _lifecycle, branch: _branch, ...rest } = later
  const episode = open?.record.spec.episode ?? ''
  const branch =
    open === undefined || open.ref.endsWith(`/drift-${episode}`)
      ? undefined
      : shortenBranch(open.ref)
  const recorded = new Map(
    open?.record.spec.changes.map(({ fingerprint, resolution }) => [fingerprint, resolution]),
  )
  const changes = spec.changes.map((change) => ({
    ...change,
    resolution: recorded.get(change.fingerprint) ?? change.resolution,
  }))
  return {
    ...plan.report,
    // A choice from this turn is not in git yet.
    spec: { ...spec, unit: restoreUnitRevision(spec.unit, git.revision), changes },
    // In schema order, as it is read back.
    status: {
      state,
      since,
      ...omitUndefined({ lastKnown, stuckSince }),
      episode,
      lifecycle: open === undefined ? '' : open.state === 'drafts' ? 'Draft' : 'Proposed',
      plan: planned === '' ? '' : getPlan(changes.map(({ resolution }) => resolution)),
      ...omitUndefined({
        branch,
        held: held ?? (isRefused && state === 'Drifted' ? REFUSED : undefined),
      }),
      ...(open?.state === 'proposed' ? omitUndefined({ snoozedUntil }) : {}),
      ...rest,
    },
  }
}

function restoreUnitRevision(
  unit: DriftReport['spec']['unit'],
  revision: number,
): DriftReport['spec']['unit'] {
  if (unit.revision === undefined || unit.revision === `v${revision}`) return unit
  const { revision: _revision, ...rest } = unit
  return revision === 0 ? rest : { ...unit, revision: `v${revision}` }
}

/** The accepted part of a rejected push may name a branch that the server did not create. */
export function removeUnmadeReports(
  reports: ReadonlyMap<string, DriftReport>,
  notMade: ReadonlySet<string>,
): ReadonlyMap<string, DriftReport> {
  if (notMade.size === 0) return reports
  return new Map(
    [...reports].map(([folder, report]) => [
      folder,
      notMade.has(formatProposalRef(report)) ? removeProposal(report) : report,
    ]),
  )
}

function formatProposalRef({
  spec: { unit },
  status: { lifecycle, branch, episode },
}: DriftReport): string {
  const state = lifecycle === 'Draft' ? 'drafts' : 'proposed'
  return `refs/heads/${branch ?? `${state}/${unit.package || unit.name}/drift-${episode}`}`
}

function removeProposal(report: DriftReport): DriftReport {
  const { branch: _branch, ...status } = report.status
  return { ...report, status: { ...status, episode: '', lifecycle: '' } }
}
