import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WatchedKind } from '@backporch/cluster/cluster-watch'
import type { JsonObject } from '@backporch/kyaml/json'
import { listedVerdicts } from '../../../../test/fakes/listed-epochs.ts'
import { ClusterFollower, type UnitChange } from './cluster-follower.ts'

const KIND: WatchedKind = {
  apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
  kind: 'Kustomization',
  namespace: '',
  metadataOnly: false,
}

function kustomization(path: string, more: JsonObject = {}, name = 'apps'): JsonObject {
  return {
    apiVersion: KIND.apiVersion,
    kind: KIND.kind,
    metadata: { name, namespace: 'flux-system' },
    spec: { path },
    ...more,
  }
}

function followed() {
  const told: string[] = []
  const onChange = ({ reason, units }: UnitChange): void =>
    void told.push(`${reason}: ${units.join(' ')}`)
  const verdicts = listedVerdicts()
  const follower = new ClusterFollower({ verdicts, onChange, now: () => 0 })
  const list = (...objects: readonly JsonObject[]): string[] => {
    follower.beginList(KIND)
    for (const object of objects) follower.handleChange(KIND, object, 1)
    follower.finishList(KIND)
    return told.splice(0)
  }
  const change = (object: JsonObject): string[] => {
    follower.handleChange(KIND, object, 1)
    return told.splice(0)
  }
  const remove = (object: JsonObject): string[] => {
    follower.handleDeletion(KIND, object, 1)
    return told.splice(0)
  }
  return { verdicts, follower, list, change, remove }
}

test('a new, respecified or deleted Kustomization may change units; a status change does not', () => {
  const { list, change, remove } = followed()
  assert.deepEqual(
    list(kustomization('./apps')),
    [],
    'those of the first list are known to the turn that follows it',
  )
  assert.deepEqual(
    change(kustomization('./apps', { status: { lastAppliedRevision: 'main@sha1:1' } })),
    [],
  )
  assert.deepEqual(change(kustomization('./other')), ['source: '])
  assert.deepEqual(change(kustomization('./other')), [])
  assert.deepEqual(change(kustomization('./infra', {}, 'infra')), ['source: '])
  assert.deepEqual(remove(kustomization('./infra', {}, 'infra')), ['source: '])
  assert.deepEqual(remove(kustomization('./infra', {}, 'infra')), [])
})

test('a later list reports changes since the one before', () => {
  const { list } = followed()
  list(kustomization('./apps'))
  assert.deepEqual(list(kustomization('./apps')), [])
  assert.deepEqual(list(kustomization('./apps'), kustomization('./infra', {}, 'infra')), [
    'source: ',
  ])
  assert.deepEqual(list(kustomization('./apps')), ['source: '])
})

test('Flux repositories are followed when a Kustomization applies a unit', () => {
  const { verdicts, follower } = followed()
  const kinds = (): string[] => follower.listKinds().map(({ kind }) => kind)
  assert.equal(kinds().includes('GitRepository'), false)
  const id = {
    group: 'kustomize.toolkit.fluxcd.io',
    kind: 'Kustomization',
    namespace: 'flux-system',
    name: 'apps',
  }
  verdicts.getUnitVerdicts('apps').follow({ id, apiVersion: KIND.apiVersion }, 'report', undefined)
  assert.ok(kinds().includes('GitRepository'))
})
