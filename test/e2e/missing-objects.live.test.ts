/** What objects that are not there cost: dry runs of a real API server, counted over turns. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LocalForge } from '../../src/adapters/forge/local/local-forge.ts'
import { InProcessRenderer } from '../../src/adapters/functions/in-process-renderer.ts'
import { connectCluster } from '../../src/adapters/kubernetes/connect-cluster.ts'
import { redactionKey } from '../../src/krm/redacted.ts'
import { BetweenTurns } from '../../src/reconcile/between-turns.ts'
import { lookAtCluster, lookAtRepository } from '../../src/reconcile/observe-units.ts'
import { create, realClock } from '../apiserver/live-cluster.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { BOT_EMAIL, MemoryRepository } from '../fakes/memory-repository.ts'

const MANY = 60

await controlPlaneSuite('what is missing', {}, (plane) => {
  test('a missing object costs a dry run when it or its namespace changes, and none while nothing does', async (t) => {
    const namespace = await plane.namespace('missing')
    const config = (name: string, color: string): string =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${namespace}}\ndata: {color: ${color}}\n`
    const repository = new MemoryRepository()
    const all = Array.from({ length: MANY }, (_one, place) => config(`c${place}`, 'red'))
    // The server takes no such name, so this one is blocked.
    const blocked = `apiVersion: v1\nkind: Service\nmetadata: {name: blocked, namespace: ${namespace}}\nspec: {ports: [{port: 0}]}\n`
    repository.commitByHand('main', {
      'apps/web/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: web}\n',
      'apps/web/all.yaml': [...all, blocked].join('---\n'),
    })
    let dryRuns = 0
    const trace = ({ what }: { readonly what: string }): void => {
      if (what.startsWith('PATCH ')) dryRuns += 1
    }
    const { reader, close } = await connectCluster({
      kubeconfig: plane.kubeconfig,
      environment: {},
      clock: realClock,
      version: 'test',
      trace,
    })
    t.after(close)
    const request = {
      branch: undefined,
      packages: [],
      fieldManager: 'ci',
      key: redactionKey(new Uint8Array(32).fill(7)),
      clock: { now: () => new Date() },
      bot: { email: BOT_EMAIL },
      renderer: new InProcessRenderer(),
      between: new BetweenTurns(),
    }
    const { signal } = new AbortController()
    const turn = async () => {
      dryRuns = 0
      const view = await lookAtRepository({ repository, forge: new LocalForge(repository) }, request, signal)
      const { units } = await lookAtCluster(view, reader, request, signal)
      const [unit] = units
      assert.ok(unit?.state === 'observed')
      const states = new Map<string, number>()
      for (const { state } of unit.observation.verdicts) states.set(state, (states.get(state) ?? 0) + 1)
      return { dryRuns, ...Object.fromEntries(states) }
    }
    const same = { drifted: MANY, blocked: 1 }
    assert.deepEqual(await turn(), { dryRuns: MANY + 1, ...same })
    for (let again = 0; again < 3; again += 1) assert.deepEqual(await turn(), { dryRuns: 0, ...same })
    // One object is another one in git.
    repository.commitByHand('main', { 'apps/web/all.yaml': [config('c0', 'blue'), ...all.slice(1), blocked].join('---\n') })
    assert.deepEqual(await turn(), { dryRuns: 1, ...same })
    // One was made, and is gone again: nothing about it is new.
    const path = `/api/v1/namespaces/${namespace}/configmaps`
    await create(plane, path, { metadata: { name: 'c1' }, data: { color: 'red' } })
    await turn()
    await plane.request('DELETE', `${path}/c1`)
    assert.deepEqual(await turn(), { dryRuns: 0, ...same })
    // The namespace goes: the next object that is asked for tells it, and then one speaks for all.
    await create(plane, path, { metadata: { name: 'holds', finalizers: ['example.com/holds'] } })
    await plane.request('DELETE', `/api/v1/namespaces/${namespace}`)
    repository.commitByHand('main', { 'apps/web/all.yaml': [...all.slice(0, -1), config('last', 'red'), blocked].join('---\n') })
    await turn()
    assert.deepEqual(await turn(), { dryRuns: 1, blocked: MANY + 1 })
  })
})
