import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  built,
  env,
  IMAGE,
  MANIFEST,
  manifestWith,
  OVERLAY,
  originLinesIn,
} from '../../../../test/fakes/kustomize-origins.ts'

test('reports replacements and vars as possible writers, and no writer decides', () => {
  const texts = {
    'base/kustomization.yaml': `resources: [web.yaml]\nvars:\n- {name: IT, objref: {kind: Service, name: it}}\n`,
    'base/web.yaml': MANIFEST.replace('value: "2"', 'value: $(IT)'),
    'prod/kustomization.yaml': `${OVERLAY}replicas: [{name: web, count: 3}]
replacements:
- source: {kind: Service, name: it}
  targets:
  - select: {kind: Deployment}
    fieldPaths: [spec.replicas, "spec.template.spec.containers.[name=app].env.[name=A].value"]
- path: more.yaml
`,
    'prod/more.yaml':
      '- source: {kind: Service}\n  targets: [{select: {kind: Service}, fieldPaths: [spec.replicas]}]\n',
  }
  const object = built(
    MANIFEST.replace('replicas: 1', 'replicas: 7').replace('value: "2"', 'value: it'),
  )
  const may = 'may be written by'
  assert.deepEqual(originLinesIn(texts, 'spec.replicas', object), [
    'base/web.yaml:7:13',
    'written by replicas of prod/kustomization.yaml:2:31',
    `${may} replacements of prod/kustomization.yaml:4:3`,
  ])
  assert.deepEqual(originLinesIn(texts, env('A'), object), [
    'base/web.yaml:14:28',
    `${may} replacements of prod/kustomization.yaml:4:3`,
  ])
  assert.deepEqual(originLinesIn(texts, env('B'), object), [
    'base/web.yaml:15:28',
    `${may} vars of base/kustomization.yaml:3:3`,
  ])
  assert.deepEqual(originLinesIn(texts, IMAGE, object), ['base/web.yaml:12:16'])
})

test('reports a value that the files do not explain as unexplained', () => {
  const texts = { 'prod/kustomization.yaml': `${OVERLAY}replicas: [{name: web, count: 3}]\n` }
  assert.deepEqual(
    originLinesIn(texts, 'spec.replicas', manifestWith('replicas: 1', 'replicas: 9')),
    ['base/web.yaml:7:13', 'kustomize changes the value that is written there'],
  )
  const transformers = { ...texts, 'prod/kustomization.yaml': `${OVERLAY}transformers: [t.yaml]\n` }
  assert.deepEqual(
    originLinesIn(transformers, 'spec.replicas', manifestWith('replicas: 1', 'replicas: 9')),
    ['base/web.yaml:7:13', 'may be written by transformers of prod/kustomization.yaml:2:15'],
  )
  assert.deepEqual(originLinesIn(transformers, 'spec.replicas', built(MANIFEST)), [
    'base/web.yaml:7:13',
  ])
})

test('decides by the value whether a patch with a changing label selector was applied', () => {
  const texts = {
    'base/web.yaml': MANIFEST.replace('  name: web\n', '  name: web\n  labels: {own: x}\n'),
    'prod/kustomization.yaml': `${OVERLAY}patches:
- target: {kind: Deployment, labelSelector: own=x}
  patch: '[{op: replace, path: /spec/replicas, value: 2}, {op: remove, path: /metadata/labels/own}]'
`,
  }
  assert.deepEqual(
    originLinesIn(texts, 'spec.replicas', manifestWith('replicas: 1', 'replicas: 2')),
    ['base/web.yaml:8:13', 'written by the patch prod/kustomization.yaml:4:10, which decides'],
  )
  assert.deepEqual(originLinesIn(texts, 'spec.replicas', built(MANIFEST)), ['base/web.yaml:8:13'])
})
