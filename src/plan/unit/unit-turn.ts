import { shortenBranch } from '@backporch/git-store/ref-name'
import type { Note } from '@backporch/kyaml/note'
import { showChange } from '../../record/build-report.ts'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import {
  type GitWrites,
  isNothing,
  joinWrites,
  NO_WRITES,
  type PlannedUpdate,
} from '../observation/action.ts'
import { findOtherBase } from '../observation/base-branch.ts'
import { createCannotChangeFailure } from '../observation/cannot-change.ts'
import { createClosedFile } from '../observation/closed-episode.ts'
import { findAdoptWindow } from '../observation/drift-age.ts'
import { findWithheldHold, type Hold } from '../observation/hold.ts'
import type { JointLocation } from '../observation/joint-location.ts'
import { createLedgerFiles, type LedgerFiles } from '../observation/ledger-files.ts'
import type { Observation, OpenBranch, ResolutionRequest } from '../observation/observation.ts'
import type { BranchOutcome, PlanOptions, UnitPlan } from '../observation/unit-plan.ts'
import {
  choosePossibleResolution,
  listAllChanges,
  listApplyingFingerprints,
  type OpenChange,
  type PlannedChange,
  planResolutions,
} from './commands/pick-changes.ts'
import { detectFight } from './fight.ts'
import { type FoundDecisions, findDecisions, getMergedRef } from './found-decisions.ts'
import { convertToNow, createClockNotes, findNewerObservation } from './too-old.ts'
import { createUnitReport } from './unit-documents.ts'
import { markFailedEpisodes, replaceWithNewer, verifyEpisodes } from './verified-episodes.ts'

interface Outcome {
  readonly state: DriftReport['status']['state']
  readonly outcome: BranchOutcome
  readonly branch?: Pick<OpenBranch, 'ref' | 'state' | 'record'> | undefined
  readonly writes?: GitWrites
  readonly notes?: readonly Note[]
}

export class UnitTurn {
  readonly observed: Observation
  readonly resolutionRequest: ResolutionRequest | undefined
  readonly begun: ReadonlySet<string>
  readonly hold: Hold | undefined
  readonly joint: JointLocation | undefined
  readonly open: OpenBranch | undefined
  readonly at: string
  readonly found: FoundDecisions
  private readonly failed: readonly ClosedEpisode[]
  readonly newer: string | undefined
  readonly changes: readonly OpenChange[]

  constructor(
    observation: Observation,
    { resolutionRequest, begun = new Set(), hold, joint }: PlanOptions,
  ) {
    this.resolutionRequest = resolutionRequest
    this.begun = begun
    this.joint = joint
    this.at = observation.cluster.observedAt
    this.changes = listAllChanges(observation.verdicts, observation.key)
    this.newer = findNewerObservation(observation)
    const found = findDecisions(this.newer === undefined ? observation : convertToNow(observation))
    const judgesMerges = findOtherBase(observation) === undefined && this.newer === undefined
    this.failed = judgesMerges ? markFailedEpisodes(observation, found.closed, this.changes) : []
    this.observed = { ...observation, git: { ...observation.git, revision: found.revision } }
    this.found = { ...found, closed: replaceWithNewer(found.closed, this.failed) }
    const { branches } = this.found
    const open =
      branches.find(({ state }) => state === 'proposed') ??
      branches.find(({ state }) => state === 'drafts')
    this.open = open?.foreign ? restoreFromLedger(observation, open) : open
    this.hold =
      hold ??
      findWithheldHold(observation.policy) ??
      (resolutionRequest === undefined && this.found.closed.length > 1
        ? this.findFight()
        : undefined)
  }

  /** Without changes that a merged Restore authorised to revert. */
  listActive(): readonly PlannedChange[] {
    return this.listPlannedFor(this.resolutionRequest)
  }

  listPlannedFor(resolutionRequest: ResolutionRequest | undefined): readonly PlannedChange[] {
    const applying = listApplyingFingerprints(this.found.closed)
    const open =
      applying.size === 0
        ? this.changes
        : this.changes.filter(({ fingerprint }) => !applying.has(fingerprint))
    const { policy, key } = this.observed
    const inAdoptWindow = findAdoptWindow(this.observed)
    const byPolicy = (change: (typeof open)[number]) =>
      choosePossibleResolution(
        change,
        change.drift.releases === true
          ? 'Release'
          : inAdoptWindow(change.drift)
            ? 'Adopt'
            : policy.defaultPlan,
      )
    return planResolutions(open, this.joint?.like ?? this.open?.record, resolutionRequest, {
      byPolicy,
      key,
    })
  }

  private findFight(): Hold | undefined {
    const shown = this.listActive().map((change) =>
      showChange({ ...change, via: undefined }, this.observed.key),
    )
    return detectFight(shown, this.found.closed, this.at)
  }

  withdrawSpare(retained: string): PlannedUpdate[] {
    const spare = this.found.branches.filter(
      ({ ref, foreign, others }) => ref !== retained && !foreign && others.length === 0,
    )
    return spare.map(({ ref, commit }) => ({ ref, from: commit, to: null }))
  }

  /** What the package does not cover is never read: waiting for it would never end. */
  isUnread(): boolean {
    return this.observed.incomplete.some(({ state }) => state !== 'outside')
  }

  keepOpen(
    active: readonly PlannedChange[],
    fingerprint: string,
    outcome: 'foreign' | 'frozen',
    notes: readonly Note[],
  ): UnitPlan {
    if (this.resolutionRequest !== undefined)
      throw createCannotChangeFailure(this.observed, this.open, outcome)
    return this.finishPlan(active, fingerprint, {
      state: 'Drifted',
      outcome,
      branch: this.open,
      notes,
    })
  }

  finishPlan(
    active: readonly PlannedChange[],
    fingerprint: string,
    { state, outcome, branch, writes = NO_WRITES, notes = [] }: Outcome,
  ): UnitPlan {
    const report = createUnitReport(this.observed, active, fingerprint, {
      state,
      branch,
      hold: this.hold,
    })
    // With mode Off nothing is recorded, except that earlier records are out of date.
    const known = this.observed.git.ledger.report?.status.state ?? 'Off'
    const silent = state === 'Off' && known === 'Off'
    const ledger: Pick<LedgerFiles, 'files' | 'line'> = silent
      ? { files: [], line: undefined }
      : createLedgerFiles(this.observed, report)
    const { found } = this
    const settled =
      state === 'Off' ? [] : [...this.failed, ...verifyEpisodes(this.observed, found.closed)]
    const parts = joinWrites([
      found.writes,
      writes,
      retainOurs(found.branches, writes),
      { ...NO_WRITES, ledger: [...settled.map(createClosedFile), ...ledger.files] },
    ])
    const line = ledger.line ?? `${this.observed.unit.packageName}: ${state}`
    const files = new Map(parts.ledger.map((file) => [file.path, file]))
    const joined: GitWrites = {
      ...parts,
      ledger: [...files.values()],
      ledgerLines: isNothing(parts) ? [] : [...found.writes.ledgerLines, line],
    }
    return {
      report,
      outcome,
      branch: branch === undefined ? '' : shortenBranch(branch.ref),
      record: branch?.record,
      writes: joined,
      outcomes: [
        ...found.outcomes,
        ...settled.map((episode) => ({ ref: getMergedRef(this.observed, episode), episode })),
      ],
      openBranches: found.branches,
      landing: found.landing,
      notes: [...found.notes, ...createClockNotes(this.observed), ...notes],
    }
  }
}

/** Nothing on a foreign branch is trusted: its record is the ledger's. */
function restoreFromLedger({ git }: Observation, branch: OpenBranch): OpenBranch {
  const { record, workspace } = branch
  const { report } = git.ledger
  const episode =
    branch.others.length === 0 ? workspace.replace(/^drift-/, '') : record.spec.episode
  const changes = report?.status.episode === episode ? report.spec.changes : []
  return { ...branch, record: { ...record, spec: { ...record.spec, episode, changes } } }
}

function retainOurs(branches: readonly OpenBranch[], { updates }: GitWrites): GitWrites {
  const stays = branches.filter(({ ref }) => updates.every((update) => update.ref !== ref))
  return {
    ...NO_WRITES,
    updates: stays.flatMap(({ ref, commit, holds }) =>
      holds === undefined ? [] : [{ ref, from: commit, to: commit, holds }],
    ),
  }
}
