import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type KindWatchState, STALE_AFTER } from '@backporch/cluster/cluster-watch'
import type { JsonObject } from '@backporch/kyaml/json'
import {
  CONFIG_MAPS,
  DEPLOYMENTS,
  Followed,
  failure,
  IN_SYNC,
  LIVE,
  NOW,
  present,
  ready,
  SCALERS,
} from '../../../../test/fakes/followed-cluster.ts'
import { listedVerdicts } from '../../../../test/fakes/listed-epochs.ts'
import { appliedBy, editedBy, withMetadata } from '../../../../test/fakes/live-object.ts'
import { idOf } from '../../../../test/fakes/memory-cluster.ts'
import { CONFIG, WEB, WEB_CONFIG, yaml } from '../../../../test/fakes/turn-world.ts'
import { ClusterFollower } from './cluster-follower.ts'
import { EPOCH_KINDS } from './kind-epochs.ts'

test('a new version, manager time or equal health of an object concerns no unit', () => {
  const followed = new Followed()
  assert.deepEqual(followed.change(LIVE), [])
  assert.deepEqual(followed.change(withMetadata(LIVE, { resourceVersion: '9', generation: 1 })), [])
  assert.deepEqual(followed.change({ ...LIVE, status: { ...ready(3), more: 1 } }), [])
})

test('each change of the health concerns the unit once', () => {
  const followed = new Followed()
  assert.deepEqual(followed.change({ ...LIVE, status: ready(1) }), ['status: apps/web'])
  assert.deepEqual(followed.change({ ...LIVE, status: ready(2) }), [], 'its health is the same')
  assert.deepEqual(followed.change(LIVE), ['status: apps/web'])
})

test('a content change reports the unit, the object and its read time', () => {
  const followed = new Followed()
  const edited = editedBy('kubectl', LIVE, 'metadata.labels.team', 'shop')
  followed.follower.handleChange(DEPLOYMENTS, edited, 42)
  assert.deepEqual(followed.changes, [
    { units: ['apps/web'], reason: 'object', object: edited, read: 42 },
  ])
})

test('a change of health together with content is reported too', () => {
  const followed = new Followed()
  const labelled = editedBy('helper', LIVE, 'metadata.labels.team', 'shop')
  assert.deepEqual(followed.change({ ...labelled, status: ready(0) }).sort(), [
    'object: apps/web',
    'status: apps/web',
  ])
})

test('an object of two units concerns both, and an object of no unit none', () => {
  const followed = new Followed()
  followed.keep('apps/all', present(LIVE))
  assert.deepEqual(
    followed.change(editedBy('kubectl', LIVE, 'metadata.labels.team', 'shop')).sort(),
    ['object: apps/all', 'object: apps/web'],
  )
  assert.deepEqual(followed.change(withMetadata(LIVE, { name: 'other' })), [])
})

test('a deleted object, or one missing from a list, concerns its unit; an absent one does not', () => {
  const followed = new Followed()
  followed.follower.handleDeletion(DEPLOYMENTS, LIVE, 5)
  assert.deepEqual(followed.told(), ['object: apps/web'])
  assert.deepEqual(followed.list(DEPLOYMENTS), ['object: apps/web'])
  assert.deepEqual(followed.list(DEPLOYMENTS, LIVE), [])
  const absent = new Followed({ state: 'absent' }, 'drifted')
  absent.follower.handleDeletion(DEPLOYMENTS, LIVE, 5)
  assert.deepEqual(absent.told(), [])
  assert.deepEqual(absent.list(DEPLOYMENTS), [])
})

test('a list of another kind or namespace has no effect on an object', () => {
  const followed = new Followed()
  assert.deepEqual(followed.list(CONFIG_MAPS), [])
  assert.deepEqual(followed.list({ ...DEPLOYMENTS, namespace: 'other' }), [])
  assert.deepEqual(followed.list({ ...DEPLOYMENTS, namespace: 'shop' }), ['object: apps/web'])
})

test('an interrupted list has no effect on objects that it lacked', () => {
  const followed = new Followed()
  followed.follower.beginList(DEPLOYMENTS)
  followed.follower.handleUnreadable(DEPLOYMENTS, failure('BP3001'))
  followed.follower.finishList(DEPLOYMENTS)
  assert.deepEqual(followed.told(), [])
  followed.follower.beginList(DEPLOYMENTS)
  assert.deepEqual(followed.list(DEPLOYMENTS, LIVE), [])
})

test('the creation of an absent object concerns its unit, by event or list', () => {
  assert.deepEqual(new Followed({ state: 'absent' }, 'drifted').change(LIVE), ['object: apps/web'])
  assert.deepEqual(new Followed({ state: 'absent' }, 'drifted').list(DEPLOYMENTS, LIVE), [
    'object: apps/web',
  ])
})

test('an unreadable object concerns its unit as soon as it is seen', () => {
  const unreadable = (): Followed =>
    new Followed({ state: 'unreadable', failure: failure('BP3005') }, 'unreadable')
  assert.deepEqual(unreadable().change(LIVE), ['object: apps/web'])
  assert.deepEqual(unreadable().list(DEPLOYMENTS, LIVE), ['object: apps/web'])
})

test('unchanged drift concerns no unit, and changed drift concerns its unit', () => {
  const edited = editedBy('kubectl', LIVE, 'metadata.labels.team', 'shop')
  const followed = new Followed(present(edited), 'drifted')
  assert.deepEqual(followed.change(withMetadata(edited, { resourceVersion: '99' })), [])
  assert.deepEqual(followed.change(LIVE), ['object: apps/web'])
})

test('an object known only by its state concerns its unit once per state', () => {
  const followed = new Followed(present(LIVE), 'outside')
  const edited = editedBy('kubectl', LIVE, 'metadata.labels.team', 'shop')
  assert.deepEqual(followed.change(edited), ['object: apps/web'])
  assert.deepEqual(followed.change(edited), [])
  assert.deepEqual(followed.change(LIVE), ['object: apps/web'])
})

test('a new or changed autoscaler concerns the units of its target', () => {
  const scaler = (max: number, time = '1'): JsonObject => ({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'web', namespace: 'shop' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      maxReplicas: max,
    },
    status: { lastScaleTime: time, currentMetrics: [time] },
  })
  const followed = new Followed()
  assert.deepEqual(followed.list(SCALERS, scaler(5)), [], 'those of the first list are known')
  assert.deepEqual(followed.change(scaler(5, '2'), SCALERS), [])
  assert.deepEqual(followed.change(scaler(6), SCALERS), ['report: apps/web'])
  assert.deepEqual(new Followed().change(scaler(5), SCALERS), ['report: apps/web'])
  const other = {
    ...scaler(5),
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'other' } },
  }
  assert.deepEqual(new Followed().change(other, SCALERS), [])
  assert.deepEqual(
    followed.change(other, SCALERS),
    ['report: apps/web'],
    'it had the target before',
  )
})

test("a deleted autoscaler concerns its target's units; a forbidden kind concerns drifted ones", () => {
  const scaler: JsonObject = {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'web', namespace: 'shop' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      maxReplicas: 5,
    },
  }
  const followed = new Followed(present(LIVE), 'drifted')
  followed.list(SCALERS, scaler)
  followed.follower.handleDeletion(SCALERS, scaler, 5)
  assert.deepEqual(followed.told(), ['report: apps/web'])
  followed.change(scaler, SCALERS)
  assert.deepEqual(followed.list(SCALERS), ['report: apps/web'])
  followed.follower.handleUnreadable(SCALERS, failure('BP3003'))
  assert.deepEqual(followed.told(), ['report: apps/web'])
})

test('a changed custom resource definition concerns units with its kind; a changed webhook all', () => {
  const followed = new Followed()
  const shop = { group: 'example.com', kind: 'Shop', namespace: 'shop', name: 'web' }
  followed.verdicts
    .getUnitVerdicts('apps/shop')
    .follow({ id: shop, apiVersion: 'example.com/v1' }, 'other', undefined)
  const [definitions, webhooks] = EPOCH_KINDS
  assert.ok(definitions !== undefined && webhooks !== undefined)
  const definition = (more: JsonObject): JsonObject => ({
    metadata: {},
    spec: { group: 'example.com', names: { kind: 'Shop' }, ...more },
  })
  const webhook = (caBundle: string, more: JsonObject = {}): JsonObject => ({
    metadata: { name: 'inject', uid: '1' },
    webhooks: [{ clientConfig: { caBundle }, ...more }],
  })
  assert.deepEqual(followed.change(definition({}), definitions), ['epoch: apps/shop'])
  assert.deepEqual(followed.change(definition({}), definitions), [])
  assert.deepEqual(followed.change(definition({ scope: 'Namespaced' }), definitions), [
    'epoch: apps/shop',
  ])
  assert.deepEqual(followed.change(webhook('one'), webhooks), ['epoch: apps/shop apps/web'])
  assert.deepEqual(
    followed.change(webhook('two'), webhooks),
    [],
    'its certificate authority is renewed',
  )
  assert.deepEqual(followed.change(webhook('two', { failurePolicy: 'Ignore' }), webhooks), [
    'epoch: apps/shop apps/web',
  ])
  followed.follower.handleDeletion(webhooks, webhook('two'), 5)
  assert.deepEqual(followed.told(), ['epoch: apps/shop apps/web'])
})

test('a kind that may not be followed everywhere is followed in the namespaces of the units', () => {
  const followed = new Followed()
  const namespaces = (): string[] =>
    followed.follower
      .listKinds()
      .flatMap(({ kind, namespace }) => (kind === 'Deployment' ? [namespace] : []))
  followed.verdicts
    .getUnitVerdicts('apps/web')
    .follow({ id: { ...idOf(WEB), namespace: 'more' }, apiVersion: 'apps/v1' }, 'other', undefined)
  assert.deepEqual(namespaces(), [''])
  followed.follower.handleUnreadable(DEPLOYMENTS, failure('BP3001'))
  assert.deepEqual(namespaces(), [''], 'the server did not answer')
  followed.follower.handleUnreadable(DEPLOYMENTS, failure('BP3003'))
  assert.deepEqual(namespaces().sort(), ['more', 'shop'])
})

test('Secrets are followed as metadata only, and webhooks and definitions always', () => {
  const followed = new Followed()
  followed.verdicts
    .getUnitVerdicts('apps/web')
    .follow(
      { id: { group: '', kind: 'Secret', namespace: 'shop', name: 'web' }, apiVersion: 'v1' },
      'other',
      undefined,
    )
  const kinds = followed.follower.listKinds()
  assert.deepEqual(
    kinds.filter(({ metadataOnly }) => metadataOnly).map(({ kind }) => kind),
    ['Secret'],
  )
  for (const each of [...EPOCH_KINDS, SCALERS])
    assert.ok(
      kinds.some(({ kind }) => kind === each.kind),
      each.kind,
    )
})

/** `apps/web` has these Secrets in the namespace shop. */
function followSecrets(followed: Followed, count: number): void {
  const unit = followed.verdicts.getUnitVerdicts('apps/web')
  for (let index = 0; index < count; index += 1)
    unit.follow(
      { id: secretId(`s${index}`), apiVersion: 'v1' },
      'other',
      present(secret(`s${index}`)),
    )
}

function secretId(name: string) {
  return { group: '', kind: 'Secret', namespace: 'shop', name }
}

function secret(name: string): JsonObject {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'shop', name, uid: name } }
}

function listSecretKinds(followed: Followed): string[] {
  const kinds = followed.follower.listKinds().filter(({ kind }) => kind === 'Secret')
  return kinds.map(({ namespace, name = '*' }) => `${namespace}/${name}`)
}

test('follows up to 50 Secrets by name, and all Secrets of the cluster beyond', () => {
  const followed = new Followed()
  followSecrets(followed, 2)
  assert.deepEqual(listSecretKinds(followed), ['shop/s0', 'shop/s1'])
  followSecrets(followed, 50)
  assert.equal(listSecretKinds(followed).length, 50)
  followSecrets(followed, 51)
  assert.deepEqual(listSecretKinds(followed), ['/*'])
})

test('follows no Secret before its first observation after a start', () => {
  const before = new Followed()
  followSecrets(before, 1)
  const verdicts = listedVerdicts(0, before.verdicts.stored)
  const follower = new ClusterFollower({ verdicts, now: () => NOW, onChange: () => {} })
  assert.deepEqual(
    follower.listKinds().filter(({ kind }) => kind === 'Secret'),
    [],
  )
  verdicts
    .getUnitVerdicts('apps/web')
    .follow({ id: secretId('s0'), apiVersion: 'v1' }, 'other', present(secret('s0')))
  assert.deepEqual(
    follower.listKinds().flatMap(({ kind, name }) => (kind === 'Secret' ? [name] : [])),
    ['s0'],
  )
})

test('the list of one Secret does not remove another Secret', () => {
  const followed = new Followed()
  followSecrets(followed, 2)
  const [first, second] = followed.follower.listKinds().filter(({ kind }) => kind === 'Secret')
  assert.ok(first !== undefined && second !== undefined)
  assert.deepEqual(followed.list(first, secret('s0')), [])
  assert.deepEqual(followed.list(second), ['object: apps/web'], 's1 is gone')
})

test('a cluster is observable while each kind is listed, readable and proven within a minute', () => {
  const { follower } = new Followed()
  const state = (more: Partial<KindWatchState> = {}): KindWatchState => ({
    ...{
      watched: DEPLOYMENTS,
      state: 'watching',
      provenAt: NOW,
      failure: undefined,
      lists: 1,
      reopened: 0,
      events: 0,
    },
    ...more,
  })
  assert.equal(follower.findBlindness([state()], NOW), undefined)
  assert.equal(
    follower.findBlindness([state({ state: 'waiting', provenAt: NOW - STALE_AFTER })], NOW),
    undefined,
  )
  assert.match(follower.findBlindness([], NOW) ?? '', /^Deployment was not listed yet$/)
  assert.match(
    follower.findBlindness([state({ lists: 0 })], NOW) ?? '',
    /^Deployment was not listed yet$/,
  )
  assert.equal(
    follower.findBlindness([state({ state: 'unreadable', failure: failure('BP3003') })], NOW),
    'it is forbidden',
  )
  assert.match(
    follower.findBlindness([state({ provenAt: NOW - STALE_AFTER - 1 })], NOW) ?? '',
    /^the watch of Deployment received nothing for 60 s$/,
  )
})

test("a change after the turn's read, before the object is followed, is found at the turn's end", () => {
  const followed = new Followed()
  const config = appliedBy('flux', yaml(CONFIG))
  const edited = editedBy('kubectl', config, 'data.color', 'red')
  const keep = (object: JsonObject): number =>
    followed.verdicts
      .getUnitVerdicts('apps/web')
      .keep(present(object), { ...IN_SYNC, id: idOf(WEB_CONFIG), apiVersion: 'v1' }, [], NOW)
  assert.deepEqual(followed.change(edited, CONFIG_MAPS), [])
  keep(config)
  followed.follower.settle()
  assert.deepEqual(followed.told(), ['object: apps/web'])
  followed.follower.settle()
  assert.deepEqual(followed.told(), [], 'it is told once')
  const same = new Followed()
  same.change(config, CONFIG_MAPS)
  same.verdicts
    .getUnitVerdicts('apps/web')
    .keep(present(config), { ...IN_SYNC, id: idOf(WEB_CONFIG), apiVersion: 'v1' }, [], NOW)
  same.follower.settle()
  assert.deepEqual(same.told(), [])
})
