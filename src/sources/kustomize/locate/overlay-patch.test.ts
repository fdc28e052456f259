import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { createFieldStep } from '@backporch/kyaml/field'
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

const LABEL = {
  path: [createFieldStep('metadata'), createFieldStep('labels'), createFieldStep('tier')],
  wanted: 'back',
}

test('the file name of a new patch is valid on every system', () => {
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

test("adds a new patch beside patchesStrategicMerge as a separate list, with the object's name", () => {
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

test('writes multiline text in a new patch as a block, also with trailing spaces', () => {
  const id = { group: '', kind: 'ConfigMap', namespace: '', name: 'web' }
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web' } }
  const map = { ...ROLE, id, object } as unknown as DesiredResource
  const patchWith = (kustomization: string, wanted: string): string => {
    const files = overlay(kustomization)
    files.files.delete(BASE)
    const [first] = overlayLocations(files, map, [
      { path: [createFieldStep('data'), createFieldStep('file.conf')], wanted },
    ])
    const [text] = [...(first?.candidates[0]?.texts?.values() ?? [])]
    return text?.slice(text.indexOf('\ndata:') + 1) ?? ''
  }
  const own = 'resources: [../base]\n'
  assert.equal(
    patchWith(own, 'color = blue \n\tsize = 3\n  \nend\n'),
    'data:\n  file.conf: |\n    color = blue \n    \tsize = 3\n      \n    end\n',
  )
  assert.equal(
    patchWith(own, '  first: 1 \nsecond: 2'),
    'data:\n  file.conf: |2-\n      first: 1 \n    second: 2\n',
  )
  assert.equal(patchWith(own, 'a \r\nb'), 'data:\n  file.conf: "a \\r\\nb"\n')
})
