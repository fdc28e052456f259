import { shortBranch } from '@backporch/git-store/ref-name'
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
import { otherBase } from '../observation/base-branch.ts'
import { cannotChange } from '../observation/cannot-change.ts'
import { closedFile } from '../observation/closed-episode.ts'
import { adoptWindowOf } from '../observation/drift-age.ts'
import { type Hold, withheldHold } from '../observation/hold.ts'
import type { JointLocation } from '../observation/joint-location.ts'
import { type LedgerFiles, ledgerFilesOf } from '../observation/ledger-files.ts'
import type { Observation, OpenBranch, ResolutionRequest } from '../observation/observation.ts'
import type { BranchOutcome, PlanOptions, UnitPlan } from '../observation/unit-plan.ts'
import {
  allChanges,
  applyingFingerprints,
  type OpenChange,
  type PlannedChange,
  planResolutions,
  possibleResolution,
} from './commands/pick-changes.ts'
import { fightOver } from './fight.ts'
import { type FoundDecisions, findDecisions, mergedRef } from './found-decisions.ts'
import { asOfNow, clockNotes, newerThan } from './too-old.ts'
import { unitReport } from './unit-documents.ts'
import { failedEpisodes, verifiedEpisodes, withNewer } from './verified-episodes.ts'

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
    this.changes = allChanges(observation.verdicts, observation.key)
    this.newer = newerThan(observation)
    const found = findDecisions(this.newer === undefined ? observation : asOfNow(observation))
    const judgesMerges = otherBase(observation) === undefined && this.newer === undefined
    this.failed = judgesMerges ? failedEpisodes(observation, found.closed, this.changes) : []
    this.observed = { ...observation, git: { ...observation.git, revision: found.revision } }
    this.found = { ...found, closed: withNewer(found.closed, this.failed) }
    const { branches } = this.found
    const open =
      branches.find(({ state }) => state === 'proposed') ??
      branches.find(({ state }) => state === 'drafts')
    this.open = open?.foreign ? asInLedger(observation, open) : open
    this.hold =
      hold ??
      withheldHold(observation.policy) ??
      (resolutionRequest === undefined && this.found.closed.length > 1 ? this.fight() : undefined)
  }

  /** Without changes that a merged Restore authorised to revert. */
  active(): readonly PlannedChange[] {
    return this.plannedFor(this.resolutionRequest)
  }

  plannedFor(resolutionRequest: ResolutionRequest | undefined): readonly PlannedChange[] {
    const applying = applyingFingerprints(this.found.closed)
    const open =
      applying.size === 0
        ? this.changes
        : this.changes.filter(({ fingerprint }) => !applying.has(fingerprint))
    const { policy, key } = this.observed
    const inAdoptWindow = adoptWindowOf(this.observed)
    const byPolicy = (change: (typeof open)[number]) =>
      possibleResolution(
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

  private fight(): Hold | undefined {
    const shown = this.active().map((change) =>
      showChange({ ...change, via: undefined }, this.observed.key),
    )
    return fightOver(shown, this.found.closed, this.at)
  }

  withdrawn(retained: string): PlannedUpdate[] {
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
    if (this.resolutionRequest !== undefined) throw cannotChange(this.observed, this.open, outcome)
    return this.done(active, fingerprint, { state: 'Drifted', outcome, branch: this.open, notes })
  }

  done(
    active: readonly PlannedChange[],
    fingerprint: string,
    { state, outcome, branch, writes = NO_WRITES, notes = [] }: Outcome,
  ): UnitPlan {
    const report = unitReport(this.observed, active, fingerprint, {
      state,
      branch,
      hold: this.hold,
    })
    // With mode Off nothing is recorded, except that earlier records are out of date.
    const known = this.observed.git.ledger.report?.status.state ?? 'Off'
    const silent = state === 'Off' && known === 'Off'
    const ledger: Pick<LedgerFiles, 'files' | 'line'> = silent
      ? { files: [], line: undefined }
      : ledgerFilesOf(this.observed, report)
    const { found } = this
    const settled =
      state === 'Off' ? [] : [...this.failed, ...verifiedEpisodes(this.observed, found.closed)]
    const parts = joinWrites([
      found.writes,
      writes,
      foundOurs(found.branches, writes),
      { ...NO_WRITES, ledger: [...settled.map(closedFile), ...ledger.files] },
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
      branch: branch === undefined ? '' : shortBranch(branch.ref),
      record: branch?.record,
      writes: joined,
      outcomes: [
        ...found.outcomes,
        ...settled.map((episode) => ({ ref: mergedRef(this.observed, episode), episode })),
      ],
      openBranches: found.branches,
      landing: found.landing,
      notes: [...found.notes, ...clockNotes(this.observed), ...notes],
    }
  }
}

/** Nothing on a foreign branch is trusted: its record is the ledger's. */
function asInLedger({ git }: Observation, branch: OpenBranch): OpenBranch {
  const { record, workspace } = branch
  const { report } = git.ledger
  const episode =
    branch.others.length === 0 ? workspace.replace(/^drift-/, '') : record.spec.episode
  const changes = report?.status.episode === episode ? report.spec.changes : []
  return { ...branch, record: { ...record, spec: { ...record.spec, episode, changes } } }
}

function foundOurs(branches: readonly OpenBranch[], { updates }: GitWrites): GitWrites {
  const stays = branches.filter(({ ref }) => updates.every((update) => update.ref !== ref))
  return {
    ...NO_WRITES,
    updates: stays.flatMap(({ ref, commit, holds }) =>
      holds === undefined ? [] : [{ ref, from: commit, to: commit, holds }],
    ),
  }
}
