import assert from 'node:assert/strict'
import { test } from 'node:test'
import { built, MANIFEST, OVERLAY, syncedOriginLines } from '../../../test/fakes/kustomize-origins.ts'
import { FLUX_BUILDER } from '../../render/flux/flux-kustomization.ts'
import type { SyncerBuild } from '../../render/syncer-build.ts'
import { isJsonObject, type JsonObject } from '../../text/json.ts'
import { parseGoYaml } from '../../yaml/read/go-yaml.ts'

const APPS = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec:
  path: ./prod
  commonMetadata:
    labels:
      team: shop
  postBuild:
    substitute:
      count: "5"
`

function linesOf(path: string, manifest: string, live: string, { isDeclared = true, variables = {} } = {}): readonly string[] {
  const [document] = parseGoYaml(APPS, 'apps.yaml').documents
  assert(isJsonObject(document?.value))
  const synced: SyncerBuild = {
    title: 'Flux Kustomization flux-system/apps',
    folder: 'prod',
    object: document.value as JsonObject,
    variables: new Map(Object.entries(variables)),
    declared: isDeclared ? { path: 'clusters/apps.yaml', document: 0 } : undefined,
    builder: FLUX_BUILDER,
  }
  const texts = { 'prod/kustomization.yaml': OVERLAY, 'base/web.yaml': manifest, 'clusters/apps.yaml': APPS }
  return syncedOriginLines(texts, path, synced, built(live))
}

test('a variable is reported with the line that sets it', () => {
  const manifest = MANIFEST.replace('replicas: 1', 'replicas: ${count}')
  const live = MANIFEST.replace('replicas: 1', 'replicas: 5')
  assert.deepEqual(linesOf('spec.replicas', manifest, live), [
    'base/web.yaml:7:13',
    'written by the variable of clusters/apps.yaml:11:14, which decides',
  ])
  assert.deepEqual(linesOf('spec.replicas', manifest, live, { isDeclared: false }), [
    'base/web.yaml:7:13',
    'the variable count is set by Flux Kustomization flux-system/apps, in no file that is known here',
  ])
})

test('a variable of a ConfigMap or a Secret is named without its value', () => {
  const manifest = MANIFEST.replace('replicas: 1', 'replicas: ${other:=7}')
  const live = MANIFEST.replace('replicas: 1', 'replicas: 9')
  assert.deepEqual(linesOf('spec.replicas', manifest, live, { variables: { other: '9' } }), [
    'base/web.yaml:7:13',
    'the variable other is set by Flux Kustomization flux-system/apps, in no file that is known here',
  ])
})

test('a label of commonMetadata is reported with its line', () => {
  const live = MANIFEST.replace('  name: web\n', '  name: web\n  labels: {team: shop}\n')
  assert.deepEqual(linesOf('metadata.labels.team', MANIFEST, live).slice(-1), ['written by commonMetadata of clusters/apps.yaml:8:13'])
  assert.deepEqual(linesOf('metadata.labels.team', MANIFEST, live, { isDeclared: false }).slice(-1), [
    'written by commonMetadata of Flux Kustomization flux-system/apps',
  ])
})

test('a text that Flux substitutes otherwise is not explained by its variables', () => {
  const manifest = MANIFEST.replace('replicas: 1', 'replicas: ${count}')
  assert.deepEqual(linesOf('spec.replicas', manifest, MANIFEST.replace('replicas: 1', 'replicas: 6')), [
    'base/web.yaml:7:13',
    'kustomize makes another value of it than is written there',
  ])
})
