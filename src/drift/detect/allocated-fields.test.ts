import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeValueAt } from '@backporch/kyaml/edit-yaml'
import { formatFieldPath } from '@backporch/kyaml/field'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import { lines, verdictOf } from '../../../test/fakes/deployment-verdicts.ts'
import { appliedBy, editedBy, path, removedFrom } from '../../../test/fakes/live-object.ts'
import { markAllocated } from './allocated-fields.ts'
import { makeDrift } from './make-drift.ts'

const serviceWith = (...ports: readonly JsonObject[]): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'shop' },
  spec: { type: 'LoadBalancer', ports },
})
const at = (port: number): string => `spec.ports[port=${port},protocol=TCP]`
const HTTP = { name: 'http', port: 80, protocol: 'TCP', targetPort: 8080 }
const SERVICE = serviceWith(HTTP)
const APPLIED = appliedBy('kustomize-controller', SERVICE)

/** Whoever writes fields of the port owns those, and nobody the rest. */
function withPort(live: JsonObject, port: number, item: JsonObject, owned: readonly string[]) {
  const whole: JsonObject = { port, protocol: 'TCP', ...item }
  return owned.reduce(
    (object, name) => editedBy('kubectl-edit', object, `${at(port)}.${name}`, whole[name] as Json),
    writeValueAt(live, path(at(port)), whole) as JsonObject,
  )
}

function allocatedIn(manifest: JsonObject, live: JsonObject): Record<string, readonly string[]> {
  const { items } = verdictOf(manifest, live)
  return Object.fromEntries(
    items.map(({ path: place, forEdit }) => [formatFieldPath(place), forEdit?.allocated ?? []]),
  )
}

test('the node port of an added port belongs to the server unless it has an owner', () => {
  const item = { name: 'debug', targetPort: 6060, nodePort: 30604 }
  const chosen = withPort(APPLIED, 6060, item, ['name', 'port', 'targetPort', 'nodePort'])
  const left = withPort(APPLIED, 6060, item, ['name', 'port', 'targetPort'])
  assert.deepEqual(lines(verdictOf(SERVICE, left)), [`added ${at(6060)} by kubectl-edit`])
  assert.deepEqual(allocatedIn(SERVICE, left), { [at(6060)]: ['nodePort'] })
  assert.deepEqual(allocatedIn(SERVICE, chosen), { [at(6060)]: [] })
})

test('a port with a changed number keeps its node port, which the server allocates when git omits it', () => {
  const all = ['name', 'port', 'targetPort', 'nodePort']
  const item = { name: 'http', targetPort: 8080, nodePort: 30080 }
  const renumber = (live: JsonObject): JsonObject =>
    withPort(removedFrom(live, at(80)), 81, item, all)
  assert.deepEqual(allocatedIn(SERVICE, renumber(APPLIED)), {
    [at(80)]: [],
    [at(81)]: ['nodePort'],
  })
  const declared = serviceWith({ ...HTTP, nodePort: 30080 })
  assert.deepEqual(allocatedIn(declared, renumber(appliedBy('kustomize-controller', declared))), {
    [at(80)]: [],
    [at(81)]: [],
  })
})

test('a field of that name in another kind is not an allocation', () => {
  const id = { group: 'example.com', kind: 'Service', namespace: 'shop', name: 'web' }
  const live = { port: 81, protocol: 'TCP', nodePort: 30080 }
  const actor = verdictOf(SERVICE, removedFrom(APPLIED, at(80))).items[0]?.actor
  assert.ok(actor !== undefined)
  const drift = makeDrift({
    ...{ id, apiVersion: 'example.com/v1', uid: 'u', change: 'added', path: path(at(81)) },
    ...{ git: undefined, live, actor, notes: [] },
  })
  assert.equal(markAllocated(drift, [drift], { entries: [], unreadable: [] }), drift)
})
