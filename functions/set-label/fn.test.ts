import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeYamlNode } from '@backporch/kyaml/edit-yaml'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import type { YamlMap } from '@backporch/kyaml/yaml'
import { oddConfig, oddItems } from '../../test/functions/odd-objects.ts'
import * as fc from '../../test/seeds/fast-check.ts'
import { setLabel } from './fn.ts'

function nodes(text: string): YamlMap[] {
  return readYamlNodes(text, 'test.yaml').filter((node) => node.kind === 'map')
}

function run(text: string, config = 'apiVersion: v1\nkind: ConfigMap\ndata: {app: web}\n') {
  const { items, results, exitCode } = setLabel({ items: nodes(text), config: nodes(config)[0] })
  return {
    exitCode,
    text: items.map((item) => writeYamlNode(item)).join('---\n'),
    messages: results.map(({ message }) => message),
  }
}

const own = (rest: string) => `apiVersion: fn.kpt.dev/v1alpha1\nkind: SetLabelConfig\n${rest}`
const object = (rest: string) => `apiVersion: v1\nkind: Foo\nmetadata: {name: a}\n${rest}`

test('rewrites objects from the values that kubectl reads', () => {
  assert.equal(
    run(
      object(
        `spec: {octal: 017, on: yes, big: 9223372036854775808, float: 1.50, time: 2020-01-02, text: "1"}\n`,
      ),
    ).text,
    `apiVersion: v1
kind: Foo
metadata:
  labels:
    app: web
  name: a
spec:
  big: 9223372036854776000
  float: 1.5
  octal: 15
  text: "1"
  time: "2020-01-02"
  "true": true
`,
  )
})

test('removes a local-config object, and expands a list to its items', () => {
  const local =
    'apiVersion: v1\nkind: Foo\nmetadata: {name: local, annotations: {config.kubernetes.io/local-config: "false"}}\n'
  const list =
    'apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Foo, metadata: {name: inner}}]\n'
  const { text } = run([local, list, object('')].join('---\n'))
  assert.deepEqual(
    [...text.matchAll(/^ {2}name: (.*)$/gm)].map(([, name]) => name),
    ['inner', 'a'],
  )
})

test('additional fields come from fieldSpecs, and an unquoted on is a string in a config', () => {
  const { text } = run(
    object(''),
    own('labels: {app: on}\nfieldSpecs: [{path: spec/own, create: true}]\n'),
  )
  assert.match(text, /^spec:\n {2}own:\n {4}app: "on"\n$/m)
})

test('input that kustomize does not read is an error', () => {
  for (const [text, message] of [
    ['apiVersion: v1\nmetadata: {name: a}\n', 'missing kind in object'],
    ['apiVersion: v1\nkind: Foo\n', 'missing metadata.name in object'],
    [object('spec: [{a: [~]}]\n'), 'empty item in object'],
    ['apiVersion: v1\nkind: FooList\nitems: {a: b}\n', 'items in List is not a list'],
    ['apiVersion: v1\nkind: List\nitems: [7]\n', 'an object is not a map'],
  ])
    assert.deepEqual(run(text ?? '').messages, [`failed to run function: ${message}`])
  assert.match(run(`${object('')}---\n${object('')}`).messages[0] ?? '', /already registered id/)
  assert.match(
    run(object('metadata: 7\n').replace('metadata: {name: a}\n', '')).messages[0] ?? '',
    /missing metadata\.name/,
  )
  assert.match(
    run(object(''), own('labels: {"12": a}\n')).messages[0] ?? '',
    /the label 12 is not a string/,
  )
  assert.match(run(object(''), own('')).messages[0] ?? '', /input label list cannot be empty/)
  assert.match(
    run(object('').replace('{name: a}', '{name: a, labels: [b]}')).messages[0] ?? '',
    /wrong Node Kind/,
  )
})

test('never throws', () => {
  fc.assert(
    fc.property(oddItems, oddConfig, (items, config) => {
      setLabel({ items, config })
    }),
  )
})
