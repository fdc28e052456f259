import { shortenBranch } from '@backporch/git-store/ref-name'
import type { Note } from '@backporch/kyaml/note'
import type { ProposalFiles } from '../../proposal/build-proposal.ts'
import { type GitWrites, NO_WRITES } from '../observation/action.ts'
import { assertOwnBase, findOtherBase } from '../observation/base-branch.ts'
import {
  createLeftAloneNote,
  createWithdrawnNote,
  createWithheldNotes,
} from '../observation/branch-notes.ts'
import { createClosedEpisode, createClosedFile } from '../observation/closed-episode.ts'
import { isWithheld } from '../observation/hold.ts'
import type { Observation, OpenBranch } from '../observation/observation.ts'
import { explainUntouched, isSameTree } from '../observation/unit-git.ts'
import type { PlanOptions, UnitPlan } from '../observation/unit-plan.ts'
import { getWaitingState } from '../observation/waiting-state.ts'
import { assertUndecided, createNothingToDecideFailure } from './already-decided.ts'
import { findSilencedUntil, type PlannedChange } from './commands/pick-changes.ts'
import { buildRecordFiles } from './proposal-files.ts'
import { createTooOldFailure, createTooOldNote, removeEnded } from './too-old.ts'
import { computeUnitFingerprint, createUnitReport } from './unit-documents.ts'
import { UnitProposal } from './unit-proposal.ts'
import { UnitTurn } from './unit-turn.ts'

/**
 * @throws Failure BP2001, BP2002, BP2007, BP2010 or BP2014 if a resolution request cannot be
 * fulfilled, BP2008 if nothing is open for it, BP2012 if it is about a unit of another base branch,
 * BP2016 if the ledger has newer data
 */
export function planReconcile(observation: Observation, options: PlanOptions = {}): UnitPlan {
  const turn = new UnitTurn(observation, options)
  const { observed, resolutionRequest, changes, newer, found, open, at } = turn
  assertUndecided(observed, resolutionRequest, changes, found.closed)
  const active = turn.listActive()
  if (findOtherBase(observed) !== undefined) return readOnly(turn, active, [])
  if (newer !== undefined) {
    if (resolutionRequest !== undefined) throw createTooOldFailure(observed, newer)
    return retainDecisions(turn, readOnly(turn, active, [createTooOldNote(observed, newer)]))
  }
  if (active.length === 0) return planWithoutDrift(turn, changes.length)
  const fingerprint = computeUnitFingerprint(observed, active)
  if (open?.foreign)
    return turn.keepOpen(active, fingerprint, 'foreign', [
      createLeftAloneNote(
        `${shortenBranch(open.ref)}: ${open.foreignWhy ?? 'it has a commit of another author'}`,
      ),
    ])
  const why =
    resolutionRequest === undefined && open !== undefined
      ? explainUntouched(observed, open)
      : undefined
  if (why !== undefined)
    return turn.keepOpen(active, fingerprint, 'frozen', [createLeftAloneNote(why)])
  // It may be the proposal for this drift, or its decision: a second one would contradict it.
  if (open === undefined && observed.git.unreadable.length > 0)
    return turn.keepOpen(active, fingerprint, 'frozen', [])
  if (isFrozen(turn, active))
    return turn.keepOpen(active, fingerprint, 'frozen', [
      createLeftAloneNote('not everything could be observed, and the open record stays'),
    ])
  if (resolutionRequest === undefined && observed.policy.mode === 'Off')
    return turn.finishPlan(active, fingerprint, { state: 'Off', outcome: 'none' })
  const until = findSilencedUntil(found.closed, fingerprint, at)
  if (resolutionRequest === undefined && open === undefined && until !== undefined) {
    return turn.finishPlan(active, fingerprint, {
      state: 'Silenced',
      outcome: 'silenced',
      notes: [{ cause: 'silenced', subject: '', text: `rejected before: silent until ${until}` }],
    })
  }
  if (isWithheld(observed.policy))
    return turn.keepOpen(active, fingerprint, 'frozen', createWithheldNotes(observed, open))
  return new UnitProposal(turn, fingerprint).record(active)
}

export function rebuildProposalFiles(
  observation: Observation,
  proposal: OpenBranch,
): ProposalFiles['changes'] {
  const turn = new UnitTurn(observation, {})
  return buildRecordFiles(turn.observed, turn.listActive(), proposal.record).changes
}

/**
 * For `diff` with another branch: without open or decided items of the unit's own branch. Also for
 * an observation that is older than the known state.
 */
function readOnly(
  turn: UnitTurn,
  active: readonly PlannedChange[],
  notes: readonly Note[],
): UnitPlan {
  const { observed, resolutionRequest, found } = turn
  if (resolutionRequest !== undefined) assertOwnBase(observed)
  const clean = observed.incomplete.length === 0 ? getWaitingState(observed.verdicts) : 'Unknown'
  const fingerprint = active.length === 0 ? '' : computeUnitFingerprint(observed, active)
  const report = createUnitReport(observed, active, fingerprint, {
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
    notes: [...found.notes, ...notes],
  }
}

function retainDecisions(turn: UnitTurn, plan: UnitPlan): UnitPlan {
  const { observed, found } = turn
  const { writes, outcomes, landing } = found
  const ended = removeEnded(observed, outcomes)
  return {
    ...plan,
    writes: { ...writes, ledger: [...writes.ledger, ...ended] },
    outcomes,
    landing,
  }
}

/** Shared, so that its cached text is found again. */
const NOTHING_OPEN: readonly PlannedChange[] = []

function planWithoutDrift(turn: UnitTurn, applying: number): UnitPlan {
  const { observed, resolutionRequest, open, at } = turn
  if (resolutionRequest !== undefined) throw createNothingToDecideFailure(observed, applying)
  const state =
    applying > 0
      ? 'Applying'
      : observed.incomplete.length === 0
        ? getWaitingState(observed.verdicts)
        : 'Unknown'
  if (turn.isUnread())
    return turn.finishPlan(NOTHING_OPEN, '', {
      state,
      outcome: open === undefined ? 'none' : 'frozen',
      branch: open,
    })
  if (open?.foreign)
    return turn.finishPlan(NOTHING_OPEN, '', {
      state,
      outcome: 'foreign',
      branch: open,
      notes: [createLeftAloneNote(`${shortenBranch(open.ref)} has commits of another author`)],
    })
  if (open === undefined)
    return turn.finishPlan(NOTHING_OPEN, '', { state, outcome: applying > 0 ? 'applying' : 'none' })
  const resolvedByGit = !isSameTree(observed.git.tree, observed.git.baseTrees.get(open.base))
  const outcome = resolvedByGit ? 'ResolvedByGit' : 'Healed'
  const closed = createClosedEpisode(open.record, { outcome, decidedBy: '', at })
  const writes: GitWrites = {
    ...NO_WRITES,
    updates: turn.withdrawSpare(''),
    ledger: [createClosedFile(closed)],
  }
  const plan = turn.finishPlan(NOTHING_OPEN, '', {
    state,
    outcome: 'healed',
    writes,
    notes: [createWithdrawnNote(observed, open, resolvedByGit)],
  })
  return { ...plan, outcomes: [...plan.outcomes, { ref: open.ref, episode: closed }] }
}

/**
 * With unreadable objects drift looks like an outage, so an open record is neither reduced nor
 * closed.
 */
function isFrozen(turn: UnitTurn, active: readonly PlannedChange[]): boolean {
  const { open } = turn
  if (!turn.isUnread() || open === undefined) return false
  const now = new Set(active.map(({ fingerprint }) => fingerprint))
  return open.record.spec.changes.some(({ fingerprint }) => !now.has(fingerprint))
}
