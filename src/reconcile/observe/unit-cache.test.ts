import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { Failure } from '@backporch/kyaml/failure'
import type { LiveState } from '@backporch/kyaml/resource'
import { TEST_SCHEMA } from '../../../test/fakes/live-object.ts'
import type { LiveSide } from './read-live-sides.ts'
import { UnitCache } from './unit-cache.ts'

const IDENTITY = { uid: 'u', version: 'v1.34.3', recorded: false }

function resourceOf(name: string): DesiredResource {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'shop' } }
  const location = { path: `${name}.yaml`, document: 0, item: undefined, line: 1 }
  return {
    id: { group: '', kind: 'ConfigMap', namespace: 'shop', name },
    apiVersion: 'v1',
    object,
    location,
  }
}

function present(uid: string, resourceVersion: string, metadataOnly = false): LiveState {
  return { state: 'present', object: { metadata: { uid, resourceVersion } }, metadataOnly }
}

const [A, B] = [resourceOf('a'), resourceOf('b')]
const failure = new Failure({
  code: 'BP3005',
  what: 'cannot get',
  why: 'the server is down',
  remedy: 'try again',
})

function sideOf(
  a: LiveState,
  b: LiveState = present('2', '1'),
  first = A,
): Pick<LiveSide, 'resources' | 'live'> {
  return {
    resources: [first, B].map((resource) => ({ resource, schema: TEST_SCHEMA })),
    live: new Map([
      ['/ConfigMap/shop/a', a],
      ['/ConfigMap/shop/b', b],
    ]),
  }
}

test('a unit stays cached while git and the cluster have the same versions of it', () => {
  const units = new UnitCache()
  const known = units.getUnit('prod/apps/web', IDENTITY, sideOf(present('1', '7')))
  assert.equal(
    units.getUnit('prod/apps/web', IDENTITY, sideOf(present('1', '7'))),
    known,
    'what was read anew is the same by its version',
  )
  assert.notEqual(units.getUnit('prod/apps/db', IDENTITY, sideOf(present('1', '7'))), known)
  assert.equal(units.getUnit('prod/apps/web', IDENTITY, sideOf(present('1', '7'))), known)
})

for (const [what, identity, side] of [
  ['another version of an object', IDENTITY, sideOf(present('1', '8'))],
  ['a recreated object', IDENTITY, sideOf(present('3', '7'))],
  ['a deleted object', IDENTITY, sideOf({ state: 'absent' })],
  ['an object read as metadata only', IDENTITY, sideOf(present('1', '7', true))],
  [
    'another desired object',
    IDENTITY,
    sideOf(present('1', '7'), present('2', '1'), resourceOf('a')),
  ],
  [
    'one object fewer',
    IDENTITY,
    { ...sideOf(present('1', '7')), resources: sideOf(present('1', '7')).resources.slice(1) },
  ],
  [
    'another schema',
    IDENTITY,
    {
      ...sideOf(present('1', '7')),
      resources: sideOf(present('1', '7')).resources.map(({ resource }) => ({
        resource,
        schema: TEST_SCHEMA.getChildSchema('spec'),
      })),
    },
  ],
  ['another server version', { ...IDENTITY, version: 'v1.35.0' }, sideOf(present('1', '7'))],
  ['another cluster under the same name', { ...IDENTITY, uid: 'other' }, sideOf(present('1', '7'))],
] as const) {
  test(`the cache misses for ${what}`, () => {
    const units = new UnitCache()
    const known = units.getUnit('prod/apps/web', IDENTITY, sideOf(present('1', '7')))
    const now = units.getUnit('prod/apps/web', identity, side)
    assert.notEqual(now, known)
    assert.equal(
      units.getUnit('prod/apps/web', identity, side),
      now,
      'and then it is known as that',
    )
  })
}

for (const [what, identity, state] of [
  ['an unreadable object', IDENTITY, { state: 'unreadable', failure }],
  ['an object without a version', IDENTITY, present('1', '')],
  ['an object without a uid', IDENTITY, present('', '7')],
  ['a recording', { ...IDENTITY, recorded: true }, present('1', '7')],
] as const) {
  test(`never caches ${what}`, () => {
    const units = new UnitCache()
    assert.notEqual(
      units.getUnit('prod/apps/web', identity, sideOf(state)),
      units.getUnit('prod/apps/web', identity, sideOf(state)),
    )
  })
}

test('the cache evicts the least recently used units and keeps no oversized one', () => {
  const units = new UnitCache(4)
  const of = (name: string) => units.getUnit(name, IDENTITY, sideOf(present('1', '7')))
  const [a, b] = [of('a'), of('b')]
  assert.equal(of('a'), a)
  of('c')
  assert.deepEqual([of('a') === a, units.held], [true, 4])
  assert.notEqual(of('b'), b)
  const small = new UnitCache(1)
  assert.notEqual(
    small.getUnit('a', IDENTITY, sideOf(present('1', '7'))),
    small.getUnit('a', IDENTITY, sideOf(present('1', '7'))),
  )
  assert.equal(small.held, 0)
})
