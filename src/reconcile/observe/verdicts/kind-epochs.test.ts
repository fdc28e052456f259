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
  for (const kind of EPOCH_KINDS) epochs.listing(kind)
  epochs.changed(DEFINITIONS, definition('Shop'))
  epochs.changed(MUTATING, webhook('inject'))
  for (const kind of EPOCH_KINDS) epochs.listed(kind)
  return epochs
}

test('no epoch is known before each part is listed, and from when one cannot be read or is listed again', () => {
  for (const missing of EPOCH_KINDS) {
    const epochs = new KindEpochs()
    for (const kind of EPOCH_KINDS) {
      epochs.listing(kind)
      if (kind !== missing) epochs.listed(kind)
    }
    assert.equal(epochs.of('apps', 'Deployment'), undefined)
    epochs.listed(missing)
    assert.equal(typeof epochs.of('apps', 'Deployment'), 'string')
    epochs.unreadable(missing)
    assert.equal(epochs.known, false)
    epochs.listing(missing)
    epochs.listed(missing)
    assert.equal(epochs.known, true)
    epochs.listing(missing)
    assert.equal(epochs.of('apps', 'Deployment'), undefined)
  }
})

test('only the kinds that decide answers are part of an epoch, in their own versions', () => {
  assert.ok(EPOCH_KINDS.every((kind) => KindEpochs.isAbout(kind)))
  assert.equal(KindEpochs.isAbout({ apiVersion: 'v1', kind: 'ConfigMap' }), false)
  assert.equal(
    KindEpochs.isAbout({ apiVersion: 'example.com/v1', kind: 'CustomResourceDefinition' }),
    false,
  )
})

test('another specification of a definition is another epoch of its kind, and of no other', () => {
  const epochs = known()
  const [own, other] = [epochs.of('example.com', 'Shop'), epochs.of('apps', 'Deployment')]
  assert.equal(
    epochs.changed(DEFINITIONS, definition('Shop', { versions: [{ name: 'v2' }] })),
    'example.com/Shop',
  )
  assert.notEqual(epochs.of('example.com', 'Shop'), own)
  assert.equal(epochs.of('apps', 'Deployment'), other)
  assert.equal(epochs.changed(DEFINITIONS, definition('Shop')), 'example.com/Shop')
  assert.equal(epochs.of('example.com', 'Shop'), own)
  assert.equal(epochs.deleted(DEFINITIONS, definition('Shop')), 'example.com/Shop')
  assert.notEqual(epochs.of('example.com', 'Shop'), own)
  assert.equal(epochs.deleted(DEFINITIONS, definition('Shop')), undefined)
})

test('status, metadata and certificate authorities of a definition are no other epoch', () => {
  const epochs = known()
  const own = epochs.of('example.com', 'Shop')
  const conversion = (caBundle: string): JsonObject => ({
    conversion: { webhook: { clientConfig: { caBundle } } },
  })
  const same = {
    ...definition('Shop'),
    status: { conditions: [{ type: 'Established' }] },
    metadata: { name: 'Shop', resourceVersion: '2' },
  }
  assert.equal(epochs.changed(DEFINITIONS, same), undefined)
  assert.equal(epochs.of('example.com', 'Shop'), own)
  assert.equal(
    epochs.changed(DEFINITIONS, definition('Shop', conversion('one'))),
    'example.com/Shop',
  )
  assert.equal(epochs.changed(DEFINITIONS, definition('Shop', conversion('two'))), undefined)
})

test('who may change or refuse an apply is part of the epoch of every kind', () => {
  for (const watched of [MUTATING, VALIDATING, POLICIES, BINDINGS]) {
    const epochs = known()
    const before = epochs.of('apps', 'Deployment')
    assert.equal(epochs.changed(watched, webhook('new')), '*')
    const added = epochs.of('apps', 'Deployment')
    assert.notEqual(added, before)
    assert.equal(epochs.changed(watched, webhook('new', { failurePolicy: 'Ignore' })), '*')
    assert.notEqual(epochs.of('apps', 'Deployment'), added)
    assert.equal(epochs.deleted(watched, webhook('new')), '*')
    assert.equal(epochs.of('apps', 'Deployment'), before)
  }
})

test('a certificate authority that is renewed, and another version of a webhook, change no epoch; another object of its name does', () => {
  const epochs = known()
  const before = epochs.of('apps', 'Deployment')
  const renewed = webhook('inject', { clientConfig: { caBundle: 'two' } })
  assert.equal(epochs.changed(MUTATING, renewed), undefined)
  assert.equal(
    epochs.changed(MUTATING, {
      ...renewed,
      metadata: { name: 'inject', uid: 'uid-inject', resourceVersion: '9' },
    }),
    undefined,
  )
  assert.equal(epochs.of('apps', 'Deployment'), before)
  assert.equal(
    epochs.changed(MUTATING, { ...renewed, metadata: { name: 'inject', uid: 'another' } }),
    '*',
  )
  assert.notEqual(epochs.of('apps', 'Deployment'), before)
})

test('an epoch depends on what there is, not on the order in which it was told', () => {
  const of = (names: readonly string[]): string | undefined => {
    const epochs = known()
    for (const name of names) epochs.changed(VALIDATING, webhook(name))
    return epochs.of('apps', 'Deployment')
  }
  assert.equal(of(['a', 'b', 'c']), of(['c', 'a', 'b']))
})

test('what a list does not have any longer is gone from the epoch', () => {
  const epochs = known()
  const before = epochs.of('apps', 'Deployment')
  epochs.listing(MUTATING)
  epochs.listed(MUTATING)
  assert.notEqual(epochs.of('apps', 'Deployment'), before)
  epochs.listing(MUTATING)
  epochs.changed(MUTATING, webhook('inject'))
  epochs.listed(MUTATING)
  assert.equal(epochs.of('apps', 'Deployment'), before)
})

test('a list tells what changed since the one before, and the first one tells nothing', () => {
  const first = new KindEpochs()
  first.listing(MUTATING)
  first.changed(MUTATING, webhook('inject'))
  assert.deepEqual(first.listed(MUTATING), [])
  const again = (watched: WatchedKind, objects: readonly JsonObject[]): readonly string[] => {
    const epochs = known()
    // The first attempt breaks off after its first object, or before.
    epochs.listing(watched)
    for (const object of objects.slice(0, 1))
      assert.equal(epochs.changed(watched, object), undefined)
    epochs.unreadable(watched)
    epochs.listing(watched)
    for (const object of objects) assert.equal(epochs.changed(watched, object), undefined)
    return epochs.listed(watched)
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

test('what is deleted while the list is under way is told by its end', () => {
  const epochs = known()
  epochs.listing(MUTATING)
  epochs.changed(MUTATING, webhook('inject'))
  assert.equal(epochs.deleted(MUTATING, webhook('inject')), undefined)
  assert.deepEqual(epochs.listed(MUTATING), ['*'])
})
