import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeYamlNode } from '@backporch/kyaml/edit-yaml'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import { createYamlText, setEntry, type YamlMap } from '@backporch/kyaml/yaml'
import { oddItems } from '../../test/functions/odd-objects.ts'
import * as fc from '../../test/seeds/fast-check.ts'
import { generateFolders } from './fn.ts'

function nodes(text: string): YamlMap[] {
  return readYamlNodes(text, 'test.yaml').filter((node) => node.kind === 'map')
}

function run(text: string) {
  const { items, results, exitCode } = generateFolders({ items: nodes(text), config: undefined })
  const texts = items.map((item) => writeYamlNode(item))
  return {
    exitCode,
    texts,
    folders: texts.filter((each) => /^kind: Folder$/m.test(each)),
    messages: results.map(({ message }) => message),
  }
}

const V3 = 'blueprints.cloud.google.com/v1alpha3'
const hierarchy = (apiVersion: string, spec: string, metadata = '{name: shop}') =>
  `apiVersion: ${apiVersion}\nkind: ResourceHierarchy\nmetadata: ${metadata}\nspec: ${spec}\n`
const names = (folders: readonly string[]) =>
  folders.map((each) => /^ {2}name: (.*)$/m.exec(each)?.[1])

test('creates folders of lists, maps and subtrees, with annotations and namespace of the hierarchy', () => {
  const spec =
    '{parentRef: {external: 12}, subtrees: {teams: [Shop_1]}, config: [{Dev: {$subtree: teams}}, Prod, 7, ~]}'
  const { folders } = run(
    hierarchy(
      V3,
      spec,
      '{name: shop, namespace: h, annotations: {a: b, config.kubernetes.io/local-config: "true"}}',
    ),
  )
  assert.deepEqual(names(folders), ['dev', 'dev.shop-1', 'prod'])
  assert.equal(
    folders[1],
    `apiVersion: resourcemanager.cnrm.cloud.google.com/v1beta1
kind: Folder
metadata:
  name: dev.shop-1
  annotations:
    a: b
  namespace: h
spec:
  displayName: Shop_1
  folderRef:
    name: dev
`,
  )
  assert.match(folders[2] ?? '', /organizationRef:\n {4}external: '12'\n$/)
})

test('older versions refer to parents by annotations, and cause warnings', () => {
  const second = run(
    hierarchy('cft.dev/v1alpha2', '{parentRef: {kind: Folder, external: A b}, config: [{x: [z]}]}'),
  )
  assert.match(second.folders[0] ?? '', /cnrm\.cloud\.google\.com\/folder-ref: a-b\n/)
  assert.match(second.folders[1] ?? '', /cnrm\.cloud\.google\.com\/folder-ref: x\n/)
  const first = run(
    hierarchy(
      'cft.dev/v1alpha1',
      '{organization: 1, layers: [env, team], config: {env: [d, p], team: [1]}}',
    ),
  )
  assert.deepEqual(names(first.folders), ['d', 'd.1', 'p', 'p.1'])
  assert.match(first.folders[0] ?? '', /cnrm\.cloud\.google\.com\/organization-id: '1'\n/)
  assert.deepEqual([first.messages.length, second.messages.length], [1, 1])
})

test('writes every object like js-yaml, and keeps the last of equal objects', () => {
  const object = (spec: string) => `apiVersion: v1\nkind: Foo\nmetadata: {name: a}\nspec: ${spec}\n`
  const spec =
    '{a: 017, b: 1.0, c: 2020-01-02, d: "a:b", e: on, f: [[x, w], z], <<: {a: 1, g: 1_0}, 1: 12:30, h: -0.0, i: 1:30.5, j: "a\\tb"}'
  const { texts } = run(`${object('{}')}---\n${object(spec)}`)
  assert.equal(texts.length, 1)
  assert.equal(
    texts[0]?.replace(/^.*spec:\n/s, ''),
    `  a: 15
  b: 1
  c: 2020-01-02T00:00:00.000Z
  d: 'a:b'
  e: 'on'
  f:
  - - x
  - w
  - z
  g: 10
  '1': 750
  h: -0.0
  i: 90.5
  j: "a\\tb"
`,
  )
})

test('reports the same errors as the original', () => {
  const root = 'parentRef: {external: a}'
  for (const [spec, message] of [
    ['{config: [a]}', /no parentRef/],
    ['{parentRef: {kind: Project, external: a}, config: [a]}', /kind of the parentRef/],
    [`{${root}, config: {a: b}}`, /folders must be a list/],
    [`{${root}, subtrees: [a], config: [a]}`, /spec\.subtrees must be a map/],
    [`{${root}, config: [{a: {$subtree: b}}]}`, /neither folders nor a subtree/],
    [`{${root}, config: [{}]}`, /has no name/],
    [`{${root}, config: [2020-01-02]}`, /a date in a hierarchy/],
    [`{${root}, config: [a], config: [b]}`, /duplicated mapping key config/],
    [`{${root}, config: [a], other: [[{a: b, c: d}]]}`, /has several lines/],
    ['{a: !!binary aGk=}', /cannot read aGk= as !!binary/],
    ['7', /spec must be a map/],
  ] as const) {
    const { exitCode, messages } = run(hierarchy(V3, spec))
    assert.deepEqual([exitCode, messages.length], [1, 1])
    assert.match(messages[0] ?? '', message)
  }
  assert.match(
    run(hierarchy('cft.dev/v1alpha1', '{layers: [a], config: {a: ~}}')).messages[0] ?? '',
    /spec\.config\.a must be a list/,
  )
})

test('never throws', () => {
  fc.assert(
    fc.property(
      oddItems,
      fc.constantFrom(V3, 'cft.dev/v1alpha1', 'cft.dev/v1alpha2'),
      (items, apiVersion) => {
        for (const item of items)
          for (const [name, value] of Object.entries({ apiVersion, kind: 'ResourceHierarchy' }))
            setEntry(item, name, createYamlText(value))
        generateFolders({ items, config: undefined })
      },
    ),
  )
})
