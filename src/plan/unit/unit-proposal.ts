import { formatWorkspaceBranch, shortenBranch } from '@backporch/git-store/ref-name'
import { catchFailure, Failure } from '@backporch/kyaml/failure'
import { formatHouseMessage } from '../../policy/house-rules.ts'
import { formatProposalMessage } from '../../record/commit-message.ts'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import { NO_WRITES, type PlannedUpdate } from '../observation/action.ts'
import { createLeftAloneNote } from '../observation/branch-notes.ts'
import { createCannotChangeFailure } from '../observation/cannot-change.ts'
import { computeUnixSeconds } from '../observation/closed-episode.ts'
import type { JointLocation } from '../observation/joint-location.ts'
import { isOutdated } from '../observation/unit-git.ts'
import type { UnitPlan } from '../observation/unit-plan.ts'
import { findRequestedChoice, type PlannedChange } from './commands/pick-changes.ts'
import { computeNextEpisodeId, createEpisodeId } from './episode-ids.ts'
import { convertToRestore, findPossiblePlan } from './possible-plan.ts'
import { buildProposalFiles } from './proposal-files.ts'
import { createUnitRecord, isEqualText } from './unit-documents.ts'
import type { UnitTurn } from './unit-turn.ts'
import { findFailedBefore } from './verified-episodes.ts'

export class UnitProposal {
  private readonly turn: UnitTurn
  private readonly fingerprint: string

  constructor(turn: UnitTurn, fingerprint: string) {
    this.turn = turn
    this.fingerprint = fingerprint
  }

  record(active: readonly PlannedChange[], episode = this.chooseEpisode()): UnitPlan {
    const { observed, open, joint, found, resolutionRequest } = this.turn
    const wanted =
      resolutionRequest !== undefined ||
      joint !== undefined ||
      (observed.policy.mode === 'Propose' && this.turn.hold === undefined)
    const state = wanted || open?.state === 'proposed' ? 'proposed' : 'drafts'
    const began = open?.record.spec.began ?? this.turn.at
    const record = createUnitRecord(observed, active, this.fingerprint, {
      episode,
      began,
      lifecycle: state === 'drafts' ? 'Draft' : 'Proposed',
      previous: open?.record.spec,
      resolutionRequest,
      after: findFailedBefore(found.closed, active),
      excludes: joint?.like.spec.excludes ?? [],
    })
    if (joint !== undefined) return this.recordJointly(active, record, joint)
    const branch = formatWorkspaceBranch({
      state,
      packagePath: observed.unit.packageName,
      workspace: record.metadata.name,
    })
    const ref = `refs/heads/${branch}`
    const spare = this.turn.withdrawSpare(ref)
    if (
      open?.ref === ref &&
      !isOutdated(open, observed) &&
      spare.length === 0 &&
      isEqualText(observed, open, record)
    ) {
      return this.turn.finishPlan(active, this.fingerprint, {
        state: 'Drifted',
        outcome: 'unchanged',
        branch: open,
      })
    }
    if (observed.policy.approval === 'porch' && episode === open?.record.spec.episode)
      return this.record(
        active,
        computeNextEpisodeId(episode, observed, found.closed, this.turn.begun),
      )
    const previous = found.branches.find((other) => other.ref === ref)
    // Creating a branch over a foreign one would fail every push of the turn.
    if (previous === undefined && observed.git.refs.has(ref)) {
      if (resolutionRequest !== undefined)
        throw createCannotChangeFailure(observed, { ref }, 'foreign')
      return this.turn.finishPlan(active, this.fingerprint, {
        state: 'Drifted',
        outcome: 'foreign',
        notes: [createLeftAloneNote(`${branch} has no record of backporch`)],
      })
    }
    const files = catchFailure(() => buildProposalFiles(observed, active, record))
    if (files instanceof Failure) return this.planWithoutFiles(active, record, files)
    const updates: PlannedUpdate[] = [
      { ref, from: previous?.commit ?? null, to: { commit: branch } },
      ...spare,
    ]
    const subject = {
      record: files.record,
      slug: observed.unit.slug,
      packageName: observed.unit.packageName,
      sourceRevision: observed.git.publishedName,
    }
    const commit = {
      name: branch,
      parents: [observed.git.base],
      base: observed.git.base,
      changes: files.changes,
      get message() {
        return formatHouseMessage(
          formatProposalMessage(subject, state === 'drafts' ? 'Draft' : 'Proposed'),
          observed.policy.house.commit,
        )
      },
      signOff: observed.policy.house.commit.signOff,
      at: computeUnixSeconds(this.turn.at),
    }
    const outcome = open === undefined ? 'created' : 'updated'
    return this.turn.finishPlan(active, this.fingerprint, {
      state: 'Drifted',
      outcome,
      branch: { ref, state, record: files.record },
      writes: { ...NO_WRITES, commits: [commit], updates },
      notes: files.notes,
    })
  }

  /** A unit that leaves a joint proposal whose branch has its name begins a new episode. */
  private chooseEpisode(): string {
    const { observed, open, joint, found, begun } = this.turn
    // Such a name may belong to a continuing joint proposal, or to a forged and closed one.
    const others = [...observed.git.siblings, ...found.unproposed]
    const taken = new Set([
      ...begun,
      ...others.map(({ workspace }) => workspace.replace(/^drift-/, '')),
    ])
    if (open === undefined) return createEpisodeId(this.fingerprint, observed, found.closed, taken)
    const { episode } = open.record.spec
    const leaves =
      joint === undefined && open.others.length > 0 && open.workspace === open.record.metadata.name
    return leaves
      ? createEpisodeId(this.fingerprint, observed, found.closed, taken.add(episode))
      : episode
  }

  private recordJointly(
    active: readonly PlannedChange[],
    record: DriftRecord,
    joint: JointLocation,
  ): UnitPlan {
    const { open, observed } = this.turn
    const updates = this.turn.withdrawSpare(joint.ref)
    const same =
      open?.ref === joint.ref &&
      !isOutdated(open, observed) &&
      updates.length === 0 &&
      isEqualText(observed, open, record)
    const files =
      same && !joint.files
        ? { changes: [], notes: [], record }
        : catchFailure(() => buildProposalFiles(observed, active, record, joint.workspace))
    if (files instanceof Failure) return this.planPartOfRequest(active, record, files)
    const outcome = same ? 'unchanged' : open === undefined ? 'created' : 'updated'
    const branch = { ref: joint.ref, state: 'proposed', record: files.record } as const
    const plan = this.turn.finishPlan(active, this.fingerprint, {
      state: 'Drifted',
      outcome,
      branch,
      writes: { ...NO_WRITES, updates },
      notes: files.notes,
    })
    return { ...plan, joint: files.changes }
  }

  /** No edit was requested, so an impossible edit must not hide the drift. */
  private planWithoutFiles(
    active: readonly PlannedChange[],
    record: DriftRecord,
    failure: Failure,
  ): UnitPlan {
    if (this.turn.resolutionRequest !== undefined)
      return this.planPartOfRequest(active, record, failure)
    const why = `${failure.what}: ${failure.why}`
    if (this.turn.open !== undefined)
      return this.turn.keepOpen(active, this.fingerprint, 'frozen', [
        createLeftAloneNote(`${shortenBranch(this.turn.open.ref)} cannot be rebuilt (${why})`),
      ])
    if (active.every(({ resolution }) => resolution === 'Restore')) throw failure
    const { changes, notes } = findPossiblePlan(active, failure, (each) =>
      buildProposalFiles(this.turn.observed, each, record),
    )
    const plan = this.record(changes)
    return { ...plan, notes: [...plan.notes, ...notes] }
  }

  /** @throws Failure if nothing of the request is possible */
  private planPartOfRequest(
    active: readonly PlannedChange[],
    record: DriftRecord,
    failure: Failure,
  ): UnitPlan {
    const before = new Map(
      this.turn.listPlannedFor(undefined).map((change) => [change.fingerprint, change]),
    )
    const instead = (change: PlannedChange): PlannedChange => {
      const known = before.get(change.fingerprint)
      if (
        change.resolution === 'Restore' ||
        findRequestedChoice(this.turn.resolutionRequest, change)?.isAll !== true
      )
        return change
      return known === undefined || known.resolution === change.resolution
        ? convertToRestore(change)
        : known
    }
    const { changes, notes } = findPossiblePlan(
      active,
      failure,
      (each) => buildProposalFiles(this.turn.observed, each, record),
      instead,
    )
    if (
      !changes.some(
        (change) => active.includes(change) && instead(change).resolution !== change.resolution,
      )
    )
      throw failure
    const plan = this.record(changes)
    return { ...plan, notes: [...plan.notes, ...notes] }
  }
}
