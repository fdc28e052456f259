import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import type { YamlNode } from '@backporch/kyaml/yaml'
import { estimateNodes } from './free-memory.ts'

function nodesIn(text: string): number {
  const count = (node: YamlNode): number => {
    if (node.kind === 'list') return node.items.reduce((sum, item) => sum + count(item), 1)
    return node.kind === 'map'
      ? node.entries.reduce((sum, { key, value }) => sum + count(key) + count(value), 1)
      : 1
  }
  return parseGoYaml(text, 'a.yaml').documents.reduce((sum, { node }) => sum + count(node), 0)
}

const TEXTS = {
  'a map': 'key: value\n'.repeat(100),
  'a list': `list:\n${'- 1\n'.repeat(100)}`,
  'maps in a list': `list:\n${'- name: a\n  value: b\n'.repeat(100)}`,
  JSON: `{"list":[${'{"a":1,"b":[1,2]},'.repeat(100)}1]}`,
  'keys without values': `map: {${Array.from({ length: 100 }, (_, at) => `k${at},`).join('')}}`,
  'empty maps': `list: [${'{},'.repeat(100)}1]`,
}

for (const [name, text] of Object.entries(TEXTS))
  test(`estimates the nodes of ${name} without parsing, between 0.75 and 3 times the real number`, () => {
    const [nodes, estimated] = [nodesIn(text), estimateNodes(new TextEncoder().encode(text))]
    assert.ok(estimated >= 0.75 * nodes && estimated <= 3 * nodes, `${estimated} of ${nodes}`)
  })

test('the estimate of a file never exceeds what is read of it', () => {
  assert.equal(estimateNodes(new Uint8Array(1_000_000).fill(44)), 500_000)
})
