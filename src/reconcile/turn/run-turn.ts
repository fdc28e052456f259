/**
 * Runs a turn as in design §2: observe, plan, apply. If a ref moves between read and push, the turn
 * reads and plans again, at most five times; nothing is ever forced.
 */
import { Failures } from '@backporch/kyaml/failure'
import type { TurnPlan } from '../../plan/turn/plan-turn.ts'
import { applyOutcomes, getActionKey } from '../../plan/turn/pushed-units.ts'
import type { SettleAction } from '../../plan/turn/turn-action.ts'
import type { NotObserved } from '../../plan/turn/turn-observation.ts'
import type { UnitResult } from '../../plan/unit/unit-result.ts'
import { assertNewestPolicy } from '../../policy/last-good-policy.ts'
import { formatPresentTime } from '../observe/observe.ts'
import { retryWithFreshRefs } from '../observe/observe-units.ts'
import { ProposalTurns } from '../observe/proposal-turns.ts'
import type { UnmanagedObjects } from '../observe/read-unmanaged.ts'
import { RefusedRefs } from '../observe/refused-refs.ts'
import type { FleetPorts, TurnPorts, TurnRequest } from '../observe/turn-request.ts'
import type { RepositoryView } from '../repository/repository-view.ts'
import { applyTurn, type WrittenActions } from './apply-turn.ts'
import { observeTurn } from './observe-turn.ts'
import { proveTurn } from './prove-turn.ts'
import type { RequestObstacles } from './requests/observe-requests.ts'
import { settleDecisions } from './settle.ts'

export interface TurnResult extends WrittenActions {
  /** Of all clusters, in their order. A unit whose push or proposal was refused has the reason. */
  readonly units: readonly UnitResult[]
  /** Units whose proposals are left to the next turn. */
  readonly postponed: readonly UnitResult[]
  readonly view: RepositoryView
  /** RFC 3339 UTC, of any cluster. */
  readonly observedAt: string | undefined
  /** What was planned, and about units that could not be observed what people decided. */
  readonly plan: Pick<TurnPlan, 'actions' | 'decided'>
  readonly notObserved: readonly NotObserved[]
  readonly unmanaged: readonly UnmanagedObjects[]
}

/** @throws Failure when nothing could be done; not for one package */
export async function runTurn(
  ports: TurnPorts,
  request: TurnRequest,
  signal: AbortSignal,
): Promise<TurnResult> {
  const result = await runFleetTurn({ ...ports, clusters: [ports.cluster] }, request, signal)
  assertObserved(result)
  return result
}

/** @throws Failure why the only cluster could not be observed */
export function assertObserved({ notObserved: [failed], reported }: TurnResult): void {
  if (failed === undefined) return
  const [why] = failed.failures
  throw reported.length === 0 ? why : new Failures([why, ...reported])
}

/**
 * An unobservable cluster keeps its open proposals unchanged, and blocks no other.
 * @throws Failure as `runTurn`
 */
export async function runFleetTurn(
  ports: FleetPorts,
  request: TurnRequest,
  signal: AbortSignal,
): Promise<TurnResult> {
  const obstacles: RequestObstacles = { changed: new Set(), unread: new Map() }
  const refusedRefs =
    request.mode === 'apply'
      ? (request.between?.refusedRefs ?? new RefusedRefs())
      : new RefusedRefs()
  return retryWithFreshRefs(async () => {
    const { view, observed, unmanaged } = await observeTurn(
      ports,
      { ...request, obstacles, refusedRefs },
      signal,
    )
    const { lastGood } = view.policies
    if (request.forge.resolutionRequest !== undefined)
      assertNewestPolicy(view.policies, 'nothing is proposed')
    const { units, decided, actions } = await proveTurn(
      observed,
      { repository: ports.repository, renderer: request.renderer },
      signal,
    )
    const { observedAt, present } = observed.clock
    const { notObserved } = observed.cluster
    const plan = { actions, decided }
    const result = { view, observedAt, plan, notObserved, unmanaged }
    if (request.mode === 'read') return { ...result, units, ...NOTHING_APPLIED }
    const dryRun = request.mode === 'rehearse'
    if (!dryRun) request.onProgress?.('writing')
    const settle = (action: SettleAction) => settleDecisions(ports, request, action, signal)
    const { refused, unmoved, postponed, ...applied } = await applyTurn(
      actions,
      {
        ...{ ...ports, settle, obstacles, refusedRefs, view, dryRun },
        proposalTurns: request.between?.proposalTurns ?? new ProposalTurns(),
        meanwhile: request.forge.meanwhile,
        ...{
          requestedActions: request.forge.requestedActions,
          at: observedAt ?? present,
          now: request.clock.now().getTime(),
        },
      },
      signal,
    )
    request.between?.rememberPush(applied.updates, formatPresentTime(request.clock))
    const isDecision = observed.purpose.resolutionRequest !== undefined
    const left = new Map(
      units.flatMap((unit) => (unit.state === 'planned' ? [[getActionKey(unit.unit), unit]] : [])),
    )
    return {
      ...result,
      ...applied,
      units: applyOutcomes(units, { refused, unmoved }, isDecision),
      postponed: postponed.flatMap((unit) => left.get(getActionKey(unit)) ?? []),
      reported: [...(lastGood === undefined ? [] : [lastGood.failure]), ...applied.reported],
    }
  })
}

const NOTHING_APPLIED = {
  updates: [],
  proposals: new Map(),
  postponed: [],
  reported: [],
  written: [],
  answers: [],
  settled: [],
  unsettled: [],
}
