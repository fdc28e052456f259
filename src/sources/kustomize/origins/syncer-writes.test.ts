/** Fields that the resource of a syncer writes, with the line in that resource, found without a build. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  built,
  env,
  IMAGE,
  MANIFEST,
  OVERLAY,
  syncedOriginLines,
} from '../../../../test/fakes/kustomize-origins.ts'
import { yaml } from '../../../../test/fakes/turn-world.ts'
import { createArgoKustomize } from '../../argo-cd/argo-kustomize.ts'
import type { SyncerBuild } from '../../build/built-source.ts'
import { FLUX_BUILDER } from '../../flux/flux-kustomization.ts'

const APPS = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec:
  targetNamespace: shop
  namePrefix: prod-
  commonMetadata:
    labels: {tier: front}
    annotations: {team: shop}
  images:
  - {name: nginx, newTag: "1.27"}
  postBuild:
    substitute:
      replicas: "3"
      color: blue
`
const SHOP = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd}
spec:
  source:
    path: prod
    kustomize:
      namePrefix: prod-
      images:
      - nginx=example.com/nginx:1.27
      - side:2
      replicas:
      - {name: web, count: 3}
      commonLabels: {tier: front}
      labelWithoutSelector: true
      commonAnnotations:
        team: \${ARGOCD_APP_NAME}s
`
const TEXTS = {
  'apps.yaml': APPS,
  'shop.yaml': SHOP,
  'prod/kustomization.yaml': `${OVERLAY}namePrefix: dev-\nimages: [{name: nginx, newTag: "1.1"}]\n`,
  'base/web.yaml': MANIFEST.replace('replicas: 1', 'replicas: ${replicas}').replace(
    '{name: A, value: "1"}',
    '{name: A, value: "${color}-${size:=5}${token}"}',
  ),
}
const LIVE = built(
  MANIFEST.replace(
    'name: web\n',
    'name: prod-web\n  labels: {tier: front}\n  annotations: {team: shop}\n',
  )
    .replace('replicas: 1', 'replicas: 3')
    .replace('nginx:1.0', 'nginx:1.27')
    .replace('value: "1"', 'value: blue-5canary'),
)
const CREDENTIALS = { group: '', kind: 'Secret', namespace: 'flux-system', name: 'credentials' }

function flux(more: Partial<SyncerBuild> = {}): SyncerBuild {
  return {
    title: 'Flux Kustomization flux-system/apps',
    folder: 'prod',
    object: yaml(APPS),
    declared: { path: 'apps.yaml', document: 0 },
    variables: new Map([['token', 'canary']]),
    variableSources: new Map([['token', CREDENTIALS]]),
    builder: FLUX_BUILDER,
    ...more,
  }
}

const SETTINGS = { group: '', kind: 'ConfigMap', namespace: 'flux-system', name: 'settings' }
const lines = (at: string, synced = flux(), texts = {}) =>
  syncedOriginLines(synced, { ...TEXTS, ...texts }, at, [LIVE])

test('a value from a Flux variable has the line that defines the variable', () => {
  assert.deepEqual(lines('spec.replicas'), [
    'base/web.yaml:7:13',
    'written by the variable apps.yaml:14:17 (replicas), which decides',
  ])
})

test('a value with several variables lists each one, and names a Secret without its value', () => {
  assert.deepEqual(lines(env('A')), [
    'base/web.yaml:14:28',
    'written by the variables apps.yaml:15:14 (color) and Secret flux-system/credentials (token), which decides a part of it',
  ])
})

test('names a ConfigMap of the cluster that sets a variable', () => {
  const synced = flux({
    variables: new Map([['replicas', '3']]),
    variableSources: new Map([['replicas', SETTINGS]]),
  })
  const without = APPS.replace('      replicas: "3"\n', '')
  assert.deepEqual(
    lines('spec.replicas', { ...synced, object: yaml(without) }, { 'apps.yaml': without }),
    [
      'base/web.yaml:7:13',
      'written by the variable ConfigMap flux-system/settings (replicas), which decides',
    ],
  )
})

test('a variable set by a ConfigMap of the repository has its line', () => {
  const place = { path: 'settings.yaml', document: 0, at: ['data', 'replicas'] }
  const synced = flux({
    variables: new Map([['replicas', '3']]),
    variableSources: new Map([['replicas', { ...SETTINGS, place }]]),
  })
  const without = APPS.replace('      replicas: "3"\n', '')
  const texts = { 'apps.yaml': without, 'settings.yaml': 'data:\n  replicas: "3"\n' }
  assert.deepEqual(lines('spec.replicas', { ...synced, object: yaml(without) }, texts), [
    'base/web.yaml:7:13',
    'written by the variable settings.yaml:2:13 (replicas), which decides',
  ])
})

test('the default of an unset variable comes from the manifest', () => {
  const texts = { 'base/web.yaml': MANIFEST.replace('replicas: 1', 'replicas: ${other:=3}') }
  assert.deepEqual(lines('spec.replicas', flux(), texts), ['base/web.yaml:7:13'])
})

test('an object excluded from substitution keeps its text', () => {
  const mark = '  annotations: {kustomize.toolkit.fluxcd.io/substitute: disabled}\n'
  const marked = MANIFEST.replace('  namespace: shop\n', `  namespace: shop\n${mark}`).replace(
    'replicas: 1',
    "replicas: '${replicas}'",
  )
  const found = syncedOriginLines(flux(), { ...TEXTS, 'base/web.yaml': marked }, 'spec.replicas', [
    built(marked),
  ])
  assert.deepEqual(found, ['base/web.yaml:8:13'])
})

test('a common label or annotation of Flux has the line of commonMetadata', () => {
  assert.deepEqual(lines('metadata.labels.tier'), ['written by commonMetadata of apps.yaml:8:20'])
  assert.deepEqual(lines('metadata.annotations.team'), [
    'written by commonMetadata of apps.yaml:9:25',
  ])
})

test('an image in the Flux resource has its line, and replaces that of the kustomization', () => {
  assert.deepEqual(lines(IMAGE), [
    'base/web.yaml:12:16',
    'written by images of apps.yaml:11:27 (newTag), which decides the tag',
  ])
})

test('names an undeclared resource as an object of the cluster', () => {
  const synced = flux({ declared: undefined })
  const title = 'Flux Kustomization flux-system/apps'
  assert.deepEqual(lines('metadata.labels.tier', synced), [`written by commonMetadata of ${title}`])
  assert.deepEqual(lines('spec.replicas', synced).slice(1), [
    `written by the variable ${title} (replicas), which decides`,
  ])
})

test('the same applies in a folder without a kustomization, whose manifests Flux applies', () => {
  const texts = { 'prod/web.yaml': TEXTS['base/web.yaml'], 'apps.yaml': APPS }
  const desired = { ...LIVE, location: { ...LIVE.location, path: 'prod/web.yaml' } }
  const found = (at: string) => syncedOriginLines(flux(), texts, at, [desired])
  assert.deepEqual(
    found('spec.replicas')[1],
    'written by the variable apps.yaml:14:17 (replicas), which decides',
  )
  assert.deepEqual(found('metadata.labels.tier'), ['written by commonMetadata of apps.yaml:8:20'])
})

const argo: SyncerBuild = {
  title: 'Argo CD Application argocd/shop',
  folder: 'prod',
  object: yaml(SHOP),
  declared: { path: 'shop.yaml', document: 0 },
  variables: new Map(),
  builder: createArgoKustomize({ at: ['source'], instance: 'shop' }),
}
const PLAIN = { 'base/web.yaml': MANIFEST }
const ARGO_LIVE = built(
  MANIFEST.replace(
    'name: web\n',
    'name: prod-web\n  labels: {tier: front}\n  annotations: {team: shops}\n',
  )
    .replace('replicas: 1', 'replicas: 3')
    .replace('nginx:1.0', 'example.com/nginx:1.27'),
)
const argoLines = (at: string, texts = {}) =>
  syncedOriginLines(argo, { ...TEXTS, ...PLAIN, ...texts }, at, [ARGO_LIVE])

test('an image, replicas, labels and annotations of an Argo CD Application have its lines', () => {
  assert.deepEqual(argoLines(IMAGE), [
    'base/web.yaml:12:16',
    'written by images of shop.yaml:10:9, which decides',
  ])
  assert.deepEqual(argoLines('spec.replicas'), [
    'base/web.yaml:7:13',
    'written by replicas of shop.yaml:13:28, which decides',
  ])
  assert.deepEqual(argoLines('metadata.labels.tier'), [
    'written by commonLabels of shop.yaml:14:28',
  ])
  assert.deepEqual(argoLines('metadata.annotations.team'), [
    'written by commonAnnotations of shop.yaml:17:15',
  ])
})

test('a prefix of the Application replaces that of the kustomization', () => {
  assert.deepEqual(argoLines('metadata.name').slice(1), [
    'written by namePrefix of shop.yaml:8:19, which decides the prefix',
  ])
})

test('an override in the folder has its line, and the list that it replaces has none', () => {
  const override = {
    'prod/.argocd-source-shop.yaml': 'kustomize:\n  images: ["nginx=example.com/nginx:1.27"]\n',
  }
  assert.deepEqual(argoLines(IMAGE, override), [
    'base/web.yaml:12:16',
    'written by images of prod/.argocd-source-shop.yaml:2:12, which decides',
  ])
})

test('a label without selectors does not apply to a selector', () => {
  const found = syncedOriginLines(argo, { ...TEXTS, ...PLAIN }, 'spec.selector.matchLabels.tier', [
    ARGO_LIVE,
  ])
  assert.deepEqual(found, ['not there; it would go into base/web.yaml:7'])
})
