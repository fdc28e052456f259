import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeYamlNode } from '@backporch/kyaml/edit-yaml'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import { copyNode, type YamlMap } from '@backporch/kyaml/yaml'
import { oddConfig, oddItems } from '../../test/functions/odd-objects.ts'
import * as fc from '../../test/seeds/fast-check.ts'
import { setAnnotations } from './fn.ts'

function nodes(text: string): YamlMap[] {
  return readYamlNodes(text, 'test.yaml').filter((node) => node.kind === 'map')
}

const configMap = (data: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: function-input\ndata: {${data}}\n`
const own = (rest: string) =>
  `apiVersion: fn.kpt.dev/v1alpha1\nkind: SetAnnotations\nmetadata:\n  name: c\n${rest}`
const CONFIG = configMap('team: shop')

function run(text: string, config = CONFIG) {
  const output = setAnnotations({ items: nodes(text), config: nodes(config)[0] })
  return { ...output, text: output.items.map((item) => writeYamlNode(item)).join('---\n') }
}

const object = (kind: string, rest = '') => {
  const [apiVersion, name] = kind.split(' ')
  return `apiVersion: ${apiVersion}\nkind: ${name}\nmetadata:\n  name: a\n${rest}`
}
const ANNOTATED = '  annotations:\n    team: shop\n'
const TEMPLATE = 'spec:\n  template:\n    metadata:\n      annotations:\n        team: shop\n'

test('annotates every object and its pod templates', () => {
  for (const kind of ['v1 Service', 'example.com/v1 Shop', 'v1 Pod', 'example.com/v1 Job'])
    assert.equal(run(object(kind)).text, object(kind, ANNOTATED))
  for (const kind of [
    'v1 ReplicationController',
    'apps/v1 Deployment',
    'apps/v1 ReplicaSet',
    'apps/v1 DaemonSet',
    'example.com/v1 StatefulSet',
    'batch/v1 Job',
  ])
    assert.equal(run(object(kind)).text, object(kind, ANNOTATED + TEMPLATE))
  const cron = run(object('batch/v1 CronJob')).text
  assert.equal(cron.match(/team: shop/g)?.length, 3)
  assert.match(
    cron,
    / {2}jobTemplate:\n {4}metadata:\n {6}annotations:\n {8}team: shop\n {4}spec:\n {6}template:\n {8}metadata:\n/,
  )
})

test('annotates local-config objects too', () => {
  assert.match(
    run(object('v1 ConfigMap', "  annotations:\n    config.kubernetes.io/local-config: 'true'\n"))
      .text,
    /team: shop/,
  )
})

test('an existing value keeps its quotes and comment, and new fields get the same quotes', () => {
  const before = object(
    'apps/v1 Deployment',
    '  annotations:\n    team: \'old\' # whose\n    on: "1"\n',
  )
  assert.equal(
    run(before).text,
    `${before.replace("'old'", "'shop'")}${TEMPLATE.replace('team: shop', "team: 'shop'")}`,
  )
  const below = object('apps/v1 Deployment', TEMPLATE.replace('team: shop', 'team: "old"'))
  assert.equal(
    run(below).text,
    object(
      'apps/v1 Deployment',
      `${ANNOTATED.replace('shop', '"shop"')}${TEMPLATE.replace('team: shop', 'team: "shop"')}`,
    ),
  )
})

test('quotes an unquoted number, boolean or map value', () => {
  const values: readonly (readonly [string, string])[] = [
    ['"1"', '"1"'],
    ['"yes"', '"yes"'],
    ['"a: b"', '"a: b"'],
    ['"[a]"', '"[a]"'],
    ['"@a"', "'@a'"],
    ['"2020-01-01"', '"2020-01-01"'],
    ['""', '""'],
    ['"a b"', 'a b'],
  ]
  for (const [given, written] of values)
    assert.equal(
      run(object('v1 Secret'), configMap(`team: ${given}`)).text,
      object('v1 Secret', ANNOTATED.replace('shop', written)),
      given,
    )
})

test('null annotations become a map, and any other type fails', () => {
  assert.equal(
    run(object('v1 Secret', '  annotations: null\n')).text,
    object('v1 Secret', ANNOTATED),
  )
  const { exitCode, results } = run(object('v1 Secret', '  annotations: 7\n'))
  assert.equal(exitCode, 1)
  assert.equal(
    results[0]?.message,
    "failed to run function: failed to run transformer: considering field 'metadata/annotations' of object Secret.v1.[noGrp]/a.[noNs]: wrong Node Kind for metadata.annotations expected: MappingNode was ScalarNode",
  )
})

test('finds additional fields in lists, and creates them only if they say create', () => {
  const field = (rest: string) =>
    own(`annotations: {team: shop}\nadditionalAnnotationFields:\n- kind: Shop\n  ${rest}\n`)
  const shop = object(
    'example.com/v1 Shop',
    'spec:\n  parts:\n  - name: b\n    annotations: {}\n  - name: c\n',
  )
  const annotated = shop
    .replace('name: a\n', `name: a\n${ANNOTATED}`)
    .replace('annotations: {}', 'annotations: {team: shop}')
  assert.equal(run(shop, field('path: spec/parts/annotations')).text, annotated)
  assert.equal(run(shop, field('path: spec/parts[]/annotations')).text, annotated)
  assert.equal(
    run(shop, field('path: spec/parts/annotations\n  create: true')).text,
    annotated.replace('- name: c\n', '- name: c\n    annotations:\n      team: shop\n'),
  )
  assert.match(
    run(shop, field('path: a/b.c\\/d\n  create: true')).text,
    /a:\n {2}b.c\/d:\n {4}team: shop\n/,
  )
  assert.match(
    run(shop, field('path: ""')).results[0]?.message ?? '',
    /cannot set or create an empty field name$/,
  )
})

test('rejects two objects of one name, and annotates one without kind and name', () => {
  const refused = (text: string) => run(text).results[0]?.message
  assert.equal(
    refused(`${object('v1 ConfigMap')}---\n${object('v1 ConfigMap', '  namespace: default\n')}`),
    'failed to run function: may not add resource with an already registered id: ConfigMap.v1.[noGrp]/a.default',
  )
  assert.equal(
    run('resources: [a.yaml]\n').text,
    'resources: [a.yaml]\nmetadata:\n  annotations:\n    team: shop\n',
  )
  assert.equal(run('apiVersion: v1\nkind: ConfigMapList\n').exitCode, 0)
})

test('requires a ConfigMap or a SetAnnotations with an annotation as config', () => {
  const rows: readonly (readonly [string, string])[] = [
    ['{}', '`functionConfig` must be a `ConfigMap` or `SetAnnotations`'],
    [configMap(''), 'input annotation list cannot be empty'],
    [own(''), 'input annotation list cannot be empty'],
    [own('annotations: [a]\n'), 'failed to unmarshal config: annotations must be a map of texts'],
    [
      own('annotations: {a: b}\nfieldSpecs: []\nadditionalAnnotationFields: []\n'),
      '`fieldSpecs` has been deprecated, please rename it to `additionalAnnotationFields`',
    ],
  ]
  for (const [config, message] of rows) {
    const { results, exitCode } = run(object('v1 Secret'), config)
    assert.deepEqual(
      [results[0]?.message, exitCode],
      [`failed to configure function: ${message}`, 1],
    )
  }
  assert.match(
    run(object('v1 Secret'), own('annotations: {a: 1, b: yes, c: null}\n')).text,
    /a: "1"\n {4}b: "true"\n {4}c: ""\n/,
  )
})

test('accepts any objects and config, and a second run changes nothing', () => {
  const config = nodes(configMap('team: shop, a: "yes"'))[0]
  fc.assert(
    fc.property(oddItems, oddConfig, (items, odd) => {
      assert.equal(
        typeof setAnnotations({ items: items.map(copyNode), config: odd }).exitCode,
        'number',
      )
      const once = setAnnotations({ items: items.map(copyNode), config })
      if (once.exitCode !== 0) return
      const text = once.items.map((item) => writeYamlNode(item))
      const twice = setAnnotations({ items: once.items, config })
      assert.deepEqual(
        twice.items.map((item) => writeYamlNode(item)),
        text,
      )
    }),
    { numRuns: 300 },
  )
})
