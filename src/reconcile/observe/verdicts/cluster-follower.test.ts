import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type KindWatchState,
  STALE_AFTER,
  type WatchedKind,
} from '@backporch/cluster/cluster-watch'
import { Failure, type FailureCode } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import type { LiveState } from '@backporch/kyaml/resource'
import { listedVerdicts } from '../../../../test/fakes/listed-epochs.ts'
import { appliedBy, editedBy, withMetadata } from '../../../../test/fakes/live-object.ts'
import { idOf } from '../../../../test/fakes/memory-cluster.ts'
import { CONFIG, DEPLOYMENT, WEB, WEB_CONFIG, yaml } from '../../../../test/fakes/turn-world.ts'
import { ClusterFollower, type UnitChange } from './cluster-follower.ts'
import { EPOCH_KINDS } from './kind-epochs.ts'

const NOW = Date.parse('2026-11-21T10:00:00Z')
const DEPLOYMENTS: WatchedKind = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  namespace: '',
  metadataOnly: false,
}
const CONFIG_MAPS: WatchedKind = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  namespace: '',
  metadataOnly: false,
}
const SCALERS: WatchedKind = {
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  namespace: '',
  metadataOnly: false,
}
const LIVE: JsonObject = { ...appliedBy('flux', yaml(DEPLOYMENT)), status: ready(3) }
const IN_SYNC = {
  id: idOf(WEB),
  apiVersion: 'apps/v1',
  state: 'in-sync',
  proof: 'dry-run',
  items: [],
  setAside: [],
} as const

/** The status of a Deployment with that many Pods that are ready, of 3. */
function ready(count: number): JsonObject {
  return {
    observedGeneration: 1,
    replicas: count,
    updatedReplicas: count,
    readyReplicas: count,
    availableReplicas: count,
    conditions: [
      { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' },
      { type: 'Available', status: 'True' },
    ],
  }
}

function present(object: JsonObject): LiveState {
  return { state: 'present', object, metadataOnly: false }
}

function failure(code: FailureCode): Failure {
  return new Failure({ code, what: 'cannot list', why: 'it is forbidden', remedy: 'allow it' })
}

/** `apps/web` has a Deployment in sync, unless another state of it is given. */
class Followed {
  readonly verdicts = listedVerdicts()
  readonly changes: UnitChange[] = []
  readonly follower = new ClusterFollower({
    verdicts: this.verdicts,
    now: () => NOW,
    onChange: (change) => void this.changes.push(change),
  })

  constructor(live: LiveState = present(LIVE), state = 'in-sync') {
    this.keep('apps/web', live, state)
  }

  keep(unit: string, live: LiveState, state = 'in-sync'): void {
    this.verdicts.ofUnit(unit).keep(live, { ...IN_SYNC, state } as typeof IN_SYNC, [], NOW)
  }

  /** Reason and units of the changes since the last call. */
  told(): string[] {
    return this.changes
      .splice(0)
      .map(({ reason, units }) => `${reason}: ${[...units].sort().join(' ')}`)
  }

  change(object: JsonObject, kind = DEPLOYMENTS): string[] {
    this.follower.changed(kind, object, 5)
    return this.told()
  }

  list(kind: WatchedKind, ...objects: readonly JsonObject[]): string[] {
    this.follower.listing(kind)
    for (const object of objects) this.follower.changed(kind, object, 5)
    this.follower.listed(kind)
    return this.told()
  }
}

test('an object that is as it was judged names nobody: another version, manager time, or status of the same health', () => {
  const followed = new Followed()
  assert.deepEqual(followed.change(LIVE), [])
  assert.deepEqual(followed.change(withMetadata(LIVE, { resourceVersion: '9', generation: 1 })), [])
  assert.deepEqual(followed.change({ ...LIVE, status: { ...ready(3), more: 1 } }), [])
})

test('a change of the health names the unit once, and each further change again', () => {
  const followed = new Followed()
  assert.deepEqual(followed.change({ ...LIVE, status: ready(1) }), ['status: apps/web'])
  assert.deepEqual(followed.change({ ...LIVE, status: ready(2) }), [], 'its health is the same')
  assert.deepEqual(followed.change(LIVE), ['status: apps/web'])
})

test('a change of the content names the unit, with the object and when it was read', () => {
  const followed = new Followed()
  const edited = editedBy('kubectl', LIVE, 'metadata.labels.team', 'shop')
  followed.follower.changed(DEPLOYMENTS, edited, 42)
  assert.deepEqual(followed.changes, [
    { units: ['apps/web'], reason: 'object', object: edited, read: 42 },
  ])
})

test('a change of the health that comes with one of the content is told too', () => {
  const followed = new Followed()
  const labelled = editedBy('helper', LIVE, 'metadata.labels.team', 'shop')
  assert.deepEqual(followed.change({ ...labelled, status: ready(0) }).sort(), [
    'object: apps/web',
    'status: apps/web',
  ])
})

test('an object of two units names both, and an object of no unit nobody', () => {
  const followed = new Followed()
  followed.keep('apps/all', present(LIVE))
  assert.deepEqual(
    followed.change(editedBy('kubectl', LIVE, 'metadata.labels.team', 'shop')).sort(),
    ['object: apps/all', 'object: apps/web'],
  )
  assert.deepEqual(followed.change(withMetadata(LIVE, { name: 'other' })), [])
})

test('an object that is deleted, or absent in a list, names its unit; one that was absent does not', () => {
  const followed = new Followed()
  followed.follower.deleted(DEPLOYMENTS, LIVE, 5)
  assert.deepEqual(followed.told(), ['object: apps/web'])
  assert.deepEqual(followed.list(DEPLOYMENTS), ['object: apps/web'])
  assert.deepEqual(followed.list(DEPLOYMENTS, LIVE), [])
  const absent = new Followed({ state: 'absent' }, 'drifted')
  absent.follower.deleted(DEPLOYMENTS, LIVE, 5)
  assert.deepEqual(absent.told(), [])
  assert.deepEqual(absent.list(DEPLOYMENTS), [])
})

test('a list of another kind, or of another namespace, says nothing of an object', () => {
  const followed = new Followed()
  assert.deepEqual(followed.list(CONFIG_MAPS), [])
  assert.deepEqual(followed.list({ ...DEPLOYMENTS, namespace: 'other' }), [])
  assert.deepEqual(followed.list({ ...DEPLOYMENTS, namespace: 'shop' }), ['object: apps/web'])
})

test('a list that broke off says nothing of what it did not have', () => {
  const followed = new Followed()
  followed.follower.listing(DEPLOYMENTS)
  followed.follower.unreadable(DEPLOYMENTS, failure('BP3001'))
  followed.follower.listed(DEPLOYMENTS)
  assert.deepEqual(followed.told(), [])
  followed.follower.listing(DEPLOYMENTS)
  assert.deepEqual(followed.list(DEPLOYMENTS, LIVE), [])
})

test('an object that was absent and is created names its unit, by an event and by a list', () => {
  assert.deepEqual(new Followed({ state: 'absent' }, 'drifted').change(LIVE), ['object: apps/web'])
  assert.deepEqual(new Followed({ state: 'absent' }, 'drifted').list(DEPLOYMENTS, LIVE), [
    'object: apps/web',
  ])
})

test('an object that could not be read names its unit as soon as it is seen', () => {
  const unreadable = (): Followed =>
    new Followed({ state: 'unreadable', failure: failure('BP3005') }, 'unreadable')
  assert.deepEqual(unreadable().change(LIVE), ['object: apps/web'])
  assert.deepEqual(unreadable().list(DEPLOYMENTS, LIVE), ['object: apps/web'])
})

test('drift that is as it was judged names nobody, and names its unit when it is another one', () => {
  const edited = editedBy('kubectl', LIVE, 'metadata.labels.team', 'shop')
  const followed = new Followed(present(edited), 'drifted')
  assert.deepEqual(followed.change(withMetadata(edited, { resourceVersion: '99' })), [])
  assert.deepEqual(followed.change(LIVE), ['object: apps/web'])
})

test('a drifted object that is only known by its state names its unit once for each state', () => {
  const followed = new Followed(present(LIVE), 'outside')
  const edited = editedBy('kubectl', LIVE, 'metadata.labels.team', 'shop')
  assert.deepEqual(followed.change(edited), ['object: apps/web'])
  assert.deepEqual(followed.change(edited), [])
  assert.deepEqual(followed.change(LIVE), ['object: apps/web'])
})

test('what is followed and was not seen yet is known by a list, and is news by an event', () => {
  for (const verdict of ['other', 'report'] as const) {
    const config = appliedBy('flux', yaml(CONFIG))
    const [listed, told] = [new Followed(), new Followed()]
    for (const { verdicts } of [listed, told])
      verdicts
        .ofUnit('apps/web')
        .follow({ id: idOf(WEB_CONFIG), apiVersion: 'v1' }, verdict, undefined)
    const reason = verdict === 'report' ? 'report' : 'object'
    assert.deepEqual(listed.list(CONFIG_MAPS, config), [])
    assert.deepEqual(listed.change(config, CONFIG_MAPS), [])
    assert.deepEqual(listed.list(CONFIG_MAPS, editedBy('kubectl', config, 'data.color', 'red')), [
      `${reason}: apps/web`,
    ])
    assert.deepEqual(told.change(config, CONFIG_MAPS), [`${reason}: apps/web`])
    assert.deepEqual(told.change(config, CONFIG_MAPS), [])
  }
})

test('what a turn read is known: a list that has another state of it is news, and so is what came between the turn and its end', () => {
  for (const verdict of ['other', 'report'] as const) {
    const config = appliedBy('flux', yaml(CONFIG))
    const other =
      verdict === 'report'
        ? { ...config, status: { phase: 'Ready' } }
        : editedBy('kubectl', config, 'data.color', 'red')
    const reason = `${verdict === 'report' ? 'report' : 'object'}: apps/web`
    const followed = (live: LiveState): Followed => {
      const one = new Followed()
      one.verdicts
        .ofUnit('apps/web')
        .follow({ id: idOf(WEB_CONFIG), apiVersion: 'v1' }, verdict, live)
      return one
    }
    const read = { state: 'present', object: config, metadataOnly: false } as const
    assert.deepEqual(followed(read).list(CONFIG_MAPS, config), [])
    assert.deepEqual(followed(read).list(CONFIG_MAPS, other), [reason])
    assert.deepEqual(followed({ state: 'absent' }).list(CONFIG_MAPS, config), [reason])
    const late = new Followed()
    assert.deepEqual(late.change(other, CONFIG_MAPS), [], 'nobody knows that it is of a unit')
    late.verdicts
      .ofUnit('apps/web')
      .follow({ id: idOf(WEB_CONFIG), apiVersion: 'v1' }, verdict, read)
    late.follower.settle()
    assert.deepEqual(late.told(), ['object: apps/web'])
  }
})

test('the resource of a syncer is followed in the version that the server prefers, or in that of a manifest; a Secret without its content', () => {
  const followed = new Followed()
  const unit = followed.verdicts.ofUnit('apps/web')
  const follow = (group: string, kind: string, apiVersion: string): void =>
    unit.follow(
      { id: { group, kind, namespace: 'apps', name: 'web' }, apiVersion },
      'report',
      undefined,
    )
  const versions = (): string[] =>
    followed.follower
      .kinds()
      .filter(({ kind }) => kind === 'Application' || kind === 'Secret')
      .map(({ apiVersion, kind, metadataOnly }) => `${apiVersion} ${kind} ${metadataOnly}`)
  follow('argoproj.io', 'Application', '')
  follow('', 'Secret', '')
  assert.deepEqual(versions(), ['/ Secret true', 'argoproj.io/ Application false'])
  unit.follow(
    {
      id: { group: 'argoproj.io', kind: 'Application', namespace: 'apps', name: 'more' },
      apiVersion: 'argoproj.io/v1alpha1',
    },
    'other',
    undefined,
  )
  assert.deepEqual(versions(), ['/ Secret true', 'argoproj.io/v1alpha1 Application false'])
})

test('a syncer whose kind is not served here hides no change; a kind of the package that is not served does', () => {
  const followed = new Followed()
  const id = { group: 'argoproj.io', kind: 'Application', namespace: 'apps', name: 'web' }
  const blindness = (): string | undefined =>
    followed.follower.blindness(
      followed.follower.kinds().map((watched): KindWatchState => {
        const fresh = { watched, provenAt: NOW, lists: 1, reopened: 0, events: 0 } as const
        return watched.kind === 'Application'
          ? { ...fresh, state: 'unreadable', lists: 0, failure: failure('BP3009') }
          : { ...fresh, state: 'watching', failure: undefined }
      }),
      NOW,
    )
  followed.verdicts.ofUnit('apps/web').follow({ id, apiVersion: '' }, 'report', undefined)
  assert.equal(blindness(), undefined)
  followed.verdicts.ofUnit('apps/api').follow({ id, apiVersion: '' }, 'other', undefined)
  assert.equal(blindness(), 'Application was not listed yet')
})

test('a report that could not be read names its unit when it is seen or gone, one that is gone when it is back, and one that was absent not', () => {
  for (const verdict of ['other', 'report'] as const) {
    const config = appliedBy('flux', yaml(CONFIG))
    const reason = `${verdict === 'report' ? 'report' : 'object'}: apps/web`
    const begin = (live: LiveState): Followed => {
      const followed = new Followed()
      followed.verdicts
        .ofUnit('apps/web')
        .follow({ id: idOf(WEB_CONFIG), apiVersion: 'v1' }, verdict, live)
      return followed
    }
    const unreadable = { state: 'unreadable', failure: failure('BP3003') } as const
    assert.deepEqual(begin(unreadable).list(CONFIG_MAPS, config), [reason])
    assert.deepEqual(begin(unreadable).list(CONFIG_MAPS), [reason])
    const known = begin(present(config))
    known.verdicts
      .ofUnit('apps/web')
      .follow({ id: idOf(WEB_CONFIG), apiVersion: 'v1' }, verdict, unreadable)
    assert.deepEqual(known.list(CONFIG_MAPS, config), [reason])
    const gone = begin(present(config))
    assert.deepEqual(
      [gone.list(CONFIG_MAPS), gone.list(CONFIG_MAPS), gone.list(CONFIG_MAPS, config)],
      [[reason], [], [reason]],
    )
    assert.deepEqual(begin({ state: 'absent' }).list(CONFIG_MAPS), [])
  }
})

test('a report names its unit when its conditions change, not when its clocks do, and when it is gone', () => {
  const followed = new Followed()
  const kind: WatchedKind = {
    ...DEPLOYMENTS,
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
  }
  const id = {
    group: 'kustomize.toolkit.fluxcd.io',
    kind: 'Kustomization',
    namespace: 'flux-system',
    name: 'shop',
  }
  const object = (status: string, at: string): JsonObject => ({
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    metadata: { name: id.name, namespace: id.namespace },
    status: { conditions: [{ type: 'Ready', status, lastTransitionTime: at }] },
  })
  followed.verdicts
    .ofUnit('apps/web')
    .follow({ id, apiVersion: kind.apiVersion }, 'report', undefined)
  assert.deepEqual(followed.list(kind, object('True', '1')), [])
  assert.deepEqual(followed.change(object('True', '2'), kind), [])
  assert.deepEqual(followed.change(object('False', '2'), kind), ['report: apps/web'])
  followed.follower.deleted(kind, object('False', '2'), 5)
  assert.deepEqual(followed.told(), ['source: ', 'report: apps/web'])
})

test('an autoscaler names the units of its target, when it is new or another one', () => {
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

test('an autoscaler that is gone names the units of its target, by an event and in a list, and one that may not be read those that differ', () => {
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
  followed.follower.deleted(SCALERS, scaler, 5)
  assert.deepEqual(followed.told(), ['report: apps/web'])
  followed.change(scaler, SCALERS)
  assert.deepEqual(followed.list(SCALERS), ['report: apps/web'])
  followed.follower.unreadable(SCALERS, failure('BP3003'))
  assert.deepEqual(followed.told(), ['report: apps/web'])
})

test('another definition of a custom kind names the units that have the kind; another webhook names all', () => {
  const followed = new Followed()
  const shop = { group: 'example.com', kind: 'Shop', namespace: 'shop', name: 'web' }
  followed.verdicts
    .ofUnit('apps/shop')
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
  followed.follower.deleted(webhooks, webhook('two'), 5)
  assert.deepEqual(followed.told(), ['epoch: apps/shop apps/web'])
})

test('a kind that may not be followed everywhere is followed in the namespaces of the units', () => {
  const followed = new Followed()
  const namespaces = (): string[] =>
    followed.follower
      .kinds()
      .flatMap(({ kind, namespace }) => (kind === 'Deployment' ? [namespace] : []))
  followed.verdicts
    .ofUnit('apps/web')
    .follow({ id: { ...idOf(WEB), namespace: 'more' }, apiVersion: 'apps/v1' }, 'other', undefined)
  assert.deepEqual(namespaces(), [''])
  followed.follower.unreadable(DEPLOYMENTS, failure('BP3001'))
  assert.deepEqual(namespaces(), [''], 'the server did not answer')
  followed.follower.unreadable(DEPLOYMENTS, failure('BP3003'))
  assert.deepEqual(namespaces().sort(), ['more', 'shop'])
})

test('of Secrets only the metadata is requested, and what decides answers is always followed', () => {
  const followed = new Followed()
  followed.verdicts
    .ofUnit('apps/web')
    .follow(
      { id: { group: '', kind: 'Secret', namespace: 'shop', name: 'web' }, apiVersion: 'v1' },
      'other',
      undefined,
    )
  const kinds = followed.follower.kinds()
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

test('a cluster is seen when each kind of its units is listed, can be read and was heard of within a minute', () => {
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
  assert.equal(follower.blindness([state()], NOW), undefined)
  assert.equal(
    follower.blindness([state({ state: 'waiting', provenAt: NOW - STALE_AFTER })], NOW),
    undefined,
  )
  assert.match(follower.blindness([], NOW) ?? '', /^Deployment was not listed yet$/)
  assert.match(
    follower.blindness([state({ lists: 0 })], NOW) ?? '',
    /^Deployment was not listed yet$/,
  )
  assert.equal(
    follower.blindness([state({ state: 'unreadable', failure: failure('BP3003') })], NOW),
    'it is forbidden',
  )
  assert.match(
    follower.blindness([state({ provenAt: NOW - STALE_AFTER - 1 })], NOW) ?? '',
    /^nothing was heard of Deployment for 60 s$/,
  )
})

test('an object that changed after a turn read it, before it was known to be of a unit, is found when the turn ends', () => {
  const followed = new Followed()
  const config = appliedBy('flux', yaml(CONFIG))
  const edited = editedBy('kubectl', config, 'data.color', 'red')
  const keep = (object: JsonObject): number =>
    followed.verdicts
      .ofUnit('apps/web')
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
    .ofUnit('apps/web')
    .keep(present(config), { ...IN_SYNC, id: idOf(WEB_CONFIG), apiVersion: 'v1' }, [], NOW)
  same.follower.settle()
  assert.deepEqual(same.told(), [])
})
