/**
 * The whole turn of design §2, which the command line, the controller and every dry run are: observe, plan, apply. A ref
 * that moved between reading and pushing makes it read and plan again, at most five times; nothing is ever forced.
 */
import { setImmediate } from 'node:timers/promises'
import { asFailure, type Failure, Failures, failuresOf } from '../failure.ts'
import { waitingNotes } from '../plan/already-decided.ts'
import { assertOwnBase, otherBaseNotes } from '../plan/base-branch.ts'
import { withoutForeignCommits } from '../plan/comment-recreate.ts'
import { type WishRequest, wishOf } from '../plan/comment-wish.ts'
import type { Hold } from '../plan/hold.ts'
import type { Observation } from '../plan/observation.ts'
import { type PlanOptions, planReconcile, type UnitPlan } from '../plan/plan-reconcile.ts'
import { unitKey } from '../plan/planned-unit.ts'
import { raiseAgain, withRaised } from '../plan/raise-again.ts'
import { TurnMemory } from '../plan/turn-memory.ts'
import { repositoryLimits } from '../policy/effective-policy.ts'
import type { ClusterReader } from '../ports/cluster.ts'
import type { Forge, OpenedProposal } from '../ports/hosted-forge.ts'
import type { PackageRepository, RefUpdate } from '../ports/package-repository.ts'
import { type DashboardTicks, driftId } from '../proposal/dashboard-ticks.ts'
import { adoptRefusals, NOTHING_REFUSED } from './adopt-refusals.ts'
import { type Board, readBoard } from './board.ts'
import { type ClusterWrites, type SeenClusters, writesOfClusters } from './cluster-turns.ts'
import { eachOf } from './each-of.ts'
import { holdsOf, NO_HOLDS, NOTHING_HELD } from './hold-back.ts'
import { judgeBranches, planProven } from './judge-branches.ts'
import { presentTime } from './observe.ts'
import { type LookRequest, lookAtCluster, lookAtRepository, type ObservedUnit, withFreshRefs } from './observe-units.ts'
import type { UnmanagedObjects } from './read-unmanaged.ts'
import type { RepositoryView } from './repository-view.ts'
import { type SharedProposals, shareProposals } from './share-proposals.ts'
import { tellBoard, tellOver } from './tell-dashboard.ts'
import { ensureProposals, isHosted, tellMovedBefore, tellNotObserved } from './tell-forge.ts'
import { tellOutcomes } from './tell-outcomes.ts'
import type { UnitResult } from './unit-result.ts'
import { type Answers, asking, withAnswers } from './with-answers.ts'
import { writeTurn } from './write-turn.ts'

export interface TurnPorts {
  readonly repository: PackageRepository
  readonly cluster: ClusterReader
  readonly forge: Forge
}

/** Several clusters that run packages of one repository. */
export interface FleetPorts {
  readonly repository: PackageRepository
  readonly clusters: readonly ClusterReader[]
  readonly forge: Forge
}

export interface TurnRequest extends LookRequest {
  readonly wish: WishRequest | undefined
  /** Discards the commits of people on the units' branches, and builds them anew: only where a person who may write asked for it. */
  readonly recreate?: boolean
  /** RFC 3339 UTC: nobody is to be reminded of the units' open proposals before. */
  readonly snoozeUntil?: string
  /** Takes clusters out of the joint proposals of these packages: a name, with `*` for any text. */
  readonly exclude?: string
  /** Version of backporch, for the texts of proposals. */
  readonly version: string
  /** Numbers of proposals whose text stays as it is in this turn: somebody's tick in it waits. */
  readonly keepTexts?: ReadonlySet<number>
  /** Plans and writes nothing. */
  readonly dryRun: boolean
}

export type { WishRequest }

export interface TurnResult {
  readonly view: RepositoryView
  /** RFC 3339 UTC: the latest observation of a cluster. */
  readonly observedAt: string
  /** Of all clusters, in their order. */
  readonly units: readonly UnitResult[]
  /** Clusters of which nothing could be observed. */
  readonly notObserved: readonly NotObserved[]
  /** Objects that nobody manages, for each cluster; empty where it was not asked for. */
  readonly unmanaged: readonly UnmanagedObjects[]
  /** What was pushed; empty in a dry run and when nothing was new. */
  readonly updates: readonly RefUpdate[]
  /** What the forge calls the open proposals, by branch. */
  readonly proposals: ReadonlyMap<string, OpenedProposal>
  /** Why the issues of the repository could not be written; nothing else depends on them. */
  readonly untold: readonly Failure[]
}

export interface NotObserved {
  readonly cluster: string
  readonly failures: readonly [Failure, ...Failure[]]
  /** RFC 3339 UTC: when it was looked at. */
  readonly at: string
}

/** Planning only computes. What else waits (an answer to a webhook, a connection's life) has its turn between two units. */
const otherWork = (): Promise<void> => setImmediate()

/** Clusters read at once. */
const CLUSTERS_AT_ONCE = 4

/** One cluster. @throws Failure when nothing at all could be done; failures of one package are in its result */
export async function runTurn(ports: TurnPorts, request: TurnRequest, signal: AbortSignal): Promise<TurnResult> {
  const result = await runFleetTurn({ ...ports, clusters: [ports.cluster] }, request, signal)
  const [failed] = result.notObserved
  if (failed === undefined) return result
  const [why] = failed.failures
  throw result.untold.length === 0 ? why : new Failures([why, ...result.untold])
}

/** A cluster that cannot be observed keeps what is open as it is, and holds up no other one. @throws Failure as `runTurn` */
export async function runFleetTurn(ports: FleetPorts, request: TurnRequest, signal: AbortSignal): Promise<TurnResult> {
  return withFreshRefs(async () => {
    const view = await lookAtRepository(ports, request, signal)
    const board = await readBoard(ports.forge, view, signal)
    const seen = await eachOf(ports.clusters, CLUSTERS_AT_ONCE, (cluster) => lookOrFail(view, cluster, request, signal))
    const notObserved = seen.flatMap((one) => ('failures' in one ? [one] : []))
    const observed = seen.flatMap((one) => ('failures' in one ? [] : [one]))
    const present = presentTime(request.clock)
    const observedAt = observed.reduce((latest, { identity }) => (identity.observedAt > latest ? identity.observedAt : latest), '')
    // Nothing was observed: then the time is that of the look.
    const now = observedAt === '' ? present : observedAt
    const judged = await judgeBranches(
      observed.flatMap((one) => one.units),
      { repository: ports.repository, renderer: request.renderer },
      signal,
    )
    const planAll = async (holds: ReadonlyMap<string, Hold>): Promise<SharedProposals> => {
      const memory = new TurnMemory()
      const planned: UnitResult[] = []
      for (const unit of judged) {
        planned.push(await planUnit(unit, request, { memory, holds, ticks: board.ticks, repository: ports.repository }, signal))
        await otherWork()
      }
      return isHosted(ports.forge) ? share(planned, view, request, memory, signal) : { units: planned, joints: new Map() }
    }
    const free = await planAll(NO_HOLDS)
    // What somebody asks for is never held.
    const { holds, storm } = request.wish === undefined ? await holdsOf(free.units, view, board, observedAt) : NOTHING_HELD
    const { units: shared, joints } = holds.size === 0 ? free : await planAll(holds)
    const unmanaged = observed.flatMap((one) => one.unmanaged ?? [])
    const result = { view, observedAt, units: shared, notObserved, unmanaged, updates: [], proposals: new Map(), untold: [] }
    if (request.dryRun) return result
    await tellNotObserved(ports.forge, view, result, request.bot, signal)
    const clusters = await ofClusters(view, board, { observed, notObserved, units: shared }, request, signal)
    request.onProgress?.('writing')
    await tellOutcomes(ports.forge, view, shared, signal)
    const told = { view, board, notObserved, storm, now, version: request.version, clusters }
    const over = await tellOver(ports.forge, { ...told, units: shared }, signal)
    await tellMovedBefore(ports.forge, view, joints, signal)
    const writing = writeTurn(ports.repository, shared, clusters, { head: view.ledger, at: now, pushed: view.pushed }, signal)
    if (observed.length === 0) {
      const unwritten = await writing.then(() => [], whyUnwritten)
      if (unwritten.length > 0) return { ...result, untold: [...over, ...unwritten] }
    }
    const { units: written, updates } = await writing
    const wrote = { units: written, updates, joints, notObserved, keepTexts: request.keepTexts ?? new Set<number>() }
    const { opened: proposals, units } = await ensureProposals(ports.forge, view, wrote, request.version, signal)
    const untold = over.length > 0 ? over : await tellBoard(ports.forge, { ...told, units }, proposals, signal)
    return { ...result, units, updates, proposals, untold }
  })
}

/** Why nothing was observed is more than that it could not be written down. @throws Failure BP4003, after which the turn begins again */
function whyUnwritten(thrown: unknown): Failure[] {
  const failure = asFailure(thrown)
  if (failure.code === 'BP4003') throw thrown
  return [failure]
}

/** Of a decision, only what it decides is written. */
async function ofClusters(
  view: RepositoryView,
  board: Board,
  seen: Omit<SeenClusters, 'now' | 'whole'>,
  { wish, clock, packages, labels, recreate, exclude, snoozeUntil }: TurnRequest,
  signal: AbortSignal,
): Promise<readonly ClusterWrites[]> {
  if ([wish, recreate, exclude, snoozeUntil].some((asked) => asked !== undefined)) return []
  const whole = packages.length === 0 && labels === undefined
  return writesOfClusters(view, board, { ...seen, now: presentTime(clock), whole }, signal)
}

/** One cluster, to decide about it. @throws Failure when nothing can be observed */
export async function observeUnits(
  ports: TurnPorts,
  request: LookRequest,
  signal: AbortSignal,
): Promise<{ readonly view: RepositoryView; readonly units: readonly ObservedUnit[] }> {
  const view = await lookAtRepository(ports, request, signal)
  const { units } = await lookAtCluster(view, ports.cluster, request, signal)
  return { view, units }
}

async function lookOrFail(
  view: RepositoryView,
  cluster: ClusterReader,
  request: LookRequest,
  signal: AbortSignal,
): Promise<Awaited<ReturnType<typeof lookAtCluster>> | NotObserved> {
  try {
    return await lookAtCluster(view, cluster, request, signal)
  } catch (thrown) {
    if (signal.aborted) throw thrown
    return { cluster: cluster.name, failures: failuresOf(thrown), at: presentTime(request.clock) }
  }
}

interface PlanGround {
  readonly memory: TurnMemory
  /** By `unitKey`. */
  readonly holds: ReadonlyMap<string, Hold>
  readonly ticks: DashboardTicks
  readonly repository: PackageRepository
}

async function planUnit(
  unit: ObservedUnit,
  request: TurnRequest,
  { memory, holds, ticks, repository }: PlanGround,
  signal: AbortSignal,
): Promise<UnitResult> {
  if (unit.state === 'failed') return unit
  const { dryRun, snoozeUntil, exclude } = request
  const { notes } = unit
  const raised = raiseAgain(memory.upToDate(unit.observation), (fingerprint) => ticks.raise.has(driftId(fingerprint)))
  const seen = raised?.observation ?? memory.upToDate(unit.observation)
  const observation = {
    ...seen,
    ...(snoozeUntil === undefined ? {} : { snoozeUntil }),
    ...(exclude === undefined ? {} : { exclude }),
  }
  const hold = holds.get(unitKey(observation.unit.cluster, observation.unit.packagePath))
  try {
    if (!dryRun) assertOwnBase(observation)
    const options = { begun: memory.begun, hold }
    const plan = withRaised(
      await planProven(
        observation,
        { repository, renderer: request.renderer },
        (one) => withAnswers(request.renderer, signal, (answers) => planAsked(asking(one, answers), request, options)),
        signal,
      ),
      raised,
    )
    memory.remember(plan)
    const notAdoptable = dryRun ? NOTHING_REFUSED : await adoptRefusals(observation, plan, request.renderer, signal)
    const told = [...notes, ...otherBaseNotes(observation), ...waitingNotes(observation, plan)]
    return { state: 'planned', unit: observation.unit, observation, plan, notAdoptable, notes: told }
  } catch (thrown) {
    signal.throwIfAborted()
    return { state: 'failed', cluster: observation.unit.cluster, packagePath: observation.unit.packagePath, failures: failuresOf(thrown) }
  }
}

function planAsked(observation: Observation, { wish, recreate }: TurnRequest, options: PlanOptions): UnitPlan {
  // Selectors count the changes as a plain turn lists them.
  if (wish !== undefined)
    return planReconcile(observation, { ...options, wish: wishOf(wish, planReconcile(observation).report.spec.changes) })
  const plan = planReconcile(observation, options)
  const taken = recreate === true && plan.outcome === 'foreign' && plan.report.status.state === 'Drifted'
  return taken ? planReconcile(withoutForeignCommits(observation), options) : plan
}

/** Where git alone is the forge, each cluster has a proposal of its own: `approve` decides about one unit. */
function share(
  units: readonly UnitResult[],
  { policies }: RepositoryView,
  request: TurnRequest,
  { begun }: TurnMemory,
  signal: AbortSignal,
): Promise<SharedProposals> {
  const how = { fewest: repositoryLimits(policies).massMinClusters, asked: request.wish !== undefined }
  return shareProposals(units, how, async (unit, joint) => {
    await otherWork()
    const { observation, plan } = unit
    const others = new Set([...begun].filter((id) => id !== plan.record?.spec.episode))
    try {
      const again = (answers: Answers) => planAsked(asking(observation, answers), request, { begun: others, joint })
      return { ...unit, plan: await withAnswers(request.renderer, signal, again) }
    } catch (thrown) {
      signal.throwIfAborted()
      return { state: 'failed', cluster: observation.unit.cluster, packagePath: observation.unit.packagePath, failures: failuresOf(thrown) }
    }
  })
}
