import assert from 'node:assert/strict'
import { test } from 'node:test'
import { driftOf, TEST_KEY } from '../../../test/fakes/drift-samples.ts'
import { verdictOf } from '../../../test/fakes/observation-builder.ts'
import { type ManifestAnswer, MissingManifest } from '../../drift/authored/object-manifest.ts'
import { Failure } from '../../failure.ts'
import type { JsonObject } from '../../text/json.ts'
import { withManifests } from './whole-objects.ts'

const CONFIG = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web', namespace: 'shop' } }

function adopted(live: JsonObject, answer?: ManifestAnswer, resolution: 'Adopt' | 'Restore' = 'Adopt') {
  const drift = { ...driftOf('', { change: 'unexpected', live }), id: { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'web' } }
  const manifests = { manifestOf: () => answer ?? missing() }
  const change = { drift, desired: undefined, fingerprint: '0'.repeat(16), resolution }
  return withManifests({ manifests, verdicts: [verdictOf([drift])], key: TEST_KEY }, [change])
}

function missing(): never {
  throw new MissingManifest(async () => undefined)
}

test('an adopted object has its manifest, and the server is asked for it only where one is adopted', () => {
  const [change] = adopted(CONFIG, { manifest: CONFIG })
  assert.deepEqual(change?.whole, { manifest: CONFIG })
  assert.throws(() => adopted(CONFIG), MissingManifest)
  assert.equal(adopted(CONFIG, undefined, 'Restore')[0]?.whole, undefined)
})

test('an object with a credential is refused by the name of its field, and the credential is not told', () => {
  const live = { ...CONFIG, data: { color: 'blue', password: 'hunter2' } }
  assert.throws(
    () => adopted(live, { manifest: live }),
    (thrown) => {
      assert.ok(thrown instanceof Failure)
      assert.equal(thrown.code, 'BP2002')
      assert.match(thrown.why, /data\.password/)
      return !/hunter2/.test(JSON.stringify(thrown))
    },
  )
})

test('why there is no manifest is the refusal', () => {
  const failure = { code: 'BP2001', what: 'cannot adopt it', why: 'the server refuses it', remedy: 'write it by hand' } as const
  assert.throws(() => adopted(CONFIG, { failure }), { code: 'BP2001', why: 'the server refuses it' })
})
