import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import type { YamlMap } from '@backporch/kyaml/yaml'
import { getConfigData } from './config-data.ts'
import { formatResultValue, REDACTED } from './result-value.ts'
import { type FieldLocation, formatLocation, visitFields } from './visit-fields.ts'

function mapOf(text: string): YamlMap {
  const [node] = readYamlNodes(text, 'object.yaml')
  assert.ok(node?.kind === 'map')
  return node
}

test('visits every entry of a map before its values, list items by index, and no aliases', () => {
  const visited: string[] = []
  visitFields(mapOf('a: {b: 1, c: [x, {d: 2}]}\ne: &e y\nf: *e\n'), {
    entry: (_entry, location) => void visited.push(`entry ${formatLocation(location)}`),
    scalar: (node, position) => void visited.push(`${formatLocation(position)}=${node.value}`),
  })
  assert.deepEqual(visited, [
    ...['entry a', 'entry e', 'entry f', 'entry a.b', 'entry a.c'],
    ...['a.b=1', 'a.c[0]=x', 'entry a.c[1].d', 'a.c[1].d=2', 'e=y'],
  ])
})

test('the first problem ends the walk', () => {
  const visited: string[] = []
  const problem = visitFields(mapOf('a: 1\nb: [2, 3]\nc: 4\n'), {
    scalar: (node) => {
      visited.push(node.value)
      return node.value === '2' ? 'no 2' : undefined
    },
  })
  assert.deepEqual([problem, visited], ['no 2', ['1', '2']])
})

test('hides a credential by its location, name, form or setter', () => {
  const shown = (text: string, setters: readonly string[] = []) => {
    const found: string[] = []
    const object = mapOf(text)
    visitFields(object, {
      scalar: (node, { steps }: FieldLocation) =>
        void found.push(formatResultValue(object, steps, node.value, setters)),
    })
    return found.at(-1)
  }
  assert.equal(shown('kind: ConfigMap\ndata: {a: word}\n'), 'word')
  assert.equal(shown('kind: Secret\ndata: {a: word}\n'), REDACTED)
  assert.equal(shown('kind: Secret\nmetadata: {a: word}\n'), 'word')
  assert.equal(shown('password: word\n'), REDACTED)
  assert.equal(shown('env: [{name: DB_PASSWORD, value: word}]\n'), REDACTED)
  assert.equal(shown('url: postgres://a:word@db/x\n'), REDACTED)
  assert.equal(shown('url: word\n', ['api-token']), REDACTED)
})

test('config data becomes a string for every type', () => {
  const data = getConfigData(mapOf('data: {a: 1, b: "x", c: ~, d: [y], __proto__: z}\n'))
  assert.deepEqual(
    [...data],
    [
      ['a', '1'],
      ['b', 'x'],
      ['c', ''],
      ['d', ''],
      ['__proto__', 'z'],
    ],
  )
  assert.equal(getConfigData(mapOf('data: [a]\n')).size, 0)
  assert.equal(getConfigData(undefined).size, 0)
})
