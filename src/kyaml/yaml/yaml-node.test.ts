import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'
import { randomCommentedYaml } from '../../../test/property/random-commented-yaml.ts'
import * as fc from '../../../test/seeds/fast-check.ts'
import { filterObjects, getTextAt, isJsonEqual, type JsonObject, parseJson } from '../text/json.ts'
import { readYamlNodes } from './read/read-yaml-node.ts'
import {
  convertToKubectlJson,
  convertYamlToJson,
  copyNode,
  createYamlList,
  createYamlMap,
  createYamlPlain,
  type YamlNode,
} from './yaml-node.ts'

function everyNode(node: YamlNode): readonly YamlNode[] {
  if (node.kind === 'map')
    return [
      node,
      ...node.entries.flatMap(({ key, value }) => [...everyNode(key), ...everyNode(value)]),
    ]
  return node.kind === 'list' ? [node, ...node.items.flatMap(everyNode)] : [node]
}

it('a copy has the same content and shares no node', () => {
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const [root] = readYamlNodes(randomCommentedYaml(seed), 'a.yaml')
      assert.ok(root !== undefined)
      const copy = copyNode(root)
      assert.deepEqual(copy, root)
      assert.deepEqual(copy, structuredClone(root))
      const own = new Set(everyNode(root))
      assert.ok(everyNode(copy).every((node) => !own.has(node)))
    }),
    { numRuns: 150 },
  )
})

it('a node used twice is one node in the copy, and its edits do not affect the original', () => {
  const twice = createYamlPlain('a')
  twice.writes = [1]
  const root = createYamlMap([
    ['x', twice],
    ['y', createYamlList([twice])],
  ])
  const copy = copyNode(root)
  const [x, y] = copy.entries.map(({ value }) => value)
  assert.ok(x?.kind === 'scalar' && y?.kind === 'list')
  assert.equal(y.items[0], x)
  x.value = 'b'
  x.writes?.push(2)
  assert.deepEqual([twice.value, twice.writes], ['a', [1]])
})

it('a key is its string for kubectl, while functions get the key of the file', () => {
  const corpus = parseJson(
    readFileSync(new URL('../../../test/corpus/yaml/go-scalars.json', import.meta.url), 'utf8'),
  ) as JsonObject
  const rows = filterObjects(corpus['rows']).filter(
    (row) => Object.hasOwn(row, 'value') && /^[^?]*: x\n$/.test(getTextAt(row, 'yaml')),
  )
  assert.ok(rows.length > 100)
  for (const row of rows) {
    const [root] = readYamlNodes(getTextAt(row, 'yaml'), 'a.yaml')
    assert.ok(
      root !== undefined && isJsonEqual(convertToKubectlJson(root), row['value']),
      getTextAt(row, 'yaml'),
    )
  }
  const [root] = readYamlNodes('on: {y: yes}\n', 'a.yaml')
  assert.deepEqual(root && [convertYamlToJson(root), convertToKubectlJson(root)], [
    { on: { y: true } },
    { true: { true: true } },
  ])
})
