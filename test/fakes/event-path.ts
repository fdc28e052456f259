/** A fleet that is reconciled as the controller does it: changes name units, and a turn is about these. */
import type { Failure } from '@backporch/kyaml/failure'
import { createRedactionKey } from '@backporch/kyaml/redaction'
import { WorkerRenderer } from '../../src/adapters/functions/worker-renderer.ts'
import { createFailingCluster } from '../../src/cli/session/turn-session.ts'
import { TurnIntake, type TurnScope } from '../../src/controller/turn-intake.ts'
import { TurnCache } from '../../src/reconcile/observe/turn-cache.ts'
import type { Meanwhile, OnlyUnits } from '../../src/reconcile/observe/turn-request.ts'
import type { ClusterVerdicts } from '../../src/reconcile/observe/verdicts/cluster-verdicts.ts'
import { pollRepository, type RepositoryDigest } from '../../src/reconcile/turn/poll-repository.ts'
import { NO_REQUESTED_ACTIONS } from '../../src/reconcile/turn/requests/observe-requests.ts'
import { runFleetTurn, type TurnResult } from '../../src/reconcile/turn/run-turn.ts'
import type { FleetWorld } from './fleet-world.ts'
import { MemoryWatch } from './memory-watch.ts'

const NEVER = 1e12
const MINUTE = 60_000

export class EventPath {
  readonly world: FleetWorld
  readonly watches = new Map<string, MemoryWatch>()
  readonly between = new TurnCache()
  readonly intake: TurnIntake
  /** What each turn was about, as text. */
  readonly scopes: string[] = []
  /** What a turn ended with that could do nothing. */
  readonly failures: unknown[] = []
  onSight: (cluster: string, why: string | undefined) => void = () => undefined
  /** What changes while its turns write. */
  meanwhile: Meanwhile | undefined
  private readonly key = createRedactionKey(new Uint8Array(32).fill(7))
  private readonly renderer = new WorkerRenderer({
    allowed: { exec: [], images: [] },
    engine: undefined,
    environment: {},
  })
  private readonly signal = new AbortController().signal

  constructor(world: FleetWorld, options = { interval: MINUTE, resync: NEVER }) {
    this.world = world
    const ports = {
      openWatch: async (name: string, observer: ConstructorParameters<typeof MemoryWatch>[1]) => {
        const cluster = world.clusters.find((each) => each.name === name)
        if (cluster === undefined) throw new TypeError(`no cluster ${name}`)
        const watch = new MemoryWatch(cluster, observer)
        this.watches.set(name, watch)
        return watch
      },
      loadVerdicts: async () => undefined,
      saveVerdicts: async () => undefined,
      now: () => Date.parse(world.cluster(0).now),
      random: () => 0.5,
      onVerdict: () => undefined,
      onSight: (cluster: string, why: string | undefined) => this.onSight(cluster, why),
    }
    this.intake = new TurnIntake(ports, options, this.between, () => undefined)
  }

  async open(): Promise<void> {
    const names = this.world.clusters.map(({ name }) => name)
    await this.intake.open(names, this.key, this.signal)
  }

  verdicts(cluster: string): ClusterVerdicts {
    const verdicts = this.between.clusters.get(cluster)
    if (verdicts === undefined) throw new TypeError(`${cluster} is not watched`)
    return verdicts
  }

  /** What waits is told, and the turn that it names runs. */
  async round(): Promise<TurnScope> {
    await this.deliver()
    return this.turn()
  }

  async deliver(): Promise<void> {
    for (const watch of this.watches.values()) watch.deliver()
    // A change is judged in a few steps.
    for (let step = 0; step < 3; step += 1) await new Promise((resolve) => setImmediate(resolve))
  }

  /** One turn about what is named, or none. */
  async turn(): Promise<TurnScope> {
    const began = performance.now()
    const scope = await this.intake.chooseNextScope(() => this.poll())
    this.scopes.push(textOf(scope))
    if (scope.about === 'nothing') return scope
    let result: TurnResult | undefined
    try {
      result = await wholeTurn(this.world, {
        unreachable: this.intake.listUnreachable(),
        between: this.between,
        key: this.key,
        renderer: this.renderer,
        watched: this.intake.listSeen(),
        ...(this.meanwhile === undefined ? {} : { meanwhile: this.meanwhile }),
        ...(scope.about === 'units' ? { only: scope.only } : {}),
      })
    } catch (thrown) {
      this.failures.push(thrown)
    }
    await this.intake.finishTurn(scope, result, began)
    return scope
  }

  private poll(): Promise<RepositoryDigest> {
    const { repository, forge, clusters } = this.world
    const request = this.world.request({
      requestedActions: NO_REQUESTED_ACTIONS,
      between: this.between,
    })
    return pollRepository({ repository, forge, clusters }, request, this.signal)
  }
}

/** Without `only`, a turn about everything. @param unreachable clusters that are not asked, and why */
export function wholeTurn(
  world: FleetWorld,
  {
    unreachable = new Map(),
    ...more
  }: {
    readonly only?: OnlyUnits
    readonly unreachable?: ReadonlyMap<string, Failure>
  } & Parameters<FleetWorld['request']>[0] = {},
): Promise<TurnResult> {
  const { repository, forge } = world
  const request = world.request({ ...more, requestedActions: NO_REQUESTED_ACTIONS })
  const clusters = world.clusters.map((cluster) => {
    const failure = unreachable.get(cluster.name)
    return failure === undefined ? cluster : createFailingCluster(cluster.name, failure)
  })
  return runFleetTurn({ repository, forge, clusters }, request, new AbortController().signal)
}

function textOf(scope: TurnScope): string {
  if (scope.about !== 'units') return scope.about
  return [...scope.only]
    .map(([cluster, units]) => `${cluster}: ${units === 'all' ? units : [...units].join(' ')}`)
    .join(', ')
}
