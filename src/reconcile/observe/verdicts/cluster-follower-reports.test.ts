import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KindWatchState, WatchedKind } from '@backporch/cluster/cluster-watch'
import type { JsonObject } from '@backporch/kyaml/json'
import type { LiveState } from '@backporch/kyaml/resource'
import {
  CONFIG_MAPS,
  DEPLOYMENTS,
  Followed,
  failure,
  NOW,
  present,
} from '../../../../test/fakes/followed-cluster.ts'
import { appliedBy, editedBy } from '../../../../test/fakes/live-object.ts'
import { idOf } from '../../../../test/fakes/memory-cluster.ts'
import { CONFIG, WEB_CONFIG, yaml } from '../../../../test/fakes/turn-world.ts'

test('a list makes an unseen followed object known, and an event reports it as changed', () => {
  for (const verdict of ['other', 'report'] as const) {
    const config = appliedBy('flux', yaml(CONFIG))
    const [listed, told] = [new Followed(), new Followed()]
    for (const { verdicts } of [listed, told])
      verdicts
        .getUnitVerdicts('apps/web')
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

test('reports a list with another state than the turn read, and a change during the turn', () => {
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
        .getUnitVerdicts('apps/web')
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
      .getUnitVerdicts('apps/web')
      .follow({ id: idOf(WEB_CONFIG), apiVersion: 'v1' }, verdict, read)
    late.follower.settle()
    assert.deepEqual(late.told(), ['object: apps/web'])
  }
})

test('a syncer resource is followed in the preferred or declared version, a Secret as metadata only', () => {
  const followed = new Followed()
  const unit = followed.verdicts.getUnitVerdicts('apps/web')
  const follow = (group: string, kind: string, apiVersion: string): void =>
    unit.follow(
      { id: { group, kind, namespace: 'apps', name: 'web' }, apiVersion },
      'report',
      undefined,
    )
  const versions = (): string[] =>
    followed.follower
      .listKinds()
      .filter(({ kind }) => kind === 'Application' || kind === 'Secret')
      .map(({ apiVersion, kind, metadataOnly }) => `${apiVersion} ${kind} ${metadataOnly}`)
  follow('argoproj.io', 'Application', '')
  follow('', 'Secret', '')
  assert.deepEqual(versions(), ['argoproj.io/ Application false', 'v1 Secret true'])
  unit.follow(
    {
      id: { group: 'argoproj.io', kind: 'Application', namespace: 'apps', name: 'more' },
      apiVersion: 'argoproj.io/v1alpha1',
    },
    'other',
    undefined,
  )
  assert.deepEqual(versions(), ['argoproj.io/v1alpha1 Application false', 'v1 Secret true'])
})

test('an unserved syncer kind hides no change; an unserved kind of the package does', () => {
  const followed = new Followed()
  const id = { group: 'argoproj.io', kind: 'Application', namespace: 'apps', name: 'web' }
  const blindness = (): string | undefined =>
    followed.follower.findBlindness(
      followed.follower.listKinds().map((watched): KindWatchState => {
        const fresh = { watched, provenAt: NOW, lists: 1, reopened: 0, events: 0 } as const
        return watched.kind === 'Application'
          ? { ...fresh, state: 'unreadable', lists: 0, failure: failure('BP3009') }
          : { ...fresh, state: 'watching', failure: undefined }
      }),
      NOW,
    )
  followed.verdicts.getUnitVerdicts('apps/web').follow({ id, apiVersion: '' }, 'report', undefined)
  assert.equal(blindness(), undefined)
  followed.verdicts.getUnitVerdicts('apps/api').follow({ id, apiVersion: '' }, 'other', undefined)
  assert.equal(blindness(), 'Application was not listed yet')
})

test('an unreadable report concerns its unit when seen or deleted; a deleted one when it returns', () => {
  for (const verdict of ['other', 'report'] as const) {
    const config = appliedBy('flux', yaml(CONFIG))
    const reason = `${verdict === 'report' ? 'report' : 'object'}: apps/web`
    const begin = (live: LiveState): Followed => {
      const followed = new Followed()
      followed.verdicts
        .getUnitVerdicts('apps/web')
        .follow({ id: idOf(WEB_CONFIG), apiVersion: 'v1' }, verdict, live)
      return followed
    }
    const unreadable = { state: 'unreadable', failure: failure('BP3003') } as const
    assert.deepEqual(begin(unreadable).list(CONFIG_MAPS, config), [reason])
    assert.deepEqual(begin(unreadable).list(CONFIG_MAPS), [reason])
    const known = begin(present(config))
    known.verdicts
      .getUnitVerdicts('apps/web')
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

test('a report concerns its unit when conditions change or it is deleted, not when timestamps do', () => {
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
    .getUnitVerdicts('apps/web')
    .follow({ id, apiVersion: kind.apiVersion }, 'report', undefined)
  assert.deepEqual(followed.list(kind, object('True', '1')), [])
  assert.deepEqual(followed.change(object('True', '2'), kind), [])
  assert.deepEqual(followed.change(object('False', '2'), kind), ['report: apps/web'])
  followed.follower.handleDeletion(kind, object('False', '2'), 5)
  assert.deepEqual(followed.told(), ['source: ', 'report: apps/web'])
})
