import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeYamlNode } from '@backporch/kyaml/edit-yaml'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import { createYamlText, setEntry, type YamlMap } from '@backporch/kyaml/yaml'
import { oddItems } from '../../test/functions/odd-objects.ts'
import * as fc from '../../test/seeds/fast-check.ts'
import { enableGcpServices } from './fn.ts'

function nodes(text: string): YamlMap[] {
  return readYamlNodes(text, 'test.yaml').filter((node) => node.kind === 'map')
}

function run(text: string) {
  const { items, results, exitCode } = enableGcpServices({ items: nodes(text), config: undefined })
  return {
    exitCode,
    texts: items.map((item) => writeYamlNode(item)),
    messages: results.map(({ message }) => message),
  }
}

const set = (spec: string, metadata = '{name: shop}') =>
  `apiVersion: blueprints.cloud.google.com/v1alpha1\nkind: ProjectServiceSet\nmetadata: ${metadata}\nspec: ${spec}\n`
const service = (
  name: string,
  owner: string,
) => `apiVersion: serviceusage.cnrm.cloud.google.com/v1beta1
kind: Service
metadata:
  name: ${name}
  annotations: {blueprints.cloud.google.com/ownerReference: blueprints.cloud.google.com/ProjectServiceSet/${owner}}
`

test('each API becomes a service after the other objects, with annotations and namespace of the set', () => {
  const metadata =
    '{name: shop, namespace: dev, annotations: {a: b, internal.config.kubernetes.io/path: sub/set.yaml}}'
  const { texts } = run(set('{services: [dns.googleapis.com], projectID: on}', metadata))
  assert.equal(texts.length, 2)
  assert.match(texts[0] ?? '', /config\.kubernetes\.io\/local-config: 'true'/)
  assert.equal(
    texts[1],
    `apiVersion: serviceusage.cnrm.cloud.google.com/v1beta1
kind: Service
metadata:
  name: shop-dns
  annotations:
    a: 'b'
    blueprints.cloud.google.com/ownerReference: 'blueprints.cloud.google.com/ProjectServiceSet/shop'
    internal.config.kubernetes.io/path: 'sub/dev/service_shop-dns.yaml'
  namespace: dev
spec:
  resourceID: dns.googleapis.com
  projectRef:
    external: "on"
`,
  )
})

test('recreates or removes services of an earlier run, and keeps those of other sets', () => {
  const text = [
    set('{services: [dns.a.b, iam.a.b]}'),
    service('shop-dns', 'shop'),
    service('shop-old', 'shop'),
    service('x', 'other'),
  ]
  const { texts, messages } = run(text.join('---\n'))
  assert.deepEqual(
    texts.map((each) => /^ *name: (.*)$/m.exec(each)?.[1] ?? /name: ([a-z]+)/.exec(each)?.[1]),
    ['shop', 'x', 'shop-dns', 'shop-iam'],
  )
  assert.deepEqual(messages.toSorted(), [
    'generated service',
    'pruned service',
    'recreated service',
  ])
})

test('an unreadable set is an error, and nothing changes', () => {
  for (const [spec, message] of [
    ['{}', 'at least one service must be specified under `spec.services[]`'],
    ['{services: [a.b]}', 'invalid service specified: a.b'],
    ['{services: {a: b}}', 'spec.services must be a list'],
    ['[]', 'spec must be a map'],
    ['{services: [a.b.c], services: [a.b.c]}', 'spec has a key twice'],
    ['{services: [a.b.c], projectID: []}', 'spec.projectID must be a text'],
  ])
    assert.deepEqual(
      [run(set(spec ?? '')).exitCode, ...run(set(spec ?? '')).messages],
      [1, `failed to add services: ${message}`],
    )
})

test('never throws', () => {
  fc.assert(
    fc.property(oddItems, (items) => {
      for (const item of items)
        for (const [name, value] of Object.entries({
          apiVersion: 'blueprints.cloud.google.com/v1alpha1',
          kind: 'ProjectServiceSet',
        }))
          setEntry(item, name, createYamlText(value))
      enableGcpServices({ items, config: undefined })
    }),
  )
})
