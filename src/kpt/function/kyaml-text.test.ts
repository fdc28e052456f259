import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeYamlNode } from '@backporch/kyaml/edit-yaml'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import type { YamlMap } from '@backporch/kyaml/yaml'
import {
  isOtherToYaml11,
  readItemAnnotations,
  replaceAnnotations,
  restyleAnnotations,
} from './kyaml-text.ts'

function map(text: string): YamlMap {
  const [node] = readYamlNodes(text, 'test.yaml')
  assert.ok(node?.kind === 'map')
  return node
}

/** The answers of kyaml 0.15 `IsValueNonString`. */
test('a YAML 1.1 reader sees a value as another type, as a string, or as invalid', () => {
  for (const other of [
    'yes',
    'on',
    'y',
    '1',
    '0x1f',
    '1_000',
    'null',
    '~',
    'a: b',
    'a:',
    '- a',
    '[a]',
    '{a}',
    '# a',
    '1.5',
    '.inf',
    '---',
  ])
    assert.ok(isOtherToYaml11(other), other)
  for (const text of [
    '',
    'a',
    'a b',
    'a # b',
    '2020-01-01',
    '1:30',
    '*a',
    '@a',
    '%a',
    '"1"',
    'a: b: c',
    'a\nb',
    '1.2.3',
    '!a b',
  ])
    assert.ok(!isOtherToYaml11(text), text)
})

const OBJECT =
  'metadata:\n  annotations:\n    b: \'1\' # one\n    c: "x" # two\n    a: z\n  name: a\n'

test('annotations edited in place keep order and comments, and lose unneeded quotes', () => {
  const object = map(OBJECT)
  const before = object.entries[0]?.value
  restyleAnnotations(object, readItemAnnotations(object))
  assert.equal(writeYamlNode(object), OBJECT.replace("'1'", '"1"').replace('"x"', 'x'))
  assert.equal(object.entries[0]?.value, before)
  restyleAnnotations(object, new Map([['c', 'p\nq']]))
  assert.equal(
    writeYamlNode(object),
    'metadata:\n  annotations:\n    c: |- # two\n      p\n      q\n  name: a\n',
  )
  restyleAnnotations(object, new Map())
  assert.equal(writeYamlNode(object), 'metadata:\n  name: a\n')
})

test('replaced annotations come last, sorted by name, and missing metadata is created', () => {
  const object = map(OBJECT)
  replaceAnnotations(object, readItemAnnotations(object))
  assert.equal(
    writeYamlNode(object),
    'metadata:\n  name: a\n  annotations:\n    a: z\n    b: "1"\n    c: x\n',
  )
  const bare = map('kind: A\n')
  replaceAnnotations(bare, new Map([['a', 'b']]))
  assert.equal(writeYamlNode(bare), 'kind: A\nmetadata:\n  annotations:\n    a: b\n')
})
