import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FoundPackage } from '@backporch/kpt/package'
import type { RepositoryView } from './repository-view.ts'
import { listPathsByResource } from './unit-names.ts'

const TITLES = {
  'clusters/prod/apps': 'Flux Kustomization flux-system/apps',
  'apps/radarr/app': 'Flux HelmRelease default/radarr',
  'apps/radarr/db': 'Flux HelmRelease data/radarr',
  shop: 'Argo CD Application argocd/shop (made by the ApplicationSet shops)',
  gone: 'Flux Kustomization flux-system/gone',
}

function paths(name: string): readonly string[] {
  const found = (path: string): FoundPackage => ({
    path,
    rootPackage: false,
    subpackages: [],
    source: 'folder',
  })
  const packages = Object.keys(TITLES)
    .filter((path) => path !== 'gone')
    .map(found)
  const recorded = Object.entries(TITLES).map(([path, appliedBy]) => ({
    cluster: 'prod',
    path,
    isFolder: true,
    appliedBy,
  }))
  return listPathsByResource(
    { packages, recorded, policies: {} as RepositoryView['policies'] },
    name,
  )
}

test('a unit is named by the kind, the namespace and the name of the resource that applies it', () => {
  assert.deepEqual(paths('ks/flux-system/apps'), ['clusters/prod/apps'])
  assert.deepEqual(paths('Kustomization/apps'), ['clusters/prod/apps'])
  assert.deepEqual(paths('hr/default/radarr'), ['apps/radarr/app'])
  assert.deepEqual(paths('app/shop'), ['shop'])
})

test('a name without a kind or namespace matches any kind or namespace', () => {
  assert.deepEqual(paths('default/radarr'), ['apps/radarr/app'])
  assert.deepEqual(paths('hr/radarr'), ['apps/radarr/app', 'apps/radarr/db'])
  assert.deepEqual(paths('shop'), ['shop'])
})

test('another kind, a partial name and an unknown unit match nothing', () => {
  for (const name of ['ks/flux-system/radarr', 'hr/shop', 'adarr', 'ks', 'hr/', '', 'gone'])
    assert.deepEqual(paths(name), [], name)
})
