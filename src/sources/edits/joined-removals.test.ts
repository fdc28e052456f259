import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { formatFieldPath } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { driftOf } from '../../../test/fakes/drift-samples.ts'
import { path } from '../../../test/fakes/live-object.ts'
import { yaml } from '../../../test/fakes/turn-world.ts'
import { joinRemovals } from './joined-removals.ts'
import type { ResolvedChange } from './resolution-edits.ts'

const OBJECT = yaml(`
metadata: {labels: {team: a}}
spec:
  env: [{name: A, value: a}, {name: B, value: b}]
  resources: {limits: {cpu: 1, memory: 2}, requests: {cpu: 1}}
  affinity: {near: {zone: x}, far: {zone: y, rack: z}}
`) as JsonObject

const DESIRED: DesiredResource = {
  id: driftOf('').id,
  apiVersion: 'apps/v1',
  object: OBJECT,
  location: { path: 'apps/web.yaml', document: 0, item: undefined, line: 1 },
}

function removal(
  field: string,
  absentAbove?: string,
  more: Partial<ResolvedChange> = {},
): ResolvedChange {
  const above = absentAbove === undefined ? {} : { forEdit: { absentAbove: path(absentAbove) } }
  return {
    drift: driftOf(field, { change: 'removed', live: undefined, ...above }),
    desired: DESIRED,
    resolution: 'Adopt',
    ...more,
  }
}

function joined(...changes: readonly ResolvedChange[]): readonly string[] {
  return joinRemovals(changes).map(
    ({ drift, resolution }) => `${resolution} ${formatFieldPath(drift.path)}`,
  )
}

test('removing the last entries removes the map or list that live lacks too', () => {
  assert.deepEqual(
    joined(removal('spec.env[name=A]', 'spec.env'), removal('spec.env[name=B]', 'spec.env')),
    ['Adopt spec.env'],
  )
  assert.deepEqual(joined(removal('metadata.labels.team', 'metadata.labels')), [
    'Adopt metadata.labels',
  ])
})

test('keeps a block with remaining entries, and a block that live still has', () => {
  const some = [removal('spec.env[name=A]', 'spec.env')]
  assert.equal(joinRemovals(some), some)
  const there = [removal('spec.resources.requests.cpu')]
  assert.equal(joinRemovals(there), there)
})

test('removes an emptied part on its own when its block has other parts', () => {
  const far = [
    removal('spec.affinity.far.zone', 'spec.affinity'),
    removal('spec.affinity.far.rack', 'spec.affinity'),
  ]
  assert.deepEqual(joined(...far), ['Adopt spec.affinity.far'])
  assert.deepEqual(joined(...far, removal('spec.affinity.near.zone', 'spec.affinity')), [
    'Adopt spec.affinity',
  ])
})

test('joins only adopted removals of one location', () => {
  const limits = (name: string, more: Partial<ResolvedChange> = {}) =>
    removal(`spec.resources.limits.${name}`, 'spec.resources.limits', more)
  const leaves = ['spec.resources.limits.cpu', 'spec.resources.limits.memory']
  assert.deepEqual(joined(limits('cpu'), limits('memory', { resolution: 'Restore' })), [
    `Adopt ${leaves[0]}`,
    `Restore ${leaves[1]}`,
  ])
  assert.deepEqual(
    joined(limits('cpu'), limits('memory', { via: 'setter:memory' })),
    leaves.map((leaf) => `Adopt ${leaf}`),
  )
})
