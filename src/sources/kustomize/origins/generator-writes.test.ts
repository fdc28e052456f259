import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  built,
  env,
  MANIFEST,
  manifestWith,
  OVERLAY,
  originLinesIn,
} from '../../../../test/fakes/kustomize-origins.ts'

test('reports literals, files and env files of generators, also for a Secret, without its values', () => {
  const texts = {
    'base/kustomization.yaml': `resources: [web.yaml]
configMapGenerator:
- name: conf
  literals: [a=1, b=2]
  files: [app.conf]
secretGenerator:
- name: keys
  literals: [password=hunter2]
`,
    'base/app.conf': 'x\n',
    'prod/kustomization.yaml': `${OVERLAY}configMapGenerator:\n- name: conf\n  behavior: merge\n  literals: ["b=3"]\n  envs: [all.env]\n`,
    'prod/all.env': '# all\n LEVEL=info\n',
  }
  const from = (step: string, line: number) => ({ path: 'base/kustomization.yaml', line, step })
  const conf = built(
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf-h7}\ndata: {a: "1", b: "3", app.conf: "x\\n", LEVEL: info}\n',
    from('configMapGenerator', 3),
  )
  const list = 'written by configMapGenerator of'
  assert.deepEqual(originLinesIn(texts, 'data.a', conf), [`${list} base/kustomization.yaml:4:14`])
  assert.deepEqual(originLinesIn(texts, 'data.b', conf), [
    `${list} base/kustomization.yaml:4:19`,
    `${list} prod/kustomization.yaml:5:14, which decides`,
  ])
  assert.deepEqual(originLinesIn(texts, 'data["app.conf"]', conf), [
    `${list} base/kustomization.yaml:5:11, from the file base/app.conf`,
  ])
  assert.deepEqual(originLinesIn(texts, 'data.LEVEL', conf), [
    `${list} prod/kustomization.yaml:6:10, from prod/all.env:2:8`,
  ])
  assert.deepEqual(originLinesIn(texts, 'data.c', conf), [
    'not there; it would go into base/kustomization.yaml:3',
  ])
  const keys = built(
    'apiVersion: v1\nkind: Secret\nmetadata: {name: keys-h8}\ndata: {password: aHVudGVyMg==}\n',
    from('secretGenerator', 7),
  )
  assert.deepEqual(originLinesIn(texts, 'data.password', keys), [
    'written by secretGenerator of base/kustomization.yaml:8:14',
  ])
})

test('locates an env file under its old field name, and a value from a merge key', () => {
  const texts = {
    'base/kustomization.yaml':
      'resources: [web.yaml]\nconfigMapGenerator:\n- name: conf\n  env: all.env\n',
    'base/all.env': 'LEVEL=info\r\n',
    'base/web.yaml': MANIFEST.replace('  name: web\n', '  name: web\n  labels: {<<: {a: b}}\n'),
    'prod/kustomization.yaml': OVERLAY,
  }
  const location = { path: 'base/kustomization.yaml', line: 3, step: 'configMapGenerator' }
  const conf = built(
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf-h7}\ndata: {LEVEL: info}\n',
    location,
  )
  assert.deepEqual(originLinesIn(texts, 'data.LEVEL', conf), [
    'written by configMapGenerator of base/kustomization.yaml:4:8, from base/all.env:1:7',
  ])
  const object = manifestWith('  name: web\n', '  name: web\n  labels: {a: b}\n')
  assert.deepEqual(originLinesIn(texts, 'metadata.labels.a', object), ['base/web.yaml:5:11'])
})

test('explains a reference to a renamed object by the renamed object', () => {
  const texts = {
    'base/kustomization.yaml':
      'resources: [web.yaml]\nconfigMapGenerator:\n- name: conf\n  literals: [a=1]\n',
    'base/web.yaml': MANIFEST.replace(
      'value: "1"',
      'valueFrom: {configMapKeyRef: {name: conf, key: a}}',
    ),
    'prod/kustomization.yaml': OVERLAY,
  }
  const conf = built('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf-h7}\n', {
    path: 'base/kustomization.yaml',
    line: 3,
    step: 'configMapGenerator',
  })
  const object = manifestWith('value: "1"', 'valueFrom: {configMapKeyRef: {name: conf-h7, key: a}}')
  assert.deepEqual(
    originLinesIn(
      texts,
      'spec.template.spec.containers[name=app].env[name=A].valueFrom.configMapKeyRef.name',
      object,
      conf,
    ),
    [
      'base/web.yaml:14:57',
      'written by kustomize, which puts the whole name of ConfigMap conf-h7 there (base/kustomization.yaml:3)',
    ],
  )
  assert.deepEqual(
    originLinesIn(texts, `${env('A').replace('.value', '')}.valueFrom`, object, conf),
    [
      'base/web.yaml:14:32',
      'configMapKeyRef.name written by kustomize, which puts the whole name of ConfigMap conf-h7 there (base/kustomization.yaml:3)',
    ],
  )
})
