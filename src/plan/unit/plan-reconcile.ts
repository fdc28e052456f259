/** One turn for one unit: from what was observed to what is written. Pure, synchronous, decides everything. */
import { formatWorkspaceBranch, shortBranch } from '@backporch/git-store/ref-name'
import { Failure, orFailure } from '@backporch/kyaml/failure'
import type { Note } from '@backporch/kyaml/note'
import { houseMessage } from '../../policy/house-rules.ts'
import type { ProposalFiles } from '../../proposal/build-proposal.ts'
import { showChange } from '../../record/build-report.ts'
import { formatProposalMessage } from '../../record/commit-message.ts'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import {
  type GitWrites,
  isNothing,
  joinWrites,
  NO_WRITES,
  type PlannedUpdate,
} from '../observation/action.ts'
import { assertOwnBase, otherBase } from '../observation/base-branch.ts'
import { leftAlone, withdrawnNote, withheldNotes } from '../observation/branch-notes.ts'
import { cannotChange } from '../observation/cannot-change.ts'
import { closedEpisodeOf, closedFile, secondsSince1970 } from '../observation/closed-episode.ts'
import { adoptWindowOf } from '../observation/drift-age.ts'
import { type Hold, isWithheld, withheldHold } from '../observation/hold.ts'
import type { JointLocation } from '../observation/joint-location.ts'
import { type LedgerFiles, ledgerFilesOf } from '../observation/ledger-files.ts'
import type { Observation, OpenBranch, ResolutionRequest } from '../observation/observation.ts'
import { isOutdated, sameTree, whyUntouched } from '../observation/unit-git.ts'
import type { BranchOutcome, PlanOptions, UnitPlan } from '../observation/unit-plan.ts'
import { waitingState } from '../observation/waiting-state.ts'
import { asInLedger, foundOurs } from '../observation/whose-branch.ts'
import { assertUndecided, nothingToDecide } from './already-decided.ts'
import {
  allChanges,
  applyingFingerprints,
  choiceFor,
  type OpenChange,
  type PlannedChange,
  planResolutions,
  possibleResolution,
  silencedUntil,
} from './commands/pick-changes.ts'
import { newEpisodeId, nextEpisodeId } from './episode-ids.ts'
import { fightOver } from './fight.ts'
import { type FoundDecisions, findDecisions, mergedRef } from './found-decisions.ts'
import { asRestore, possiblePlan } from './possible-plan.ts'
import { builtFiles, proposalFiles } from './proposal-files.ts'
import { asOfNow, clockNotes, newerThan, tooOld, tooOldNote, withoutEnded } from './too-old.ts'
import { isEqualText, unitFingerprint, unitRecord, unitReport } from './unit-documents.ts'
import { failedBefore, failedEpisodes, verifiedEpisodes, withNewer } from './verified-episodes.ts'

/**
 * @throws Failure BP2001, BP2002, BP2007, BP2010 or BP2014 when a resolution request cannot be fulfilled, BP2008 when nothing is open for it,
 * BP2012 when it is about a unit of another base branch, BP2016 when the ledger knows something newer
 */
export function planReconcile(observation: Observation, options: PlanOptions = {}): UnitPlan {
  return new Turn(observation, options).plan()
}

/** What the branch of an open proposal changes against its base, as this turn would write it: the record names the decisions. */
export function filesOfProposal(
  observation: Observation,
  proposal: OpenBranch,
): ProposalFiles['changes'] {
  return new Turn(observation, {}).filesOf(proposal)
}

/** What comes of the unit in this turn. */
interface Outcome {
  readonly state: DriftReport['status']['state']
  readonly outcome: BranchOutcome
  /** Where the record is after it; undefined where there is none. */
  readonly branch?: Pick<OpenBranch, 'ref' | 'state' | 'record'> | undefined
  readonly writes?: GitWrites
  readonly notes?: readonly Note[]
}

/** One for all, so that its text is recognised again. */
const NOTHING_OPEN: readonly PlannedChange[] = []
const NO_FILES: ProposalFiles = { changes: [], notes: [] }

class Turn {
  private readonly observed: Observation
  private readonly resolutionRequest: ResolutionRequest | undefined
  private readonly begun: ReadonlySet<string>
  private readonly hold: Hold | undefined
  private readonly joint: JointLocation | undefined
  private readonly open: OpenBranch | undefined
  private readonly at: string
  private readonly found: FoundDecisions
  private readonly failed: readonly ClosedEpisode[]
  /** The later observation that the ledger has; undefined where it has none. */
  private readonly newer: string | undefined
  private readonly changes: readonly OpenChange[]

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
    // The report names what is published in this very turn.
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

  plan(): UnitPlan {
    assertUndecided(this.observed, this.resolutionRequest, this.changes, this.found.closed)
    const active = this.active()
    if (otherBase(this.observed) !== undefined) return this.readOnly(active, [])
    if (this.newer !== undefined) {
      if (this.resolutionRequest !== undefined) throw tooOld(this.observed, this.newer)
      return this.decisionsOnly(this.readOnly(active, [tooOldNote(this.observed, this.newer)]))
    }
    if (active.length === 0) return this.withoutDrift(this.changes.length)
    const fingerprint = unitFingerprint(this.observed, active)
    if (this.open?.foreign)
      return this.keepOpen(active, fingerprint, 'foreign', [
        leftAlone(
          `${shortBranch(this.open.ref)}: ${this.open.foreignWhy ?? 'it has a commit that is not ours'}`,
        ),
      ])
    const why =
      this.resolutionRequest === undefined && this.open !== undefined
        ? whyUntouched(this.observed, this.open)
        : ''
    if (why !== '') return this.keepOpen(active, fingerprint, 'frozen', [leftAlone(why)])
    // It may be the proposal about this very drift, or the decision about it: a second one would contradict it.
    if (this.open === undefined && this.observed.git.unreadable.length > 0)
      return this.keepOpen(active, fingerprint, 'frozen', [])
    if (this.isFrozen(active))
      return this.keepOpen(active, fingerprint, 'frozen', [
        leftAlone('not everything could be observed, and the open record stays'),
      ])
    if (this.resolutionRequest === undefined && this.observed.policy.mode === 'Off')
      return this.done(active, fingerprint, { state: 'Off', outcome: 'none' })
    const until = silencedUntil(this.found.closed, fingerprint, this.at)
    if (this.resolutionRequest === undefined && this.open === undefined && until !== undefined) {
      return this.done(active, fingerprint, {
        state: 'Silenced',
        outcome: 'silenced',
        notes: [{ cause: 'silenced', subject: '', text: `rejected before: silent until ${until}` }],
      })
    }
    // A branch has values in its files.
    if (isWithheld(this.observed.policy))
      return this.keepOpen(active, fingerprint, 'frozen', withheldNotes(this.observed, this.open))
    return this.record(active, fingerprint)
  }

  /**
   * For `diff` with another branch: what differs from it, and nothing of what the unit's own branch has open or decided. And for an
   * observation that is older than what is known.
   */
  private readOnly(active: readonly PlannedChange[], notes: readonly Note[]): UnitPlan {
    if (this.resolutionRequest !== undefined) assertOwnBase(this.observed)
    const clean =
      this.observed.incomplete.length === 0 ? waitingState(this.observed.verdicts) : 'Unknown'
    const fingerprint = active.length === 0 ? '' : unitFingerprint(this.observed, active)
    const report = unitReport(this.observed, active, fingerprint, {
      state: active.length === 0 ? clean : 'Drifted',
      branch: undefined,
    })
    return {
      report,
      outcome: 'none',
      branch: '',
      record: undefined,
      writes: NO_WRITES,
      outcomes: [],
      openBranches: [],
      landing: [],
      notes: [...this.found.notes, ...notes],
    }
  }

  /** What people decided is written, whenever the cluster was observed. The ledger's report keeps what it has of the cluster. */
  private decisionsOnly(plan: UnitPlan): UnitPlan {
    const { writes, outcomes, landing } = this.found
    const ended = withoutEnded(this.observed, outcomes)
    return {
      ...plan,
      writes: { ...writes, ledger: [...writes.ledger, ...ended] },
      outcomes,
      landing,
    }
  }

  filesOf({ record }: OpenBranch): ProposalFiles['changes'] {
    return builtFiles(this.observed, this.active(), record).changes
  }

  /** What is open for a decision: a change that a merged Restore authorised to go back is decided. */
  private active(): readonly PlannedChange[] {
    return this.plannedFor(this.resolutionRequest)
  }

  private plannedFor(resolutionRequest: ResolutionRequest | undefined): readonly PlannedChange[] {
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

  /** Nothing is open: live agrees with git, or will once a merged decision is applied, or this is unknown. */
  private withoutDrift(applying: number): UnitPlan {
    if (this.resolutionRequest !== undefined) throw nothingToDecide(this.observed, applying)
    const state =
      applying > 0
        ? 'Applying'
        : this.observed.incomplete.length === 0
          ? waitingState(this.observed.verdicts)
          : 'Unknown'
    if (this.isUnread())
      return this.done(NOTHING_OPEN, '', {
        state,
        outcome: this.open === undefined ? 'none' : 'frozen',
        branch: this.open,
      })
    if (this.open?.foreign)
      return this.done(NOTHING_OPEN, '', {
        state,
        outcome: 'foreign',
        branch: this.open,
        notes: [leftAlone(`${shortBranch(this.open.ref)} is somebody else's now`)],
      })
    if (this.open === undefined)
      return this.done(NOTHING_OPEN, '', { state, outcome: applying > 0 ? 'applying' : 'none' })
    const resolvedByGit = !sameTree(
      this.observed.git.tree,
      this.observed.git.baseTrees.get(this.open.base),
    )
    const outcome = resolvedByGit ? 'ResolvedByGit' : 'Healed'
    const closed = closedEpisodeOf(this.open.record, { outcome, decidedBy: '', at: this.at })
    const writes: GitWrites = {
      ...NO_WRITES,
      updates: this.withdrawn(''),
      ledger: [closedFile(closed)],
    }
    const plan = this.done(NOTHING_OPEN, '', {
      state,
      outcome: 'healed',
      writes,
      notes: [withdrawnNote(this.observed, this.open, resolvedByGit)],
    })
    return { ...plan, outcomes: [...plan.outcomes, { ref: this.open.ref, episode: closed }] }
  }

  /** Takes every branch of the unit away but one, and those that are not the unit's alone. */
  private withdrawn(retained: string): PlannedUpdate[] {
    const spare = this.found.branches.filter(
      ({ ref, foreign, others }) => ref !== retained && !foreign && others.length === 0,
    )
    return spare.map(({ ref, commit }) => ({ ref, from: commit, to: null }))
  }

  /** What the package does not cover is never read: waiting for it would be waiting for ever. */
  private isUnread(): boolean {
    return this.observed.incomplete.some(({ state }) => state !== 'outside')
  }

  /** With unreadable objects drift cannot be distinguished from an outage, so an open record is neither shrunk nor closed. */
  private isFrozen(active: readonly PlannedChange[]): boolean {
    if (!this.isUnread() || this.open === undefined) return false
    const now = new Set(active.map(({ fingerprint }) => fingerprint))
    return this.open.record.spec.changes.some(({ fingerprint }) => !now.has(fingerprint))
  }

  private record(
    active: readonly PlannedChange[],
    fingerprint: string,
    episode = this.episode(fingerprint),
  ): UnitPlan {
    const { observed, open } = this
    const wanted =
      this.resolutionRequest !== undefined ||
      this.joint !== undefined ||
      (observed.policy.mode === 'Propose' && this.hold === undefined)
    const state = wanted || open?.state === 'proposed' ? 'proposed' : 'drafts'
    const began = open?.record.spec.began ?? this.at
    const record = unitRecord(observed, active, fingerprint, {
      episode,
      began,
      lifecycle: state === 'drafts' ? 'Draft' : 'Proposed',
      previous: open?.record.spec,
      resolutionRequest: this.resolutionRequest,
      after: failedBefore(this.found.closed, active),
      excludes: this.joint?.like.spec.excludes ?? [],
    })
    if (this.joint !== undefined) return this.recordJointly(active, fingerprint, record, this.joint)
    const branch = formatWorkspaceBranch({
      state,
      packagePath: observed.unit.packageName,
      workspace: record.metadata.name,
    })
    const ref = `refs/heads/${branch}`
    const spare = this.withdrawn(ref)
    if (
      open?.ref === ref &&
      !isOutdated(open, observed) &&
      spare.length === 0 &&
      isEqualText(observed, open, record)
    ) {
      return this.done(active, fingerprint, {
        state: 'Drifted',
        outcome: 'unchanged',
        branch: open,
      })
    }
    if (observed.policy.approval === 'porch' && episode === open?.record.spec.episode)
      return this.record(
        active,
        fingerprint,
        nextEpisodeId(episode, observed, this.found.closed, this.begun),
      )
    const previous = this.found.branches.find((other) => other.ref === ref)
    // A branch of this name without our record is foreign: a request for a new one would fail every push of the turn.
    if (previous === undefined && observed.git.refs.has(ref)) {
      if (this.resolutionRequest !== undefined) throw cannotChange(observed, { ref }, 'foreign')
      return this.done(active, fingerprint, {
        state: 'Drifted',
        outcome: 'foreign',
        notes: [leftAlone(`${branch} has no record of ours`)],
      })
    }
    const files = orFailure(() => proposalFiles(observed, active, record))
    if (files instanceof Failure) return this.withoutFiles(active, fingerprint, record, files)
    const updates: PlannedUpdate[] = [
      { ref, from: previous?.commit ?? null, to: { commit: branch } },
      ...spare,
    ]
    const subject = {
      record,
      slug: observed.unit.slug,
      packageName: observed.unit.packageName,
      sourceRevision: observed.git.publishedName,
    }
    const commit = {
      name: branch,
      parents: [observed.git.base],
      base: observed.git.base,
      changes: files.changes,
      // Most units of a joint proposal make none of their own.
      get message() {
        return houseMessage(
          formatProposalMessage(subject, state === 'drafts' ? 'Draft' : 'Proposed'),
          observed.policy.house.commit,
        )
      },
      signOff: observed.policy.house.commit.signOff,
      at: secondsSince1970(this.at),
    }
    const outcome = open === undefined ? 'created' : 'updated'
    return this.done(active, fingerprint, {
      state: 'Drifted',
      outcome,
      branch: { ref, state, record },
      writes: { ...NO_WRITES, commits: [commit], updates },
      notes: files.notes,
    })
  }

  /** Of the open record; a unit that leaves a joint proposal whose branch has its name begins a new one. */
  private episode(fingerprint: string): string {
    const { open, joint } = this
    // A joint proposal may go on under the name of a unit that left it; and a forged and closed one may still be there.
    const others = [...this.observed.git.siblings, ...this.found.unproposed]
    const taken = new Set([
      ...this.begun,
      ...others.map(({ workspace }) => workspace.replace(/^drift-/, '')),
    ])
    if (open === undefined)
      return newEpisodeId(fingerprint, this.observed, this.found.closed, taken)
    const { episode } = open.record.spec
    const leaves =
      joint === undefined && open.others.length > 0 && open.workspace === open.record.metadata.name
    return leaves
      ? newEpisodeId(fingerprint, this.observed, this.found.closed, taken.add(episode))
      : episode
  }

  /** The branch's commit is made of what all its units bring. */
  private recordJointly(
    active: readonly PlannedChange[],
    fingerprint: string,
    record: DriftRecord,
    joint: JointLocation,
  ): UnitPlan {
    const { open, observed } = this
    const updates = this.withdrawn(joint.ref)
    const same =
      open?.ref === joint.ref &&
      !isOutdated(open, observed) &&
      updates.length === 0 &&
      isEqualText(observed, open, record)
    const files =
      same && !joint.files
        ? NO_FILES
        : orFailure(() => proposalFiles(observed, active, record, joint.workspace))
    if (files instanceof Failure) return this.partOfRequest(active, fingerprint, record, files)
    const outcome = same ? 'unchanged' : open === undefined ? 'created' : 'updated'
    const branch = { ref: joint.ref, state: 'proposed', record } as const
    const plan = this.done(active, fingerprint, {
      state: 'Drifted',
      outcome,
      branch,
      writes: { ...NO_WRITES, updates },
      notes: files.notes,
    })
    return { ...plan, joint: files.changes }
  }

  /** No edit was requested just now, so an impossible edit must not hide the drift. */
  private withoutFiles(
    active: readonly PlannedChange[],
    fingerprint: string,
    record: DriftRecord,
    failure: Failure,
  ): UnitPlan {
    if (this.resolutionRequest !== undefined)
      return this.partOfRequest(active, fingerprint, record, failure)
    const why = `${failure.what}: ${failure.why}`
    if (this.open !== undefined)
      return this.keepOpen(active, fingerprint, 'frozen', [
        leftAlone(`${shortBranch(this.open.ref)} cannot be made anew (${why})`),
      ])
    if (active.every(({ resolution }) => resolution === 'Restore')) throw failure
    const { changes, notes } = possiblePlan(active, failure, (each) =>
      proposalFiles(this.observed, each, record),
    )
    const plan = this.record(changes, fingerprint)
    return { ...plan, notes: [...plan.notes, ...notes] }
  }

  /** A request that names no change takes what is possible, and says what is not. @throws Failure where nothing of it is */
  private partOfRequest(
    active: readonly PlannedChange[],
    fingerprint: string,
    record: DriftRecord,
    failure: Failure,
  ): UnitPlan {
    const before = new Map(this.plannedFor(undefined).map((change) => [change.fingerprint, change]))
    const instead = (change: PlannedChange): PlannedChange => {
      const known = before.get(change.fingerprint)
      if (
        change.resolution === 'Restore' ||
        choiceFor(this.resolutionRequest, change)?.isAll !== true
      )
        return change
      return known === undefined || known.resolution === change.resolution
        ? asRestore(change)
        : known
    }
    const { changes, notes } = possiblePlan(
      active,
      failure,
      (each) => proposalFiles(this.observed, each, record),
      instead,
    )
    if (
      !changes.some(
        (change) => active.includes(change) && instead(change).resolution !== change.resolution,
      )
    )
      throw failure
    const plan = this.record(changes, fingerprint)
    return { ...plan, notes: [...plan.notes, ...notes] }
  }

  private keepOpen(
    active: readonly PlannedChange[],
    fingerprint: string,
    outcome: 'foreign' | 'frozen',
    notes: readonly Note[],
  ): UnitPlan {
    if (this.resolutionRequest !== undefined) throw cannotChange(this.observed, this.open, outcome)
    return this.done(active, fingerprint, { state: 'Drifted', outcome, branch: this.open, notes })
  }

  private done(
    active: readonly PlannedChange[],
    fingerprint: string,
    { state, outcome, branch, writes = NO_WRITES, notes = [] }: Outcome,
  ): UnitPlan {
    const report = unitReport(this.observed, active, fingerprint, {
      state,
      branch,
      hold: this.hold,
    })
    // A report that is not written yet is new even when it has no differences.
    // With mode Off nothing is recorded, except that earlier records are of then.
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
    // Of two texts for one file the later one knows more: found merged, then verified.
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
