/** What objects cost that are missing or drifted: dry runs of a real API server, counted over turns. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { connectCluster } from '@backporch/cluster/connect-cluster'
import { LocalForge } from '@backporch/forge/local-forge'
import { createRedactionKey } from '@backporch/kyaml/redaction'
import { observeCluster, observeRepository } from '../../src/reconcile/observe/observe-units.ts'
import { TurnCache } from '../../src/reconcile/observe/turn-cache.ts'
import { create, realClock } from '../apiserver/live-cluster.ts'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { InProcessRenderer } from '../fakes/in-process-renderer.ts'
import { BOT_EMAIL, MemoryRepository } from '../fakes/memory-repository.ts'
import { turnRequest } from '../fakes/turn-request.ts'

const MANY = 60

/** A process that lives on. Each call is a turn: the dry runs that it asked for, and how many objects are in which state. */
async function turns(t: TestContext, { kubeconfig }: ControlPlane, repository: MemoryRepository) {
  // A request that a busy server did not take is sent again: it is one dry run.
  const requested = new Set<string>()
  const trace = ({ what }: { readonly what: string }): void => {
    if (what.startsWith('PATCH ')) requested.add(what)
  }
  const { reader, close } = await connectCluster({
    kubeconfig,
    environment: {},
    clock: realClock,
    version: 'test',
    trace,
  })
  t.after(close)
  const request = turnRequest({
    fieldManager: 'ci',
    key: createRedactionKey(new Uint8Array(32).fill(7)),
    clock: realClock,
    bot: { email: BOT_EMAIL },
    renderer: new InProcessRenderer(),
    between: new TurnCache(),
  })
  const { signal } = new AbortController()
  return async () => {
    requested.clear()
    const view = await observeRepository(
      { repository, forge: new LocalForge(repository) },
      request,
      signal,
    )
    const { units } = await observeCluster(view, reader, request, signal)
    const [unit] = units
    assert.ok(unit?.state === 'observed')
    const { verdicts } = unit.observation
    const states = new Map<string, number>()
    for (const { state } of verdicts) states.set(state, (states.get(state) ?? 0) + 1)
    const live = verdicts.find(({ id }) => id.name === 'd0')?.items.map((item) => item.live)
    return {
      dryRuns: requested.size,
      ...Object.fromEntries(states),
      ...(live === undefined ? {} : { live }),
    }
  }
}

await controlPlaneSuite('dry runs over turns', {}, (plane) => {
  test('sends a dry run for a missing object only when it or its namespace changes', async (t) => {
    const namespace = await plane.namespace('missing')
    const config = (name: string, color: string): string =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${namespace}}\ndata: {color: ${color}}\n`
    const repository = new MemoryRepository()
    const all = Array.from({ length: MANY }, (_one, index) => config(`c${index}`, 'red'))
    // The server takes no such name, so this one is blocked.
    const blocked = `apiVersion: v1\nkind: Service\nmetadata: {name: blocked, namespace: ${namespace}}\nspec: {ports: [{port: 0}]}\n`
    repository.commitByHand('main', {
      'apps/web/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: web}\n',
      'apps/web/all.yaml': [...all, blocked].join('---\n'),
    })
    const turn = await turns(t, plane, repository)
    const same = { drifted: MANY, blocked: 1 }
    assert.deepEqual(await turn(), { dryRuns: MANY + 1, ...same })
    for (let again = 0; again < 3; again += 1)
      assert.deepEqual(await turn(), { dryRuns: 0, ...same })
    // One object is another one in git.
    repository.commitByHand('main', {
      'apps/web/all.yaml': [config('c0', 'blue'), ...all.slice(1), blocked].join('---\n'),
    })
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
    repository.commitByHand('main', {
      'apps/web/all.yaml': [...all.slice(0, -1), config('last', 'red'), blocked].join('---\n'),
    })
    await turn()
    assert.deepEqual(await turn(), { dryRuns: 1, blocked: MANY + 1 })
  })

  test('sends a dry run for a drifted object only when it changes in git or in the cluster', async (t) => {
    const namespace = await plane.namespace('drifted')
    const path = `/api/v1/namespaces/${namespace}/configmaps`
    const names = Array.from({ length: MANY }, (_one, position) => `d${position}`)
    const config = (name: string, color: string) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace },
      data: { color },
    })
    const patch = async (
      name: string,
      query: string,
      body: object,
      type: string,
    ): Promise<void> => {
      const { status } = await plane.request('PATCH', `${path}/${name}?${query}`, {
        body,
        contentType: `application/${type}`,
      })
      assert.ok(status < 300, String(status))
    }
    const apply = (name: string, color: string) =>
      patch(name, 'fieldManager=ci&force=true', config(name, color), 'apply-patch+yaml')
    const edit = (name: string, body: object) =>
      patch(name, 'fieldManager=kubectl-edit', body, 'merge-patch+json')
    const repository = new MemoryRepository()
    // What SOPS encrypted, and the syncer applied decrypted.
    const enc = (text: string): string =>
      `ENC[AES256_GCM,data:${text},iv:c29tZSBpdg==,tag:c29tZSB0YWc=,type:str]`
    const encrypted = {
      ...config('sealed', enc('cmVk')),
      sops: { mac: enc('bWFj'), version: '3.9.4' },
    }
    const commit = (first: string): void => {
      const objects = [
        ...names.map((name, offset) => config(name, offset === 0 ? first : 'red')),
        config('bare', 'red'),
        encrypted,
      ]
      repository.commitByHand('main', {
        'apps/web/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: web}\n',
        'apps/web/all.yaml': objects.map((object) => JSON.stringify(object)).join('\n---\n'),
      })
    }
    commit('red')
    for (const name of [...names, 'sealed']) {
      await apply(name, 'red')
      await edit(name, { data: { color: 'blue' } })
    }
    // Without managers, so that a dry run of its creation is asked for too.
    await create(plane, path, {
      metadata: { name: 'bare' },
      data: { color: 'blue', size: 'large' },
    })
    await edit('bare', { metadata: { managedFields: [{}] } })
    const turn = await turns(t, plane, repository)
    const drifted = MANY + 2
    assert.deepEqual(await turn(), { dryRuns: MANY + 3, drifted, live: ['blue'] })
    for (let again = 0; again < 3; again += 1)
      assert.deepEqual(await turn(), { dryRuns: 0, drifted, live: ['blue'] })
    await edit('d0', { data: { color: 'green' } })
    assert.deepEqual(await turn(), { dryRuns: 1, drifted, live: ['green'] })
    assert.deepEqual(await turn(), { dryRuns: 0, drifted, live: ['green'] })
    commit('black')
    assert.deepEqual(await turn(), { dryRuns: 1, drifted, live: ['green'] })
    assert.deepEqual(await turn(), { dryRuns: 0, drifted, live: ['green'] })
    // Ownership proves what the syncer applied.
    await apply('d0', 'black')
    assert.deepEqual(await turn(), { dryRuns: 0, drifted: MANY + 1, 'in-sync': 1, live: [] })
  })
})
