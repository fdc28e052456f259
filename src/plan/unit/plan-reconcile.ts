import { shortBranch } from '@backporch/git-store/ref-name'
import type { Note } from '@backporch/kyaml/note'
import type { ProposalFiles } from '../../proposal/build-proposal.ts'
import { type GitWrites, NO_WRITES } from '../observation/action.ts'
import { assertOwnBase, otherBase } from '../observation/base-branch.ts'
import { leftAlone, withdrawnNote, withheldNotes } from '../observation/branch-notes.ts'
import { closedEpisodeOf, closedFile } from '../observation/closed-episode.ts'
import { isWithheld } from '../observation/hold.ts'
import type { Observation, OpenBranch } from '../observation/observation.ts'
import { sameTree, whyUntouched } from '../observation/unit-git.ts'
import type { PlanOptions, UnitPlan } from '../observation/unit-plan.ts'
import { waitingState } from '../observation/waiting-state.ts'
import { assertUndecided, nothingToDecide } from './already-decided.ts'
import { type PlannedChange, silencedUntil } from './commands/pick-changes.ts'
import { builtFiles } from './proposal-files.ts'
import { tooOld, tooOldNote, withoutEnded } from './too-old.ts'
import { unitFingerprint, unitReport } from './unit-documents.ts'
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
  const active = turn.active()
  if (otherBase(observed) !== undefined) return readOnly(turn, active, [])
  if (newer !== undefined) {
    if (resolutionRequest !== undefined) throw tooOld(observed, newer)
    return decisionsOnly(turn, readOnly(turn, active, [tooOldNote(observed, newer)]))
  }
  if (active.length === 0) return withoutDrift(turn, changes.length)
  const fingerprint = unitFingerprint(observed, active)
  if (open?.foreign)
    return turn.keepOpen(active, fingerprint, 'foreign', [
      leftAlone(
        `${shortBranch(open.ref)}: ${open.foreignWhy ?? 'it has a commit that is not ours'}`,
      ),
    ])
  const why =
    resolutionRequest === undefined && open !== undefined ? whyUntouched(observed, open) : ''
  if (why !== '') return turn.keepOpen(active, fingerprint, 'frozen', [leftAlone(why)])
  // It may be the proposal for this drift, or its decision: a second one would contradict it.
  if (open === undefined && observed.git.unreadable.length > 0)
    return turn.keepOpen(active, fingerprint, 'frozen', [])
  if (isFrozen(turn, active))
    return turn.keepOpen(active, fingerprint, 'frozen', [
      leftAlone('not everything could be observed, and the open record stays'),
    ])
  if (resolutionRequest === undefined && observed.policy.mode === 'Off')
    return turn.done(active, fingerprint, { state: 'Off', outcome: 'none' })
  const until = silencedUntil(found.closed, fingerprint, at)
  if (resolutionRequest === undefined && open === undefined && until !== undefined) {
    return turn.done(active, fingerprint, {
      state: 'Silenced',
      outcome: 'silenced',
      notes: [{ cause: 'silenced', subject: '', text: `rejected before: silent until ${until}` }],
    })
  }
  if (isWithheld(observed.policy))
    return turn.keepOpen(active, fingerprint, 'frozen', withheldNotes(observed, open))
  return new UnitProposal(turn, fingerprint).record(active)
}

export function filesOfProposal(
  observation: Observation,
  proposal: OpenBranch,
): ProposalFiles['changes'] {
  const turn = new UnitTurn(observation, {})
  return builtFiles(turn.observed, turn.active(), proposal.record).changes
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
  const clean = observed.incomplete.length === 0 ? waitingState(observed.verdicts) : 'Unknown'
  const fingerprint = active.length === 0 ? '' : unitFingerprint(observed, active)
  const report = unitReport(observed, active, fingerprint, {
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

function decisionsOnly(turn: UnitTurn, plan: UnitPlan): UnitPlan {
  const { observed, found } = turn
  const { writes, outcomes, landing } = found
  const ended = withoutEnded(observed, outcomes)
  return {
    ...plan,
    writes: { ...writes, ledger: [...writes.ledger, ...ended] },
    outcomes,
    landing,
  }
}

/** Shared, so that its cached text is found again. */
const NOTHING_OPEN: readonly PlannedChange[] = []

function withoutDrift(turn: UnitTurn, applying: number): UnitPlan {
  const { observed, resolutionRequest, open, at } = turn
  if (resolutionRequest !== undefined) throw nothingToDecide(observed, applying)
  const state =
    applying > 0
      ? 'Applying'
      : observed.incomplete.length === 0
        ? waitingState(observed.verdicts)
        : 'Unknown'
  if (turn.isUnread())
    return turn.done(NOTHING_OPEN, '', {
      state,
      outcome: open === undefined ? 'none' : 'frozen',
      branch: open,
    })
  if (open?.foreign)
    return turn.done(NOTHING_OPEN, '', {
      state,
      outcome: 'foreign',
      branch: open,
      notes: [leftAlone(`${shortBranch(open.ref)} is somebody else's now`)],
    })
  if (open === undefined)
    return turn.done(NOTHING_OPEN, '', { state, outcome: applying > 0 ? 'applying' : 'none' })
  const resolvedByGit = !sameTree(observed.git.tree, observed.git.baseTrees.get(open.base))
  const outcome = resolvedByGit ? 'ResolvedByGit' : 'Healed'
  const closed = closedEpisodeOf(open.record, { outcome, decidedBy: '', at })
  const writes: GitWrites = {
    ...NO_WRITES,
    updates: turn.withdrawn(''),
    ledger: [closedFile(closed)],
  }
  const plan = turn.done(NOTHING_OPEN, '', {
    state,
    outcome: 'healed',
    writes,
    notes: [withdrawnNote(observed, open, resolvedByGit)],
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
