import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObjectVerdict } from '../../drift/drift.ts'
import { UNKNOWN_SCHEMA } from '../../krm/field-schema.ts'
import { readResource } from '../../krm/resource.ts'
import type { JsonObject } from '../../text/json.ts'
import { type JudgedObject, RetainedJudges } from './retained-judges.ts'

function judged(object: JsonObject): JudgedObject {
  const resource = readResource(object)
  assert.ok(!('problem' in resource))
  return { desired: resource as JudgedObject['desired'], schema: UNKNOWN_SCHEMA }
}

function object(kind: string): JsonObject {
  return { apiVersion: 'v1', kind, metadata: { namespace: 'shop', name: 'web' } }
}

test('an object is judged as it came, and a Secret never, because it came without its content', async () => {
  const judges = new RetainedJudges()
  const asked: string[] = []
  const judge = {
    judge: async ({ desired }: { readonly desired: JudgedObject['desired'] }) => {
      asked.push(desired.id.kind)
      return { id: desired.id, state: 'in-sync' } as ObjectVerdict
    },
  }
  judges.keep('apps/web', { objects: [judged(object('ConfigMap')), judged(object('Secret'))], at: () => judge })
  const { signal } = new AbortController()
  assert.equal((await judges.judge('apps/web', object('ConfigMap'), '', signal))?.state, 'in-sync')
  assert.equal(await judges.judge('apps/web', object('Secret'), '', signal), undefined)
  assert.equal(await judges.judge('apps/web', object('Service'), '', signal), undefined)
  assert.equal(await judges.judge('apps/other', object('ConfigMap'), '', signal), undefined)
  assert.deepEqual(asked, ['ConfigMap'])
})
