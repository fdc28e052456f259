import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UNKNOWN_SCHEMA } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { readResource } from '@backporch/kyaml/resource'
import type { ObjectVerdict } from '../../../drift/compare/drift.ts'
import { type JudgedObject, RetainedJudges } from './retained-judges.ts'

function judged(object: JsonObject): JudgedObject {
  const resource = readResource(object)
  assert.ok(!('problem' in resource))
  return { desired: resource as JudgedObject['desired'], schema: UNKNOWN_SCHEMA }
}

function object(kind: string): JsonObject {
  return { apiVersion: 'v1', kind, metadata: { namespace: 'shop', name: 'web' } }
}

test('an object from a watch is evaluated directly, but a Secret never, for lack of its content', async () => {
  const judges = new RetainedJudges()
  const asked: string[] = []
  const judge = {
    judge: async ({ desired }: { readonly desired: JudgedObject['desired'] }) => {
      asked.push(desired.id.kind)
      return { id: desired.id, state: 'in-sync' } as ObjectVerdict
    },
  }
  judges.keep('apps/web', {
    objects: [judged(object('ConfigMap')), judged(object('Secret'))],
    at: () => judge,
    syncer: undefined,
    syncerOf: () => undefined,
  })
  const { signal } = new AbortController()
  assert.equal(
    (await judges.judge('apps/web', object('ConfigMap'), '', signal))?.verdict.state,
    'in-sync',
  )
  assert.equal(await judges.judge('apps/web', object('Secret'), '', signal), undefined)
  assert.equal(await judges.judge('apps/web', object('Service'), '', signal), undefined)
  assert.equal(await judges.judge('apps/other', object('ConfigMap'), '', signal), undefined)
  assert.deepEqual(asked, ['ConfigMap'])
})

const LIVE = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'shop' } }
const OBJECT = {
  desired: { id: { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'a' }, apiVersion: 'v1' },
} as unknown as JudgedObject
const { signal } = new AbortController()

function keep(judges: RetainedJudges, unit: string, state: string, count = 1): void {
  const judge = { judge: async () => ({ state }) as ObjectVerdict }
  const others = Array.from({ length: count - 1 }, (_none, index) => ({
    desired: {
      id: { group: '', kind: 'ConfigMap', namespace: 'shop', name: `c${index}` },
      apiVersion: 'v1',
    },
  })) as unknown as readonly JudgedObject[]
  judges.keep(unit, {
    objects: [OBJECT, ...others],
    at: () => judge,
    syncer: undefined,
    syncerOf: () => undefined,
  })
}

async function stateOf(judges: RetainedJudges, unit: string): Promise<string | undefined> {
  return (await judges.judge(unit, LIVE, '2026-11-24T10:00:00Z', signal))?.verdict.state
}

test('units of two clusters with the same name are kept apart', async () => {
  const [one, other] = [new RetainedJudges(), new RetainedJudges()]
  keep(one, 'apps/web', 'in-sync')
  keep(other, 'apps/web', 'drifted')
  assert.deepEqual(
    [await stateOf(one, 'apps/web'), await stateOf(other, 'apps/web')],
    ['in-sync', 'drifted'],
  )
})

test('all clusters together keep 20,000 objects, those of the most recently used units', async () => {
  const all = Array.from({ length: 21 }, () => new RetainedJudges())
  for (const judges of all) keep(judges, 'apps/web', 'in-sync', 1_000)
  const [first] = all
  const last = all.at(-1)
  assert.ok(first !== undefined && last !== undefined)
  assert.deepEqual(
    [await stateOf(first, 'apps/web'), await stateOf(last, 'apps/web')],
    [undefined, 'in-sync'],
  )
})

test("reports an object whose syncer differs from the syncer of its unit's evaluation", async () => {
  const judges = new RetainedJudges()
  const syncer = (manager: string) => ({ manager, operation: 'Apply', subresource: '' }) as const
  const judge = { judge: async () => ({ state: 'in-sync' }) as ObjectVerdict }
  for (const [shown, expected] of [
    [syncer('kustomize-controller'), true],
    [syncer('argocd-controller'), false],
    [undefined, false],
  ] as const) {
    judges.keep('apps/web', {
      objects: [OBJECT],
      at: () => judge,
      syncer: syncer('kustomize-controller'),
      syncerOf: () => shown,
    })
    assert.equal(
      (await judges.judge('apps/web', LIVE, '2026-11-24T10:00:00Z', signal))?.isOfSyncer,
      expected,
    )
  }
})
