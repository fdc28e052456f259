/**
 * Plans everything that a turn writes. Only functions and programs that a rendering needs are run here: their answers become part of what
 * is known (see with-answers.ts), and the plan is made again.
 */
import { setImmediate } from 'node:timers/promises'
import { Failure, failuresOf } from '../failure.ts'
import { wishOf } from '../plan/commands/comment-wish.ts'
import type { ObservedState, PlanUnit } from '../plan/commands/plan-command.ts'
import { type AnsweredRequests, planRequests } from '../plan/commands/plan-requests.ts'
import type { ProposalRequests } from '../plan/commands/proposal-requests.ts'
import { waitingNotes } from '../plan/decisions/already-decided.ts'
import { pendingSettles } from '../plan/decisions/pending-settles.ts'
import { raiseAgain, withRaised } from '../plan/decisions/raise-again.ts'
import type { ClusterLedgerWrites } from '../plan/ledger/cluster-writes.ts'
import type { Hold } from '../plan/limits/hold.ts'
import { assertOwnBase, otherBaseNotes } from '../plan/turn/base-branch.ts'
import type { Observation, Wish } from '../plan/turn/observation.ts'
import { planReconcile } from '../plan/turn/plan-reconcile.ts'
import { unitKey } from '../plan/turn/planned-unit.ts'
import type { TurnAction } from '../plan/turn/turn-action.ts'
import { turnActions } from '../plan/turn/turn-actions.ts'
import { TurnMemory } from '../plan/turn/turn-memory.ts'
import type { ProposalGround } from '../plan/turn/turn-view.ts'
import type { PlanOptions, UnitPlan } from '../plan/turn/unit-plan.ts'
import type { UnitResult } from '../plan/turn/unit-result.ts'
import { repositoryLimits } from '../policy/effective-policy.ts'
import type { Forge } from '../ports/hosted-forge.ts'
import type { PackageRepository } from '../ports/package-repository.ts'
import { driftId } from '../proposal/text/dashboard-ticks.ts'
import { adoptRefusals, NOTHING_REFUSED } from './adopt-refusals.ts'
import { isHosted } from './apply/is-hosted.ts'
import { writesOfClusters } from './cluster-turns.ts'
import { holdsOf, NO_HOLDS, NOTHING_HELD } from './hold-back.ts'
import { planProven } from './judge-branches.ts'
import { presentTime } from './observe/observe.ts'
import type { ObservedUnit } from './observe/observe-units.ts'
import type { TurnObservation } from './observe-turn.ts'
import { type SharedProposals, shareProposals } from './share-proposals.ts'
import type { TurnRequest } from './turn-request.ts'
import { type Answers, asking, withAnswers } from './with-answers.ts'

export interface TurnPlan {
  readonly units: readonly UnitResult[]
  readonly actions: readonly TurnAction[]
}

/** What may be asked while a turn is planned. */
export interface PlanPorts {
  readonly repository: PackageRepository
  readonly forge: Forge
  /** Whether the turn may write to clusters. */
  readonly settles: boolean
}

/** @throws the signal's reason; a failure of one unit is in its result */
export async function planTurn(seen: TurnObservation, ports: PlanPorts, request: TurnRequest, signal: AbortSignal): Promise<TurnPlan> {
  const { view, board, notObserved, clusters: observed, now } = seen
  const planner = new TurnPlanner(seen, ports, request, signal)
  const free = await planner.all(NO_HOLDS)
  // What somebody asks for is never held.
  const { holds, storm } = request.wish === undefined ? await holdsOf(free.units, view, board, seen.observedAt) : NOTHING_HELD
  const { units, joints } = holds.size === 0 ? free : await planner.all(holds)
  const answered = [...units.flatMap((unit) => (unit.state === 'planned' ? unit.requests : [])), ...(await unplannedRequests(seen, units))]
  const actions = turnActions({
    ground: await proposalGround(seen, ports.forge, request, answered),
    units,
    joints,
    clusters: await clusterWrites(seen, units, request, signal),
    storm,
    notObserved,
    unobservedProposals: seen.unobservedProposals,
    answered,
    endedBranches: seen.endedBranches,
    settles: ports.settles ? pendingSettles({ units, view }) : [],
    observed: observed.length > 0,
    now,
  })
  return { units, actions }
}

async function proposalGround(
  { view, board, codeOwners, notObserved }: TurnObservation,
  forge: Forge,
  { version }: TurnRequest,
  answered: readonly AnsweredRequests[],
): Promise<ProposalGround> {
  const { dialect } = forge
  const hosted = isHosted(forge) ? { dialect, version, codeOwners, ledger: await board.ledger() } : undefined
  return {
    view,
    dialect,
    forge: hosted,
    version,
    keepTexts: new Set(answered.flatMap(tickedAndWaiting)),
    notObserved: new Set(notObserved.map(({ cluster }) => cluster)),
  }
}

/** The text of a proposal keeps a ticked box that waits. */
function tickedAndWaiting({ requests, waiting }: AnsweredRequests): readonly number[] {
  return waiting.some(({ by }) => by === '') ? [requests.unit.proposal.number] : []
}

/** Of a decision, only what it decides is written. */
async function clusterWrites(
  { view, board, clusters: observed, notObserved }: TurnObservation,
  units: readonly UnitResult[],
  { wish, clock, packages, labels, snoozeUntil }: TurnRequest,
  signal: AbortSignal,
): Promise<readonly ClusterLedgerWrites[]> {
  if (wish !== undefined || snoozeUntil !== undefined) return []
  const whole = packages.length === 0 && labels === undefined
  return writesOfClusters(view, board, { observed, notObserved, units, now: presentTime(clock), whole }, signal)
}

/** Requests about units that this turn could not plan: nothing that needs the unit is done. */
async function unplannedRequests(
  { requests, view, notObserved }: TurnObservation,
  units: readonly UnitResult[],
): Promise<readonly AnsweredRequests[]> {
  const planned = new Set(units.flatMap((unit) => (unit.state === 'planned' ? unit.requests.map((answered) => answered.requests) : [])))
  const failing: PlanUnit = async () => {
    throw new TypeError('there is nothing to plan')
  }
  return Promise.all(
    requests
      .filter((one) => !planned.has(one))
      .map((one) => {
        const { cluster, packagePath, packageName } = one.unit
        const failed = units.find((unit) => unit.state === 'failed' && unit.cluster === cluster && unit.packagePath === packagePath)
        const lost = notObserved.find((each) => each.cluster === cluster)
        const failure = failed?.state === 'failed' ? failed.failures[0] : (lost?.failures[0] ?? nothingThere(packageName))
        return planRequests(one, view.policies, failing, { observation: failure, wish: undefined })
      }),
  )
}

class TurnPlanner {
  private readonly seen: TurnObservation
  private readonly ports: PlanPorts
  private readonly request: TurnRequest
  private readonly signal: AbortSignal

  constructor(seen: TurnObservation, ports: PlanPorts, request: TurnRequest, signal: AbortSignal) {
    this.seen = seen
    this.ports = ports
    this.request = request
    this.signal = signal
  }

  /** @param holds by `unitKey` */
  async all(holds: ReadonlyMap<string, Hold>): Promise<SharedProposals> {
    const memory = new TurnMemory()
    const planned: UnitResult[] = []
    for (const unit of this.seen.units) {
      planned.push(unit.state === 'failed' ? unit : await this.one(unit, memory, holds))
      await otherWork()
    }
    return isHosted(this.ports.forge) ? this.share(planned, memory) : { units: planned, joints: new Map() }
  }

  private async one(
    { observation: observed, notes }: ObservedUnit & { readonly state: 'observed' },
    memory: TurnMemory,
    holds: ReadonlyMap<string, Hold>,
  ): Promise<UnitResult> {
    const { dryRun, rehearses = false, snoozeUntil, renderer } = this.request
    const isLook = dryRun && !rehearses
    const { cluster, packagePath } = observed.unit
    const raised = raiseAgain(memory.upToDate(observed), (fingerprint) => this.seen.board.ticks.raise.has(driftId(fingerprint)))
    const seen = raised?.observation ?? memory.upToDate(observed)
    const start = snoozeUntil === undefined ? seen : { ...seen, snoozeUntil }
    try {
      if (!isLook) assertOwnBase(start)
      const options = { begun: memory.begun, hold: holds.get(unitKey(cluster, packagePath)) }
      const plan: PlanUnit = (state) => this.proven(state, options)
      const { state, requests } = await this.withRequests(plan, { observation: start, wish: await this.wishFor(start) })
      const { observation, wish } = state
      const made = withRaised(await plan(state), raised)
      memory.remember(made)
      const notAdoptable = isLook ? NOTHING_REFUSED : await adoptRefusals(observation, made, renderer, this.signal)
      const all = [...notes, ...otherBaseNotes(observation), ...waitingNotes(observation, made)]
      return { state: 'planned', unit: observation.unit, observation, plan: made, wish, requests, notAdoptable, notes: all }
    } catch (thrown) {
      this.signal.throwIfAborted()
      return { state: 'failed', cluster, packagePath, failures: failuresOf(thrown) }
    }
  }

  /** The resolution that the command line asks for. Selectors count the changes as a plain turn lists them. */
  private async wishFor(observation: Observation): Promise<Wish | undefined> {
    const { wish } = this.request
    if (wish === undefined) return undefined
    return this.asked(observation, (one) => wishOf(wish, planReconcile(one).report.spec.changes))
  }

  private async withRequests(
    plan: PlanUnit,
    start: ObservedState,
  ): Promise<{ readonly state: ObservedState; readonly requests: readonly AnsweredRequests[] }> {
    const { cluster, packagePath } = start.observation.unit
    const isOwn = ({ unit }: ProposalRequests): boolean => unit.cluster === cluster && unit.packagePath === packagePath
    const requests: AnsweredRequests[] = []
    let state = start
    for (const own of this.seen.requests.filter(isOwn)) {
      const answered = await planRequests(own, this.seen.view.policies, plan, state)
      requests.push(answered)
      const { observation, wish } = answered.state
      if (!(observation instanceof Failure)) state = { observation, wish }
    }
    return { state, requests }
  }

  private async proven({ observation, wish }: ObservedState, options: PlanOptions): Promise<UnitPlan> {
    const { repository } = this.ports
    const { renderer } = this.request
    const plan = (seen: Observation) => this.asked(seen, (one) => planReconcile(one, { ...options, wish }))
    return planProven(observation, { repository, renderer }, plan, this.signal)
  }

  private asked<Answer>(observation: Observation, work: (observation: Observation) => Answer): Promise<Answer> {
    return withAnswers(this.request.renderer, this.signal, (answers: Answers) => work(asking(observation, answers)))
  }

  /** Where git alone is the forge, each cluster has a proposal of its own: `approve` decides about one unit. */
  private share(units: readonly UnitResult[], { begun }: TurnMemory): Promise<SharedProposals> {
    const { massMinClusters } = repositoryLimits(this.seen.view.policies)
    return shareProposals(units, massMinClusters, async (unit, joint) => {
      await otherWork()
      const { observation, plan, wish } = unit
      const others = new Set([...begun].filter((id) => id !== plan.record?.spec.episode))
      try {
        return { ...unit, plan: await this.asked(observation, (one) => planReconcile(one, { begun: others, joint, wish })) }
      } catch (thrown) {
        this.signal.throwIfAborted()
        const { cluster, packagePath } = observation.unit
        return { state: 'failed', cluster, packagePath, failures: failuresOf(thrown) }
      }
    })
  }
}

/** Planning only computes. What else waits (an answer to a webhook, a connection's life) has its turn between two units. */
const otherWork = (): Promise<void> => setImmediate()

function nothingThere(packageName: string): Failure {
  return new Failure({
    code: 'BP2004',
    what: `${packageName} is not looked at`,
    why: 'no cluster of this installation runs the package',
    remedy: 'place it with a Placement in the policy',
    retry: 'on-change',
  })
}
