import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeYamlNode } from '@backporch/kyaml/edit-yaml'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import { convertToKubectlJson, type YamlMap } from '@backporch/kyaml/yaml'
import { getSdkKind, isLocalToSdk, isOfKind, readText, writeText } from './sdk-fields.ts'

function map(text: string): YamlMap {
  const [node] = readYamlNodes(text, 'test.yaml')
  assert.ok(node?.kind === 'map')
  return node
}

test('reads only a string as text', () => {
  const texts = ['a', '"1"', "'true'", 'yes', 'y', '1:30', '!!str 1', '""']
  for (const text of texts) assert.equal(readText(map(`a: ${text}\n`), ['a']).is, 'text', text)
  for (const other of ['1', 'true', 'null', '~', '1.5', '2020-01-01', '[]', '{}', '!!int "1"'])
    assert.equal(readText(map(`a: ${other}\n`), ['a']).is, 'other', other)
  assert.equal(readText(map('a: {}\n'), ['a', 'b', 'c']).is, 'absent')
  assert.equal(readText(map('a: null\n'), ['a', 'b']).is, 'other')
})

test('an unchanged text keeps its node; a changed one gets a new node with the old comments', () => {
  const object = map('a: x # one\nb: "x" # two\n')
  const [first, second] = object.entries.map(({ value }) => value)
  for (const name of ['a', 'b']) assert.ok(writeText(object, [name], 'x'))
  assert.equal(object.entries[0]?.value, first)
  assert.notEqual(object.entries[1]?.value, second)
  assert.equal(writeYamlNode(object), 'a: x # one\nb: x # two\n')
})

test('a YAML 1.1 boolean word gets no quotes, so that kubectl reads a boolean', () => {
  const object = map('a: "on"\n')
  assert.ok(writeText(object, ['a'], 'yes'))
  assert.ok(writeText(object, ['on', 'off'], 'true'))
  assert.equal(writeYamlNode(object), 'a: yes\non:\n  off: "true"\n')
  assert.deepEqual(convertToKubectlJson(object), { a: true, true: { false: 'true' } })
  assert.deepEqual(readText(object, ['a']), { is: 'text', text: 'yes' })
})

test('creates missing maps, and writes nothing below another kind of node', () => {
  const object = map('a: 1\n')
  assert.ok(writeText(object, ['b', 'c'], '2'))
  assert.ok(!writeText(object, ['a', 'c'], '2'))
  assert.equal(writeYamlNode(object), 'a: 1\nb:\n  c: "2"\n')
})

test('an empty part matches anything, and with two slashes in the apiVersion all parts are empty', () => {
  const kind = (text: string) => getSdkKind(map(text))
  assert.ok(
    isOfKind(kind('apiVersion: v1\nkind: StatefulSet\n'), { group: 'apps', kind: 'StatefulSet' }),
  )
  assert.ok(
    !isOfKind(kind('apiVersion: x/v1\nkind: StatefulSet\n'), {
      group: 'apps',
      kind: 'StatefulSet',
    }),
  )
  assert.ok(!isOfKind(kind('apiVersion: v2\nkind: Service\n'), { version: 'v1', kind: 'Service' }))
  assert.ok(isOfKind(kind('apiVersion: a/b/c\nkind: Service\n'), { kind: 'Deployment' }))
  assert.ok(isOfKind(kind('resources: []\n'), { version: 'v1', kind: 'Service' }))
})

test('an object is local config only if the annotation is a string', () => {
  const local = (value: string) =>
    isLocalToSdk(map(`metadata: {annotations: {config.kubernetes.io/local-config: ${value}}}\n`))
  assert.deepEqual(['"true"', '"x"', 'true', '"false"', '""', '[]'].map(local), [
    true,
    true,
    false,
    false,
    false,
    false,
  ])
})
