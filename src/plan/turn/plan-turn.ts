/** Pure and synchronous: missing knowledge is a question (turn-questions.ts). */
import { Failure, listFailures } from '@backporch/kyaml/failure'
import { deriveRepositoryLimits } from '../../policy/effective-policy.ts'
import { getDriftId } from '../../proposal/text/dashboard-ticks.ts'
import { attempt, Unanswered } from '../../sources/programs/questions.ts'
import { isNothing } from '../observation/action.ts'
import { assertOwnBase, createOtherBaseNotes } from '../observation/base-branch.ts'
import { type Hold, isWithheld } from '../observation/hold.ts'
import type { Observation, ResolutionRequest, Unit } from '../observation/observation.ts'
import { formatUnitKey } from '../observation/planned-unit.ts'
import { TurnMemory } from '../observation/turn-memory.ts'
import { UnitQuestions } from '../observation/turn-questions.ts'
import type { ProposalContext, TurnView } from '../observation/turn-view.ts'
import type { PlanOptions, UnitPlan } from '../observation/unit-plan.ts'
import { createWaitingNotes } from '../unit/already-decided.ts'
import type { ObservedState, PlanUnit } from '../unit/commands/command-state.ts'
import { type AnsweredRequests, planRequests } from '../unit/commands/plan-requests.ts'
import type { ProposalRequests } from '../unit/commands/proposal-requests.ts'
import { resolveSelectors } from '../unit/commands/resolution-request.ts'
import { listPendingSettles } from '../unit/pending-settles.ts'
import { planReconcile, rebuildProposalFiles } from '../unit/plan-reconcile.ts'
import { addRaised, raiseAgain } from '../unit/raise-again.ts'
import type { UnitResult } from '../unit/unit-result.ts'
import { type DecidedUnit, decideUnobserved } from '../unit/unobserved-decisions.ts'
import { adoptRefusals, findUnitAdoptions, NOTHING_REFUSED } from './adopt-refusals.ts'
import { writesOfClusters } from './cluster-turns.ts'
import { type SharedProposals, shareProposals } from './joint/share-proposals.ts'
import { waitsForPace } from './ledger/ledger-pace.ts'
import { keepBack } from './ledger/unit-groups.ts'
import { NOTHING_HELD, planUnitHolds } from './limits/hold-back.ts'
import { planLanding } from './plan-landing.ts'
import type { TurnAction } from './turn-action.ts'
import { turnActions } from './turn-actions.ts'
import type { ObservedUnit, TurnObservation } from './turn-observation.ts'

export interface TurnPlan {
  readonly units: readonly UnitResult[]
  readonly decided: readonly DecidedUnit[]
  readonly actions: readonly TurnAction[]
}

interface FreePlan {
  readonly result: UnitResult
  readonly start: Observation | undefined
  readonly begun: number
}

/** @throws Unanswered: what has to be known first */
export function planTurn(observed: TurnObservation): TurnPlan {
  const planner = new TurnPlanner(observed)
  for (const unit of observed.cluster.units) planner.add(unit)
  return planner.turn()
}

export class TurnPlanner {
  private readonly observed: TurnObservation
  private readonly view: TurnView
  private readonly memory = new TurnMemory()
  private readonly free: FreePlan[] = []

  constructor(observed: TurnObservation) {
    this.observed = observed
    this.view = { ...observed.git, policies: observed.policy, proposals: observed.forge.proposals }
  }

  /** The next unit, in their order. @throws Unanswered: it is added again with the answer */
  add(unit: ObservedUnit): void {
    const free = this.planFreeUnit(unit)
    if (free.result.state === 'planned') this.memory.remember(free.result.plan)
    this.free.push(free)
  }

  /** After all units; again with each answer, until there is a plan. @throws Unanswered */
  turn(): TurnPlan {
    const { observed, view } = this
    const { git, cluster, forge, clock, purpose } = observed
    const free = this.share(this.free.map(({ result }) => result))
    const context = { view, ledger: git.ledger, ticks: forge.ticks, now: clock.observedAt }
    const { holds, storm } =
      purpose.resolutionRequest === undefined ? planUnitHolds(free.units, context) : NOTHING_HELD
    const { units: wanted, joints } =
      holds.size === 0 ? free : this.share(this.planHeldUnits(holds))
    // A decision writes only what it decides.
    const isDecision = purpose.resolutionRequest !== undefined
    const units = isDecision ? wanted : keepBack(wanted, git.refused ?? new Map())
    const planned = units.flatMap((unit) => (unit.state === 'planned' ? [unit] : []))
    const answered = [
      ...planned.flatMap(({ requests }) => requests),
      ...this.listUnplannedRequests(units),
    ]
    const decided = isDecision ? [] : decideUnobserved(cluster.inGit, this.memory)
    const clusters = isDecision ? [] : writesOfClusters(observed, units, decided)
    // What only looks writes nothing.
    if (purpose.observations) return { units, decided, actions: [] }
    const actions = turnActions({
      context: this.createProposalContext(answered),
      units,
      joints,
      clusters,
      decided,
      isDecision,
      waits:
        decided.every(({ plan }) => isNothing(plan.writes)) &&
        waitsForPace({ units, clusters }, clock.ledgerPushedAt, clock.present),
      storm,
      notObserved: cluster.notObserved,
      unobservedProposals: forge.unobservedProposals,
      answered,
      endedBranches: git.endedBranches,
      landing: planLanding(git, [...planned, ...decided], clock.observedAt || clock.present),
      settles:
        purpose.settles && view.policies.lastGood === undefined
          ? listPendingSettles({ units, view })
          : [],
      observed: cluster.observed.length > 0,
      now: clock.observedAt === '' ? clock.present : clock.observedAt,
    })
    return { units, decided, actions }
  }

  private createProposalContext(answered: readonly AnsweredRequests[]): ProposalContext {
    const { git, cluster, forge, purpose } = this.observed
    const { dialect } = forge
    const { version } = purpose
    return {
      view: this.view,
      dialect,
      forge: forge.hosted
        ? { dialect, version, codeOwners: git.codeOwners, ledger: git.ledger }
        : undefined,
      version,
      keepTexts: new Set([...answered.flatMap(listTickedAndWaiting), ...this.listWithheldTexts()]),
      notObserved: new Set(cluster.notObserved.map((one) => one.cluster)),
    }
  }

  /** While values are withheld, an open proposal's text would lose its values. */
  private listWithheldTexts(): readonly number[] {
    const { forge, policy } = this.observed
    if (!isWithheld(policy)) return []
    return [...forge.proposals.values()].flatMap(({ state, number }) =>
      state === 'open' ? [number] : [],
    )
  }

  private listUnplannedRequests(units: readonly UnitResult[]): readonly AnsweredRequests[] {
    const { forge, cluster, policy } = this.observed
    const planned = new Set(
      units.flatMap((unit) =>
        unit.state === 'planned' ? unit.requests.map(({ requests }) => requests) : [],
      ),
    )
    const failing: PlanUnit = () => {
      throw new TypeError('there is nothing to plan')
    }
    return forge.requests
      .filter((one) => !planned.has(one))
      .map((one) => {
        const { unit } = one
        const failed = units.find(
          (each) =>
            each.state === 'failed' &&
            each.cluster === unit.cluster &&
            each.packagePath === unit.packagePath,
        )
        const lost = cluster.notObserved.find((each) => each.cluster === unit.cluster)
        const failure =
          failed?.state === 'failed'
            ? failed.failures[0]
            : (lost?.failures[0] ?? createNothingThereFailure(unit.packageName))
        return planRequests(one, policy, failing, {
          observation: failure,
          resolutionRequest: undefined,
        })
      })
  }

  private planFreeUnit(unit: ObservedUnit): FreePlan {
    const begun = this.memory.begun.size
    if (unit.state === 'failed') return { result: unit, start: undefined, begun }
    const start = this.memory.refreshTags(unit.observation)
    return {
      result: this.planOne({ ...unit, observation: start }, unit, { begun: this.memory.begun }),
      start,
      begun,
    }
  }

  private planHeldUnits(holds: ReadonlyMap<string, Hold>): readonly UnitResult[] {
    return this.observed.cluster.units.map((unit, index) => {
      const { result, start, begun } = this.free[index] ?? fail()
      const hold =
        result.state === 'failed'
          ? undefined
          : holds.get(formatUnitKey(result.unit.cluster, result.unit.packagePath))
      if (unit.state === 'failed' || start === undefined || hold === undefined) return result
      return this.planOne({ ...unit, observation: start }, unit, {
        begun: new Set([...this.memory.begun].slice(0, begun)),
        hold,
      })
    })
  }

  private planOne(
    { observation: start, notes }: ObservedUnit & { readonly state: 'observed' },
    unit: ObservedUnit,
    options: Pick<PlanOptions, 'begun' | 'hold'>,
  ): UnitResult {
    const { observations } = this.observed.purpose
    const { cluster, packagePath } = start.unit
    const questions = this.createQuestions(unit, options.hold === undefined ? 'free' : 'held')
    const raised = raiseAgain(start, (fingerprint) =>
      this.observed.forge.ticks.raise.has(getDriftId(fingerprint)),
    )
    const first = raised?.observation ?? start
    return catchFailedUnit({ cluster, packagePath }, () => {
      if (!observations) assertOwnBase(first)
      // A read-only turn trusts the ledger: it writes no branch, and shows none of its content.
      const plan: PlanUnit = ({ observation, resolutionRequest }) =>
        observations
          ? questions.plan(observation, (one) => planReconcile(one, options))
          : planProven(observation, questions, { ...options, resolutionRequest })
      const { state, requests } = this.applyRequests(plan, {
        observation: first,
        resolutionRequest: this.findResolutionRequest(first, questions),
      })
      const { observation, resolutionRequest: resolutionSelectors } = state
      const created = addRaised(plan(state), raised)
      const refused = observations
        ? NOTHING_REFUSED
        : adoptRefusals(observation, created, questions)
      const adopted =
        this.observed.forge.hosted && !observations
          ? findUnitAdoptions(observation, created, questions)
          : undefined
      const all = [
        ...notes,
        ...createOtherBaseNotes(observation),
        ...createWaitingNotes(observation, created),
      ]
      return {
        state: 'planned',
        unit: observation.unit,
        observation,
        plan: created,
        resolutionRequest: resolutionSelectors,
        requests,
        notAdoptable: refused,
        ...(adopted === undefined ? {} : { adopted }),
        notes: all,
      }
    })
  }

  private createQuestions(unit: ObservedUnit, stage: string): UnitQuestions {
    return new UnitQuestions(this.observed.answers.get(unit), stage)
  }

  /** Selectors count changes as a plain turn lists them. */
  private findResolutionRequest(
    observation: Observation,
    questions: UnitQuestions,
  ): ResolutionRequest | undefined {
    const { resolutionRequest } = this.observed.purpose
    if (resolutionRequest === undefined) return undefined
    return questions.plan(observation, (one) =>
      resolveSelectors(resolutionRequest, planReconcile(one).report.spec.changes),
    )
  }

  private applyRequests(
    plan: PlanUnit,
    start: ObservedState,
  ): { readonly state: ObservedState; readonly requests: readonly AnsweredRequests[] } {
    const { cluster, packagePath } = start.observation.unit
    const isOwn = ({ unit }: ProposalRequests): boolean =>
      unit.cluster === cluster && unit.packagePath === packagePath
    const requests: AnsweredRequests[] = []
    let state = start
    for (const own of this.observed.forge.requests.filter(isOwn)) {
      const answered = planRequests(own, this.observed.policy, plan, state)
      requests.push(answered)
      const { observation, resolutionRequest } = answered.state
      if (!(observation instanceof Failure)) state = { observation, resolutionRequest }
    }
    return { state, requests }
  }

  /**
   * If git alone is the forge, each cluster has its own proposal: `approve` decides about one unit.
   */
  private share(units: readonly UnitResult[]): SharedProposals {
    if (!this.observed.forge.hosted) return { units, joints: new Map() }
    const { massMinClusters } = deriveRepositoryLimits(this.observed.policy)
    const locations = new Map(units.map((unit, index) => [unit, index]))
    const requested = new Map<UnitResult, UnitQuestions>()
    return shareProposals(units, massMinClusters, (unit, joint) => {
      const { observation, plan, resolutionRequest } = unit
      const others = new Set(
        [...this.memory.begun].filter((id) => id !== plan.record?.spec.episode),
      )
      const observed = this.observed.cluster.units[locations.get(unit) ?? -1]
      const questions =
        requested.get(unit) ??
        (observed === undefined ? fail() : this.createQuestions(observed, 'joint'))
      requested.set(unit, questions)
      return catchFailedUnit(observation.unit, () => ({
        ...unit,
        plan: questions.plan(observation, (one) =>
          planReconcile(one, { begun: others, joint, resolutionRequest }),
        ),
      }))
    })
  }
}

/** A unit that cannot be planned has failed, and the others have not. @throws Unanswered */
function catchFailedUnit(
  { cluster, packagePath }: Pick<Unit, 'cluster' | 'packagePath'>,
  plan: () => UnitResult,
): UnitResult {
  let planned: ReturnType<typeof attempt<UnitResult>>
  try {
    planned = attempt(plan)
  } catch (thrown) {
    return { state: 'failed', cluster, packagePath, failures: listFailures(thrown) }
  }
  if ('question' in planned) throw new Unanswered(planned.question)
  return planned.value
}

function listTickedAndWaiting({ requests, waiting }: AnsweredRequests): readonly number[] {
  return waiting.some(({ by }) => by === '') ? [requests.unit.proposal.number] : []
}

function fail(): never {
  throw new TypeError('every unit is planned')
}

function createNothingThereFailure(packageName: string): Failure {
  return new Failure({
    code: 'BP2004',
    what: `${packageName} is not observed`,
    why: 'no cluster of this installation runs the package',
    remedy: 'place it with a Placement in the policy',
    retry: 'on-change',
  })
}

/**
 * A branch without news is also rebuilt before it is trusted: the ledger may be edited, or written
 * by another version. A joint proposal is trusted by the ledger, because every unit would be built
 * for the check.
 */

/** @throws as `planReconcile`, and Unanswered */
export function planProven(
  observation: Observation,
  questions: UnitQuestions,
  options: PlanOptions = {},
): UnitPlan {
  const plan = (observed: Observation): UnitPlan =>
    questions.plan(observed, (one) => planReconcile(one, options))
  const first = plan(observation)
  const ref = `refs/heads/${first.branch}`
  const branch =
    first.outcome === 'unchanged' ? first.openBranches.find((open) => open.ref === ref) : undefined
  if (branch === undefined || branch.known !== true || branch.others.length > 0) return first
  const changes = questions.plan(observation, (one) => rebuildProposalFiles(one, branch))
  if (questions.isContent(branch, changes)) return first
  const branches = observation.git.branches.map((open) =>
    open.ref === ref ? { ...open, outdated: true } : open,
  )
  return plan({ ...observation, git: { ...observation.git, branches } })
}
