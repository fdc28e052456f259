import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeYamlNode } from '@backporch/kyaml/edit-yaml'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import { type FieldSpec, splitFieldPath, visitField } from './field-spec.ts'

test('splits a path at slashes, but not at escaped ones', () => {
  assert.deepEqual(splitFieldPath('a/b'), ['a', 'b'])
  assert.deepEqual(splitFieldPath('/a/b'), ['a', 'b'])
  assert.deepEqual(splitFieldPath('a/b\\/c\\/d/e'), ['a', 'b/c/d', 'e'])
  assert.deepEqual(splitFieldPath('a//b'), ['a', '', 'b'])
  assert.deepEqual(splitFieldPath(''), [''])
})

const THING = 'apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: a\n'

function visited(rest: string, spec: FieldSpec, created: 'map' | 'scalar' = 'map') {
  const [item] = readYamlNodes(THING + rest, 'test.yaml')
  assert.ok(item?.kind === 'map')
  const found: string[] = []
  const problem = visitField(item, spec, created, (node, path) => {
    found.push(`${path.join('.')} ${node.kind}`)
    return undefined
  })
  return { found, problem, rest: writeYamlNode(item).slice(THING.length) }
}

test('visits each item of a list, and stops at a missing or null field', () => {
  const rest = 'spec:\n  parts: [{a: 1}, {}, {a: {}}, null]\n  none:\n'
  assert.deepEqual(visited(rest, { path: 'spec/parts/a' }).found, [
    'spec.parts.a scalar',
    'spec.parts.a map',
  ])
  assert.deepEqual(visited(rest, { path: 'spec/parts[]/a' }).found.length, 2)
  assert.deepEqual(visited(rest, { path: 'spec/none/a' }).found, [])
  assert.deepEqual(visited(rest, { path: 'spec/none' }).found, ['spec.none scalar'])
  assert.deepEqual(visited(rest, { kind: 'Other', path: 'spec' }).found, [])
  assert.deepEqual(
    visited(rest, { group: 'example.com', version: 'v1', kind: 'Thing', path: 'spec' }).found,
    ['spec map'],
  )
})

test('creates missing fields if the spec says create', () => {
  const create = { create: true }
  assert.equal(visited('', { path: 'a/b', ...create }).rest, 'a:\n  b: {}\n')
  assert.equal(visited('a:\n', { path: 'a/b', ...create }, 'scalar').rest, 'a:\n  b:\n')
  assert.equal(visited('', { path: 'a[]/b', ...create }).rest, '')
})

test('reports a node of another kind on the path with the path', () => {
  assert.equal(
    visited('spec: text\n', { path: 'spec/a' }).problem,
    "considering field 'spec/a' of object Thing.v1.example.com/a.[noNs]: expected sequence or mapping node",
  )
  assert.match(
    visited('spec: [[text]]\n', { path: 'spec/a' }).problem ?? '',
    /: visit traversal on path: \[a\]: visit traversal on path: \[a\]: expected/,
  )
})
