/** Content that git declares empty: who filled it decides what becomes of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getPartAt, isJsonObject, type JsonObject } from '@backporch/kyaml/json'
import { appliedBy, editedBy } from '../../../test/fakes/live-object.ts'
import { TurnWorld, yaml } from '../../../test/fakes/turn-world.ts'

const EMPTY = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: election, namespace: shop}\n'

async function changesWith(filled: (empty: JsonObject) => JsonObject) {
  const world = new TurnWorld('{mode: Propose}', { 'apps/web/election.yaml': EMPTY })
  world.cluster.put(filled(yaml(EMPTY)))
  const { report } = await world.plan()
  return report.spec.changes.map(({ path, resolution, notes }) => ({
    path,
    resolution,
    notes: notes?.join('; ') ?? '',
  }))
}

/** As a server-side apply of a name leaves it: nobody owns anything, and an Update is not noted either. */
function ofNobody(empty: JsonObject): JsonObject {
  const metadata = getPartAt(empty, 'metadata')
  assert.ok(isJsonObject(metadata))
  return {
    ...empty,
    metadata: { ...metadata, uid: 'u1', resourceVersion: '1' },
    data: { leader: 'pod-1' },
  }
}

const filledBy = (manager: string) => (empty: JsonObject) =>
  editedBy(manager, appliedBy('kustomize-controller', empty), 'data.leader', 'pod-1')

test('reports no change when a controller fills an empty field', async () => {
  assert.deepEqual(await changesWith(filledBy('kube-controller-manager')), [])
})

test('reports drift to restore when a person fills an empty field', async () => {
  const [change] = await changesWith(filledBy('kubectl-edit'))
  assert.equal(change?.resolution, 'Restore')
})

test('plans Release, with the reason, when the writer of an empty field is unknown', async () => {
  const [change, ...more] = await changesWith(ofNobody)
  assert.deepEqual([change?.path, change?.resolution, more], ['data.leader', 'Release', []])
  assert.match(
    change?.notes ?? '',
    /git declares it empty, and the object does not show who fills it: Release leaves it to them/,
  )
})
