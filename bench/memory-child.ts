/** Keeps objects of list pages in one form, or follows kinds, and reports its memory. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { WatchedKind } from '@backporch/cluster/cluster-watch'
import { connectCluster } from '@backporch/cluster/connect-cluster'
import { type JsonObject, parseJson } from '@backporch/kyaml/json'
import { createRedactionKey } from '@backporch/kyaml/redaction'
import { systemClock } from '../src/adapters/system/system-clock.ts'
import { ClusterFollower } from '../src/reconcile/observe/verdicts/cluster-follower.ts'
import { ClusterVerdicts } from '../src/reconcile/observe/verdicts/cluster-verdicts.ts'
import { answerQuestions, settledMemory } from './fleet-messages.ts'
import { epochsOf, keepInSync } from './in-sync.ts'

export type Form = 'rows' | 'parsed' | 'without managedFields' | 'text'

const key = createRedactionKey(new Uint8Array(32).fill(7))
/** References that keep the objects from garbage collection. */
const kept: unknown[] = []

function* pagesIn(folder: string, count: number): Generator<readonly JsonObject[]> {
  for (let page = 0; page < count; page += 1)
    yield (
      parseJson(readFileSync(join(folder, `${page}.json`), 'utf8')) as {
        readonly items: readonly JsonObject[]
      } & JsonObject
    ).items
}

function nameOf(object: JsonObject): { readonly key: string; readonly unit: string } {
  const { namespace, name } = object['metadata'] as {
    readonly namespace: string
    readonly name: string
  } & JsonObject
  return {
    key: `${String(object['kind'])}/${namespace}/${name}`,
    unit: `apps/${namespace.slice('bench-'.length)}`,
  }
}

function keepRows(folder: string, pages: number): void {
  const verdicts = epochsOf(new ClusterVerdicts(key, Math.random, undefined))
  kept.push(verdicts)
  for (const items of pagesIn(folder, pages))
    for (const [unit, objects] of Map.groupBy(items, (object) => nameOf(object).unit))
      keepInSync(verdicts, unit, objects, Date.now())
}

function keepObjects(form: Form, folder: string, pages: number): void {
  const objects = new Map<string, unknown>()
  kept.push(objects)
  for (const items of pagesIn(folder, pages))
    for (const object of items) {
      const { managedFields: _fields, ...metadata } = object['metadata'] as JsonObject
      if (form === 'parsed') objects.set(nameOf(object).key, object)
      // In separate memory, as a watch delivers it.
      else if (form === 'text')
        objects.set(nameOf(object).key, Buffer.from(JSON.stringify(object)).toString('latin1'))
      else objects.set(nameOf(object).key, { ...object, metadata })
    }
}

answerQuestions({
  keep: async ({ form, folder, pages }: { form: Form; folder: string; pages: number }) => {
    const before = await settledMemory()
    const began = performance.now()
    if (form === 'rows') keepRows(folder, pages)
    else keepObjects(form, folder, pages)
    const milliseconds = performance.now() - began
    const peak = process.resourceUsage().maxRSS * 1024
    const after = await settledMemory()
    return {
      bytes: after.heap + after.external - before.heap - before.external,
      peak: peak - before.rss,
      milliseconds,
      kept: kept.length,
    }
  },
  watch: async ({
    kubeconfig,
    steps,
  }: {
    kubeconfig: string
    steps: readonly (readonly WatchedKind[])[]
  }) => {
    const cluster = connectCluster({
      kubeconfig,
      environment: {},
      clock: systemClock,
      version: 'bench',
    })
    const verdicts = epochsOf(new ClusterVerdicts(key, Math.random, undefined))
    const watch = cluster.watch(
      new ClusterFollower({ verdicts, now: () => Date.now(), onChange: () => {} }),
    )
    kept.push(watch)
    const found = []
    for (const kinds of steps) {
      watch.follow(kinds)
      while (watch.state().some(({ state }) => state !== 'watching')) await sleep(50)
      await sleep(1_000)
      found.push({ kinds: kinds.length, memory: await settledMemory() })
    }
    return found
  },
})
