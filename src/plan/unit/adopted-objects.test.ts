import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { Failure } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import type { Resource } from '@backporch/kyaml/resource'
import { driftOf, TEST_KEY } from '../../../test/fakes/drift-samples.ts'
import { verdictOf } from '../../../test/fakes/observation-builder.ts'
import { yaml } from '../../../test/fakes/turn-world.ts'
import type { AdoptionAnswer, ManifestAnswer } from '../../drift/authored/object-manifest.ts'
import type { Drift, Resolution } from '../../drift/compare/drift.ts'
import { Unanswered } from '../../sources/programs/questions.ts'
import { addManifests, listAdoptedObjects } from './adopted-objects.ts'
import type { PlannedChange } from './commands/pick-changes.ts'

const CONFIG = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web', namespace: 'shop' } }

function adoptedWhole(
  live: JsonObject,
  answer?: ManifestAnswer,
  resolution: 'Adopt' | 'Restore' = 'Adopt',
) {
  const drift = {
    ...driftOf('', { change: 'unexpected', live }),
    id: { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'web' },
  }
  const manifests = { getManifest: () => answer ?? missing() }
  const change = { drift, desired: undefined, fingerprint: '0'.repeat(16), resolution }
  return addManifests({ manifests, verdicts: [verdictOf([drift])], key: TEST_KEY }, [change])
}

function missing(): never {
  throw new Unanswered({ kind: 'server', ask: async () => undefined })
}

test('an adopted object has its manifest, and the server is asked only for an Adopt', () => {
  const [change] = adoptedWhole(CONFIG, { manifest: CONFIG })
  assert.deepEqual(change?.whole, { manifest: CONFIG })
  assert.throws(() => adoptedWhole(CONFIG), Unanswered)
  assert.equal(adoptedWhole(CONFIG, undefined, 'Restore')[0]?.whole, undefined)
})

test('an object with a credential is rejected by its field name, without the value', () => {
  const live = { ...CONFIG, data: { color: 'blue', password: 'hunter2' } }
  assert.throws(
    () => adoptedWhole(live, { manifest: live }),
    (thrown) => {
      assert.ok(thrown instanceof Failure)
      assert.equal(thrown.code, 'BP2002')
      assert.match(thrown.why, /data\.password/)
      return !/hunter2/.test(JSON.stringify(thrown))
    },
  )
})

test('the failure to get a manifest is the refusal', () => {
  const failure = {
    code: 'BP2001',
    what: 'cannot adopt it',
    why: 'the server refuses it',
    remedy: 'write it by hand',
  } as const
  assert.throws(() => adoptedWhole(CONFIG, { failure }), {
    code: 'BP2001',
    why: 'the server refuses it',
  })
})

const LIVE = { metadata: { uid: 'u', resourceVersion: '7' } }
const OBJECT = yaml(
  '{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 3, paused: true, strategy: {rollingUpdate: {maxSurge: 1}}}}',
)
const DESIRED: DesiredResource = {
  id: driftOf('').id,
  apiVersion: 'apps/v1',
  object: OBJECT as JsonObject,
  location: { path: 'apps/web.yaml', document: 0, item: undefined, line: 1 },
}

function change(drift: Drift, resolution: Resolution = 'Adopt'): PlannedChange {
  return { drift, desired: DESIRED, fingerprint: '0'.repeat(16), resolution }
}

/** What the server is asked, and what is said of each object. */
function ask(
  changes: readonly ReturnType<typeof change>[],
  more: Partial<ReturnType<typeof verdictOf>> = {},
  answer?: AdoptionAnswer,
) {
  const asked: Resource[] = []
  const verdict = {
    ...verdictOf(
      changes.map(({ drift }) => drift),
      { desired: DESIRED },
    ),
    live: LIVE,
    ...more,
  }
  const answerTo = (resource: Resource): AdoptionAnswer => {
    asked.push(resource)
    return answer ?? { state: 'accepted' }
  }
  const found = listAdoptedObjects({ adoptions: { answerTo }, verdicts: [verdict] }, changes)
  return {
    asked: asked.map(({ object }) => object['spec']),
    said: found.map((each) => each.answer),
  }
}

test('the server is asked once per object, with all its edits', () => {
  const surge = driftOf('spec.strategy.rollingUpdate.maxSurge', {
    change: 'removed',
    live: undefined,
    forEdit: { absentAbove: [] },
  })
  const above = { ...surge, forEdit: { absentAbove: surge.path.slice(0, 2) } }
  const { asked, said } = ask([
    change(driftOf('spec.replicas')),
    change(above),
    change(driftOf('spec.paused', { git: true, live: false }), 'Release'),
  ])
  assert.deepEqual(asked, [{ replicas: 5 }])
  assert.deepEqual(said, [{ state: 'accepted' }])
})

test('a restored or removed object needs no server check', () => {
  assert.deepEqual(ask([change(driftOf('spec.replicas'), 'Restore')]), { asked: [], said: [] })
  assert.deepEqual(ask([change(driftOf('', { change: 'missing', live: undefined }))]), {
    asked: [],
    said: [],
  })
  assert.deepEqual(
    ask([{ ...change(driftOf('', { change: 'unexpected' })), desired: undefined }]),
    { asked: [], said: [] },
  )
})

test('an object is not checked when its cluster cannot be asked', () => {
  const adopted = [change(driftOf('spec.replicas'))]
  const [offline] = listAdoptedObjects(
    { verdicts: [verdictOf([driftOf('spec.replicas')])] },
    adopted,
  )
  assert.deepEqual(offline?.answer, {
    state: 'not-checked',
    why: 'its cluster cannot be queried here',
  })
})
