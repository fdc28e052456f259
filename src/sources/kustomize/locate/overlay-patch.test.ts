import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { field } from '@backporch/kyaml/field'
import type { PackageFile } from '@backporch/kyaml/files'
import { overlayLocations, overlayRemoval } from './overlay-patch.ts'

const BASE = 'base/role.yaml'

function overlay(kustomization: string) {
  const texts = {
    [BASE]:
      'apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: "shop:read"}\n',
    'prod/kustomization.yaml': kustomization,
  }
  const files = new Map(
    Object.entries(texts).map(([path, text]): [string, PackageFile] => [
      path,
      { path, mode: '100644', content: new TextEncoder().encode(text) },
    ]),
  )
  return { folder: 'prod', files }
}

const ROLE = {
  id: { group: 'rbac.authorization.k8s.io', kind: 'ClusterRole', namespace: '', name: 'shop:read' },
  object: {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'shop:read' },
  },
  location: { path: BASE, document: 0, item: undefined, line: 1, step: undefined },
} as unknown as DesiredResource

const LABEL = { path: [field('metadata'), field('labels'), field('tier')], wanted: 'back' }

test('the file of a new patch has a name that every system takes', () => {
  const edited = overlay('resources: [../base]\n')
  const [first] = overlayLocations(edited, ROLE, [LABEL])
  assert.deepEqual(
    [...(first?.candidates[0]?.texts?.keys() ?? [])],
    ['prod/clusterrole-shop-read-patch.yaml'],
  )
  const [removed] = overlayRemoval(edited, ROLE)
  assert.deepEqual(
    [...(removed?.candidates[0]?.texts?.keys() ?? [])],
    ['prod/clusterrole-shop-read-patch.yaml'],
  )
})

test('a new patch is beside patchesStrategicMerge in a list of its own, with the name of the object', () => {
  const [first] = overlayLocations(
    overlay('resources: [../base]\npatchesStrategicMerge: []\n'),
    ROLE,
    [LABEL],
  )
  const candidate = first?.candidates[0]
  assert.deepEqual(
    candidate?.edits.map(({ path, edit }) => [path, edit.kind === 'set' ? edit.value : edit.kind]),
    [['prod/kustomization.yaml', [{ path: 'clusterrole-shop-read-patch.yaml' }]]],
  )
  assert.match([...(candidate?.texts?.values() ?? [])][0] ?? '', /name: shop:read\n/)
})
