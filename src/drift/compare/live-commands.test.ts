import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DesiredResource } from '@backporch/kpt/desired-set'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import { addLiveCommands } from './live-commands.ts'

const BLUEPRINT = 'cnrm.cloud.google.com/blueprint'

function bucket(blueprint: Json | undefined, others: JsonObject = {}): JsonObject {
  const annotations = { ...others, ...(blueprint === undefined ? {} : { [BLUEPRINT]: blueprint }) }
  const metadata = {
    name: 'logs',
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  }
  return {
    apiVersion: 'storage.cnrm.cloud.google.com/v1beta1',
    kind: 'StorageBucket',
    metadata,
    spec: { location: 'eu' },
  }
}

function desired(object: JsonObject, group = 'storage.cnrm.cloud.google.com'): DesiredResource {
  const location = { path: 'a.yaml', document: 0, item: undefined, line: 1 }
  return {
    id: { group, kind: 'StorageBucket', namespace: 'shop', name: 'logs' },
    apiVersion: `${group}/v1beta1`,
    object,
    location,
  }
}

const present = (object: JsonObject) => ({ state: 'present', object, metadataOnly: false }) as const

test('when only kpt commands differ, the comparison uses the live annotation', () => {
  for (const [git, live] of [
    [undefined, 'kpt-fn'],
    [undefined, 'kpt-pkg-fn-live'],
    [undefined, 'krm-fn'],
    ['', 'kpt-fn'],
    ['kpt-pkg', 'kpt-pkg-fn'],
    ['cnrm/x/v1', 'cnrm/x/v1,kpt-fn'],
    ['cnrm/x/v1,kpt-pkg', 'cnrm/x/v1,kpt-pkg-fn'],
    ['cnrm/x/v1,kpt-fn,blueprints_controller', 'cnrm/x/v1,blueprints_controller'],
    ['cnrm/x/v1,kpt-fn', 'cnrm/x/v1,kpt-fn,krm-fn'],
  ] as const)
    for (const [one, other] of [
      [git, live],
      [live, git],
    ]) {
      assert.deepEqual(
        addLiveCommands(desired(bucket(one)), present(bucket(other))).object,
        bucket(other),
      )
      const [mine, theirs] = [bucket(one, { a: 'git' }), bucket(other, { a: 'live', b: 'live' })]
      assert.deepEqual(
        addLiveCommands(desired(mine), present(theirs)).object,
        bucket(other, { a: 'git' }),
      )
    }
})

test('keeps any other difference of the annotation, and that of another kind', () => {
  for (const [git, live] of [
    ['cnrm/x/v1,kpt-fn', 'cnrm/x/v2,kpt-fn'],
    ['cnrm/x/v1', undefined],
    ['cnrm/x/v1', 'kpt-fn'],
    [undefined, 'kpt'],
    [undefined, 'kpt-else'],
    [undefined, 'somebody,kpt-fn'],
    ['a,b', 'b,a'],
    [12, 'kpt-fn'],
    [null, 'kpt-fn'],
  ] as const) {
    const own = desired(bucket(git))
    assert.equal(addLiveCommands(own, present(bucket(live))), own)
  }
  for (const group of ['example.com', 'cnrm.cloud.google.com']) {
    const other = desired(bucket(undefined), group)
    assert.equal(addLiveCommands(other, present(bucket('kpt-fn'))), other)
  }
  const equal = desired(bucket('kpt-fn'))
  assert.equal(addLiveCommands(equal, present(bucket('kpt-fn'))), equal)
  assert.equal(addLiveCommands(equal, { state: 'absent' }), equal)
})
