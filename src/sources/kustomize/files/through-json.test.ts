import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeYamlNode } from '@backporch/kyaml/edit-yaml'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import { compareGoKeys } from './go-key-order.ts'
import { convertThroughJson } from './through-json.ts'

/** The text of the object afterwards, or the problem. */
function through(text: string): string {
  const [node] = readYamlNodes(text, 'one.yaml')
  if (node?.kind !== 'map') assert.fail('it is a map')
  const made = convertThroughJson(node)
  return typeof made === 'string' ? made : writeYamlNode(made.object)
}

test('numbers are doubles, times are written in full, and YAML 1.1 words are strings', () => {
  assert.equal(
    through(
      'a: 1.0\nb: 0777\nc: 12345678901234567890\nd: 1e3\ne: 1000000\nf: 2020-01-02\ng: yes\nh: ~\ni: True\nj: 0.00001\nk: 0x10\n',
    ),
    'a: 1\nb: 511\nc: 1.2345678901234567e+19\nd: 1000\ne: 1e+06\nf: "2020-01-02T00:00:00Z"\ng: "yes"\nh: null\ni: true\nj: 1e-05\nk: 16\n',
  )
  assert.equal(
    through('a: 2001-12-14t21:59:43.10-05:00\nb: 2001-12-14 21:59:43\nc: 2001-13-14\n'),
    'a: "2001-12-14T21:59:43.1-05:00"\nb: "2001-12-14T21:59:43Z"\nc: 2001-13-14\n',
  )
  assert.equal(
    through('a: {b: 2001-12-14T21:59:43Z, c: 2001-12-14}\n'),
    'a:\n  b: "2001-12-14T21:59:43Z"\n  c: "2001-12-14T00:00:00Z"\n',
  )
  assert.equal(through('a: [2001-12-14T21:59:43.10Z]\n'), 'a:\n- "2001-12-14T21:59:43.10Z"\n')
})

test('removes styles, comments and anchors, and sorts keys', () => {
  assert.equal(
    through(
      'z: \'one\' # why\n# above\nb: {y: &x [1, "2"], x: *x}\na: >-\n  two\n  words\nc: |\n  lines\n',
    ),
    'a: two words\nb:\n  x:\n  - 1\n  - "2"\n  "y":\n  - 1\n  - "2"\nc: |\n  lines\nz: one\n',
  )
  assert.equal(through('<<: {a: 2, b: 2}\na: 1\n'), 'a: 1\nb: 2\n')
})

test('reports values that JSON cannot express', () => {
  assert.equal(through('a: {1: x}\n'), 'the key 1 is no text')
  assert.equal(through('a: &a {x: 1}\nb:\n  <<: *a\n'), 'a map below the object has a merge key')
})

test('sorts keys like go-yaml, with numbers in numeric order', () => {
  const keys = [
    'a10',
    'a9',
    'a',
    'b',
    'B',
    'a-b',
    'ab',
    'a.b',
    '10',
    '9',
    'a01',
    'a1',
    'x1y',
    'x1',
    'xy',
  ]
  assert.deepEqual([...keys].sort(compareGoKeys), [
    '9',
    '10',
    'B',
    'a',
    'a-b',
    'a.b',
    'a1',
    'a01',
    'a9',
    'a10',
    'ab',
    'b',
    'x1',
    'x1y',
    'xy',
  ])
})
