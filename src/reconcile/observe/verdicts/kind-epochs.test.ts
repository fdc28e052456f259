import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WatchedKind } from '@backporch/cluster/cluster-watch'
import type { JsonObject } from '@backporch/kyaml/json'
import { EPOCH_KINDS, KindEpochs } from './kind-epochs.ts'

const [DEFINITIONS, MUTATING, VALIDATING, POLICIES, BINDINGS] = EPOCH_KINDS as readonly [
  WatchedKind,
  WatchedKind,
  WatchedKind,
  WatchedKind,
  WatchedKind,
]

function definition(kind: string, more: JsonObject = {}): JsonObject {
  return {
    metadata: { name: kind, resourceVersion: '1' },
    spec: { group: 'example.com', names: { kind }, ...more },
    status: {},
  }
}

function webhook(name: string, more: JsonObject = {}): JsonObject {
  return {
    metadata: { name, uid: `uid-${name}` },
    webhooks: [{ name, clientConfig: { caBundle: 'one' }, ...more }],
  }
}

/** Everything is listed: one definition, one webhook. */
function known(): KindEpochs {
  const epochs = new KindEpochs()
  for (const kind of EPOCH_KINDS) epochs.beginList(kind)
  epochs.handleChange(DEFINITIONS, definition('Shop'))
  epochs.handleChange(MUTATING, webhook('inject'))
  for (const kind of EPOCH_KINDS) epochs.finishList(kind)
  return epochs
}

test('an epoch is unknown until each part is listed, and while one is unreadable or relisted', () => {
  for (const missing of EPOCH_KINDS) {
    const epochs = new KindEpochs()
    for (const kind of EPOCH_KINDS) {
      epochs.beginList(kind)
      if (kind !== missing) epochs.finishList(kind)
    }
    assert.equal(epochs.getEpoch('apps', 'Deployment'), undefined)
    epochs.finishList(missing)
    assert.equal(typeof epochs.getEpoch('apps', 'Deployment'), 'string')
    epochs.handleUnreadable(missing)
    assert.equal(epochs.known, false)
    epochs.beginList(missing)
    epochs.finishList(missing)
    assert.equal(epochs.known, true)
    epochs.beginList(missing)
    assert.equal(epochs.getEpoch('apps', 'Deployment'), undefined)
  }
})

test('only webhooks, policies and definitions in known versions are part of an epoch', () => {
  assert.ok(EPOCH_KINDS.every((kind) => KindEpochs.isAbout(kind)))
  assert.equal(KindEpochs.isAbout({ apiVersion: 'v1', kind: 'ConfigMap' }), false)
  assert.equal(
    KindEpochs.isAbout({ apiVersion: 'example.com/v1', kind: 'CustomResourceDefinition' }),
    false,
  )
})

test('a changed definition changes the epoch of its kind and of no other', () => {
  const epochs = known()
  const [own, other] = [
    epochs.getEpoch('example.com', 'Shop'),
    epochs.getEpoch('apps', 'Deployment'),
  ]
  assert.equal(
    epochs.handleChange(DEFINITIONS, definition('Shop', { versions: [{ name: 'v2' }] })),
    'example.com/Shop',
  )
  assert.notEqual(epochs.getEpoch('example.com', 'Shop'), own)
  assert.equal(epochs.getEpoch('apps', 'Deployment'), other)
  assert.equal(epochs.handleChange(DEFINITIONS, definition('Shop')), 'example.com/Shop')
  assert.equal(epochs.getEpoch('example.com', 'Shop'), own)
  assert.equal(epochs.handleDeletion(DEFINITIONS, definition('Shop')), 'example.com/Shop')
  assert.notEqual(epochs.getEpoch('example.com', 'Shop'), own)
  assert.equal(epochs.handleDeletion(DEFINITIONS, definition('Shop')), undefined)
})

test('status, metadata and CA bundles of a definition do not change the epoch', () => {
  const epochs = known()
  const own = epochs.getEpoch('example.com', 'Shop')
  const conversion = (caBundle: string): JsonObject => ({
    conversion: { webhook: { clientConfig: { caBundle } } },
  })
  const same = {
    ...definition('Shop'),
    status: { conditions: [{ type: 'Established' }] },
    metadata: { name: 'Shop', resourceVersion: '2' },
  }
  assert.equal(epochs.handleChange(DEFINITIONS, same), undefined)
  assert.equal(epochs.getEpoch('example.com', 'Shop'), own)
  assert.equal(
    epochs.handleChange(DEFINITIONS, definition('Shop', conversion('one'))),
    'example.com/Shop',
  )
  assert.equal(epochs.handleChange(DEFINITIONS, definition('Shop', conversion('two'))), undefined)
})

test("admission webhooks and policies are part of every kind's epoch", () => {
  for (const watched of [MUTATING, VALIDATING, POLICIES, BINDINGS]) {
    const epochs = known()
    const before = epochs.getEpoch('apps', 'Deployment')
    assert.equal(epochs.handleChange(watched, webhook('new')), '*')
    const added = epochs.getEpoch('apps', 'Deployment')
    assert.notEqual(added, before)
    assert.equal(epochs.handleChange(watched, webhook('new', { failurePolicy: 'Ignore' })), '*')
    assert.notEqual(epochs.getEpoch('apps', 'Deployment'), added)
    assert.equal(epochs.handleDeletion(watched, webhook('new')), '*')
    assert.equal(epochs.getEpoch('apps', 'Deployment'), before)
  }
})

test('a renewed CA bundle or resourceVersion keeps the epoch; a recreated webhook changes it', () => {
  const epochs = known()
  const before = epochs.getEpoch('apps', 'Deployment')
  const renewed = webhook('inject', { clientConfig: { caBundle: 'two' } })
  assert.equal(epochs.handleChange(MUTATING, renewed), undefined)
  assert.equal(
    epochs.handleChange(MUTATING, {
      ...renewed,
      metadata: { name: 'inject', uid: 'uid-inject', resourceVersion: '9' },
    }),
    undefined,
  )
  assert.equal(epochs.getEpoch('apps', 'Deployment'), before)
  assert.equal(
    epochs.handleChange(MUTATING, { ...renewed, metadata: { name: 'inject', uid: 'another' } }),
    '*',
  )
  assert.notEqual(epochs.getEpoch('apps', 'Deployment'), before)
})

test('an epoch depends on its objects, not on their order', () => {
  const of = (names: readonly string[]): string | undefined => {
    const epochs = known()
    for (const name of names) epochs.handleChange(VALIDATING, webhook(name))
    return epochs.getEpoch('apps', 'Deployment')
  }
  assert.equal(of(['a', 'b', 'c']), of(['c', 'a', 'b']))
})

test('an object missing from a list leaves the epoch', () => {
  const epochs = known()
  const before = epochs.getEpoch('apps', 'Deployment')
  epochs.beginList(MUTATING)
  epochs.finishList(MUTATING)
  assert.notEqual(epochs.getEpoch('apps', 'Deployment'), before)
  epochs.beginList(MUTATING)
  epochs.handleChange(MUTATING, webhook('inject'))
  epochs.finishList(MUTATING)
  assert.equal(epochs.getEpoch('apps', 'Deployment'), before)
})

test('a list reports changes since the previous one, and the first list reports none', () => {
  const first = new KindEpochs()
  first.beginList(MUTATING)
  first.handleChange(MUTATING, webhook('inject'))
  assert.deepEqual(first.finishList(MUTATING), [])
  const again = (watched: WatchedKind, objects: readonly JsonObject[]): readonly string[] => {
    const epochs = known()
    // The first attempt breaks off after its first object, or before.
    epochs.beginList(watched)
    for (const object of objects.slice(0, 1))
      assert.equal(epochs.handleChange(watched, object), undefined)
    epochs.handleUnreadable(watched)
    epochs.beginList(watched)
    for (const object of objects) assert.equal(epochs.handleChange(watched, object), undefined)
    return epochs.finishList(watched)
  }
  assert.deepEqual(again(MUTATING, [webhook('inject')]), [])
  assert.deepEqual(again(MUTATING, []), ['*'])
  assert.deepEqual(again(MUTATING, [webhook('inject'), webhook('new')]), ['*'])
  assert.deepEqual(again(DEFINITIONS, [definition('Shop')]), [])
  assert.deepEqual(
    again(DEFINITIONS, [definition('Shop', { scope: 'Namespaced' }), definition('Other')]),
    ['example.com/Shop', 'example.com/Other'],
  )
  assert.deepEqual(again(DEFINITIONS, []), ['example.com/Shop'])
})

test('a deletion during a list is reported at its end', () => {
  const epochs = known()
  epochs.beginList(MUTATING)
  epochs.handleChange(MUTATING, webhook('inject'))
  assert.equal(epochs.handleDeletion(MUTATING, webhook('inject')), undefined)
  assert.deepEqual(epochs.finishList(MUTATING), ['*'])
})
