import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '@backporch/kyaml/json'
import { getResourceKey } from '@backporch/kyaml/resource'
import { deploymentOf } from '../../test/fakes/syncer-marks.ts'
import * as fc from '../../test/seeds/fast-check.ts'
import { isMarkedBy, listClaims } from './claims.ts'
import { parseObjMetadata } from './flux.ts'
import { formatRelease } from './flux-release-name.ts'
import { getApplierKind } from './registry.ts'
import type { ListedResources, SyncerSource } from './syncer.ts'

const KUSTOMIZATION = 'flux-kustomization'
const APPLICATION = 'argo-application'

function inventoryIn(tool: string, own: JsonObject): ListedResources | undefined {
  const { inventory } = getApplierKind(tool)
  return inventory === 'none' ? undefined : inventory.listed(own)
}

function sourceOf(tool: string, own: JsonObject | undefined): SyncerSource {
  return getApplierKind(tool).source(own)
}

test('parses a cli-utils id, with colons in RBAC names, and rejects an invalid one', () => {
  assert.deepEqual(parseObjMetadata('shop_web_apps_Deployment'), {
    group: 'apps',
    kind: 'Deployment',
    namespace: 'shop',
    name: 'web',
  })
  assert.deepEqual(parseObjMetadata('_shop__Namespace'), {
    group: '',
    kind: 'Namespace',
    namespace: '',
    name: 'shop',
  })
  assert.deepEqual(parseObjMetadata('_system__node_rbac.authorization.k8s.io_ClusterRole'), {
    group: 'rbac.authorization.k8s.io',
    kind: 'ClusterRole',
    namespace: '',
    name: 'system:node',
  })
  for (const text of ['', 'shop_web_apps', 'a_b_c_d_e', 'shop__apps_Deployment_'])
    assert.equal(parseObjMetadata(text), undefined, text)
})

test('parses back every id that cli-utils can write', () => {
  const part = fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,8}[a-z0-9])?$/)
  const name = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(':'))
  fc.assert(
    fc.property(
      fc.constantFrom('', 'shop'),
      name,
      fc.constantFrom('', 'apps'),
      fc.constantFrom('Deployment', 'Role'),
      (namespace, name, group, kind) => {
        const text = `${namespace}_${name.replaceAll(':', '__')}_${group}_${kind}`
        assert.deepEqual(parseObjMetadata(text), { group, kind, namespace, name })
      },
    ),
  )
})

test('the inventory of a Kustomization is in its status, and its folder comes from git', () => {
  const entries = [
    { id: 'shop_web_apps_Deployment', v: 'v1' },
    { id: 'nonsense', v: 'v1' },
    'nothing',
  ]
  const own = {
    spec: { path: './apps/web/', targetNamespace: 'shop' },
    status: { inventory: { entries } },
  }
  const found = inventoryIn(KUSTOMIZATION, own)
  assert.deepEqual(found?.resources.map(getResourceKey), ['apps/Deployment/shop/web'])
  assert.equal(found?.extraneous, undefined)
  assert.deepEqual(sourceOf(KUSTOMIZATION, own), {
    folder: 'apps/web',
    transformed: undefined,
    choosesNamespace: true,
  })
  assert.equal(inventoryIn(KUSTOMIZATION, { spec: {}, status: {} }), undefined)
  assert.equal(inventoryIn('flux-helmrelease', own)?.resources.length, 1)
  assert.equal(inventoryIn('helm', own), undefined)
})

test('a source gives its folder, the field that renames objects, and whether it chooses namespaces', () => {
  const folder = (path: string) => sourceOf(KUSTOMIZATION, { spec: { path } }).folder
  assert.deepEqual(['./', '.', '', '/apps', '../other'].map(folder), [
    '',
    '',
    '',
    'apps',
    undefined,
  ])
  assert.equal(sourceOf(KUSTOMIZATION, {}).folder, '')
  assert.equal(
    sourceOf(KUSTOMIZATION, { spec: { sourceRef: { kind: 'OCIRepository' }, path: './apps' } })
      .folder,
    undefined,
  )
  assert.equal(sourceOf(KUSTOMIZATION, { spec: { namePrefix: 'eu-' } }).transformed, 'namePrefix')
  assert.equal(
    sourceOf(KUSTOMIZATION, { spec: { components: [], patches: [{}] } }).transformed,
    undefined,
  )
  assert.equal(sourceOf('config-sync', { spec: { git: { dir: 'fleet/eu' } } }).folder, 'fleet/eu')
  assert.equal(sourceOf('config-sync', { spec: { oci: {} } }).folder, undefined)
  assert.equal(sourceOf('kpt-live', undefined).choosesNamespace, false)
})

test('an Application distinguishes objects missing from its own git, and its inventory has no hooks', () => {
  const entry = (name: string, more: object) => ({
    group: 'apps',
    version: 'v1',
    kind: 'Deployment',
    namespace: 'shop',
    name,
    ...more,
  })
  const resources = [
    entry('web', {}),
    entry('old', { requiresPruning: true }),
    entry('hook', { hook: true }),
    { kind: 'Deployment' },
  ]
  const own = {
    spec: { source: { path: 'apps/web' } },
    status: { resources, sourceType: 'Directory' },
  }
  const found = inventoryIn(APPLICATION, own)
  assert.deepEqual(
    found?.resources.map(({ name }) => name),
    ['web', 'old'],
  )
  assert.deepEqual(
    found?.extraneous?.map(({ name }) => name),
    ['old'],
  )
  assert.equal(sourceOf(APPLICATION, own).transformed, undefined)
  assert.equal(
    sourceOf(APPLICATION, { spec: { source: { path: 'a' } }, status: { sourceType: 'Kustomize' } })
      .transformed,
    'Kustomize',
  )
  const several = { spec: { sources: [{ path: 'a' }, { path: 'b' }] } }
  assert.equal(sourceOf(APPLICATION, several).folder, undefined)
  assert.equal(sourceOf(APPLICATION, { spec: { sources: [{ path: 'a' }] } }).folder, 'a')
  assert.equal(inventoryIn(APPLICATION, { status: {} }), undefined)
})

test('the release of a HelmRelease is its newest snapshot, else the name from its spec', () => {
  const claim = { namespace: 'apps', name: 'web' }
  assert.deepEqual(formatRelease(claim, {}), { namespace: 'apps', name: 'web' })
  assert.deepEqual(formatRelease(claim, { spec: { targetNamespace: 'shop' } }), {
    namespace: 'apps',
    name: 'shop-web',
  })
  const named = { spec: { releaseName: 'front', storageNamespace: 'store' } }
  assert.deepEqual(formatRelease(claim, named), { namespace: 'store', name: 'front' })
  const run = {
    ...named,
    status: { storageNamespace: 'before', history: [{ name: 'older', version: 3 }] },
  }
  assert.deepEqual(formatRelease(claim, run), { namespace: 'before', name: 'older' })
})

test('finds an object by the mark of its neighbor, and not a copy under another name', () => {
  for (const by of ['kustomization', 'argo', 'rootSync', 'kptLive', 'helm'] as const) {
    const object = deploymentOf([by])
    const [claim] = listClaims(
      new Map([['apps/Deployment/shop/web', { state: 'present', object, metadataOnly: false }]]),
    )
    assert.ok(claim, by)
    assert.equal(isMarkedBy(claim, object), true, by)
    assert.equal(isMarkedBy({ ...claim, name: 'other' }, object), false, by)
    assert.equal(isMarkedBy(claim, {}), false, by)
  }
  const [argo] = listClaims(
    new Map([
      [
        'apps/Deployment/shop/web',
        { state: 'present', object: deploymentOf(['argo']), metadataOnly: false },
      ],
    ]),
  )
  assert.equal(argo !== undefined && isMarkedBy(argo, deploymentOf(['argo'], {}, 'copy')), false)
})

test('selects a list only by marks that are always labels', () => {
  const claim = { namespace: 'apps', name: 'web' }
  assert.match(
    getApplierKind(KUSTOMIZATION).selector(claim),
    /^kustomize\.[^=]+\/name=web,kustomize\.[^=]+\/namespace=apps$/,
  )
  assert.equal(getApplierKind(APPLICATION).selector(claim), '')
})
