/** Observes clusters with a growing set of objects as the watching controller does, and reports the memory of the process by its parts. */
import { LocalForge } from '@backporch/forge/local-forge'
import { type JsonObject, parseJson } from '@backporch/kyaml/json'
import { createRedactionKey } from '@backporch/kyaml/redaction'
import type { LiveView, WantedObject } from '@backporch/kyaml/resource'
import { WorkerRenderer } from '../src/adapters/functions/worker-renderer.ts'
import { observeCluster, observeRepository } from '../src/reconcile/observe/observe-units.ts'
import { TurnCache } from '../src/reconcile/observe/turn-cache.ts'
import type { ObserveRequest } from '../src/reconcile/observe/turn-request.ts'
import { ClusterVerdicts } from '../src/reconcile/observe/verdicts/cluster-verdicts.ts'
import { RetainedJudges } from '../src/reconcile/observe/verdicts/retained-judges.ts'
import { appliedBy } from '../test/fakes/live-object.ts'
import { MemoryCluster } from '../test/fakes/memory-cluster.ts'
import { MemoryRepository } from '../test/fakes/memory-repository.ts'
import { turnRequest } from '../test/fakes/turn-request.ts'
import { answerQuestions, settledMemory } from './fleet-messages.ts'
import { generate, repositoryFiles } from './generate.ts'
import { epochsOf } from './in-sync.ts'

const MANAGER = 'bench'
const key = createRedactionKey(new Uint8Array(32).fill(7))

/** All clusters have the same objects, and every read creates new ones, as a response does. */
class SharedCluster extends MemoryCluster {
  private readonly texts: ReadonlyMap<string, string>

  constructor(name: string, texts: ReadonlyMap<string, string>) {
    super(name)
    this.uid = `uid of ${name}`
    this.texts = texts
  }

  override async readLive(wanted: readonly WantedObject[]): Promise<LiveView> {
    for (const [place, text] of this.texts) this.objects.set(place, parseJson(text) as JsonObject)
    try {
      return await super.readLive(wanted)
    } finally {
      this.objects.clear()
    }
  }
}

interface Question {
  /** Of each cluster. */
  readonly objects: number
  readonly perPackage: number
  readonly clusters: readonly number[]
  readonly seed: number
}

async function observeAll({ objects, perPackage, clusters, seed }: Question) {
  const packages = generate({ objects, objectsPerPackage: perPackage, seed })
  const repository = new MemoryRepository()
  repository.commitByHand('main', repositoryFiles(packages))
  const source = new MemoryCluster('source')
  for (const object of packages.flatMap((one) => one.objects))
    source.put(appliedBy(MANAGER, JSON.parse(JSON.stringify(object)) as JsonObject))
  const texts = new Map(
    [...source.objects].map(([place, object]) => [place, JSON.stringify(object)]),
  )
  source.objects.clear()
  const between = new TurnCache()
  const renderer = new WorkerRenderer({
    allowed: { exec: [], images: [] },
    engine: undefined,
    environment: {},
  })
  const request: ObserveRequest = turnRequest({
    packages: [],
    clock: { now: () => new Date() },
    key,
    bot: { email: 'bot@example.com' },
    renderer,
    between,
    fieldManager: MANAGER,
  })
  const observe = async (number: number): Promise<void> => {
    const cluster = new SharedCluster(`cluster-${number}`, texts)
    if (!between.clusters.has(cluster.name))
      between.clusters.set(cluster.name, epochsOf(new ClusterVerdicts(key, Math.random, undefined)))
    const { signal } = new AbortController()
    const view = await observeRepository(
      { repository, forge: new LocalForge(repository) },
      request,
      signal,
    )
    const { units } = await observeCluster(view, cluster, request, signal)
    const verdicts = units.flatMap((unit) =>
      unit.state === 'observed' ? unit.observation.verdicts : [],
    )
    const other = verdicts.find(({ state }) => state !== 'in-sync')
    if (verdicts.length !== objects || other !== undefined)
      throw new Error(
        `${verdicts.length} of ${objects} objects, ${JSON.stringify(other ?? units[0])}`.slice(
          0,
          2_000,
        ),
      )
  }
  const total = async (): Promise<number> => {
    const { heap, external } = await settledMemory()
    return heap + external
  }
  const sizes: { readonly objects: number; readonly bytes: number }[] = []
  for (const count of clusters) {
    for (let number = between.clusters.size; number < count; number += 1) await observe(number)
    sizes.push({ objects: objects * count, bytes: await total() })
  }
  const parts: Record<string, number> = {}
  const rows = [...between.clusters.values()].reduce((sum, { table }) => sum + table.size, 0)
  let left = await total()
  const without = async (name: string, drop: () => unknown): Promise<void> => {
    drop()
    const now = await total()
    parts[name] = left - now
    left = now
  }
  const empty = new TurnCache()
  const results = { units: undefined, watchedUnits: undefined }
  await without('results about units', () => Object.assign(between, results))
  await without('answers of dry runs', () =>
    Object.assign(between, { verdicts: empty.verdicts, creations: empty.creations }),
  )
  await without('last differences', () => Object.assign(between, { lastDrift: empty.lastDrift }))
  await without('judges of single changes', () => RetainedJudges.clear())
  await without('rows', () => between.clusters.clear())
  await without('rendered packages', () => Object.assign(renderer, { cache: undefined }))
  return { sizes, parts, rows }
}

answerQuestions({ observe: observeAll })
