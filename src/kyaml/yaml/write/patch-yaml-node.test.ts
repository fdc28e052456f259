import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countReads } from '../../../../test/fakes/count-reads.ts'
import * as fc from '../../../../test/seeds/fast-check.ts'
import { isJsonEqual, type Json } from '../../text/json.ts'
import { readYamlNodes } from '../read/read-yaml-node.ts'
import { convertJsonToYaml, convertYamlToJson, type YamlNode } from '../yaml-node.ts'
import { patchYamlNode } from './patch-yaml-node.ts'
import { writeYamlNode } from './write-yaml-node.ts'

function read(text: string): YamlNode {
  const [node] = readYamlNodes(text, 'test.yaml')
  assert.ok(node !== undefined)
  return node
}

/** The text after the change to the value that `change` makes. */
function after(text: string, change: (value: never) => void): string {
  const node = read(text)
  const value = structuredClone(convertYamlToJson(node))
  change(value as never)
  const patched = patchYamlNode(node, value)
  assert.deepEqual(convertYamlToJson(patched), value)
  return writeYamlNode(patched)
}

const DEPLOYMENT = `kind: Deployment
spec:
  replicas: 3 # kpt-set: \${replicas}
  paused: no
  since: 2024-01-01
  big: 9007199254740993
  mode: 0644
  labels: {app: 'web', "tier": front}
  text: |
    one
    two
  folded: >-
    a b
  containers:
  # the proxy
  - name: proxy
    image: "envoy:1" # pinned
  - name: web
    image: 'nginx:1'
    args: [--port, "80"]
`

test('one changed scalar changes one line, and keeps its comment and quotes', () => {
  const changed = after(
    DEPLOYMENT,
    (value: { spec: { replicas: number; containers: { image: string }[] } }) => {
      value.spec.replicas = 5
      for (const container of value.spec.containers)
        container.image = container.image.replace(':1', ':2')
    },
  )
  assert.equal(
    changed,
    DEPLOYMENT.replace('replicas: 3', 'replicas: 5')
      .replace('envoy:1', 'envoy:2')
      .replace('nginx:1', 'nginx:2'),
  )
})

test('matches items by name: a new first one leaves the others unchanged', () => {
  const changed = after(DEPLOYMENT, (value: { spec: { containers: object[] } }) => {
    value.spec.containers.unshift({ name: 'log', image: 'fluent:1' })
  })
  const lines = changed.split('\n').filter((line) => !DEPLOYMENT.includes(line))
  assert.deepEqual(lines, ['  - name: log', '    image: fluent:1'])
})

test('a list follows the order of the value, and comments move with their items', () => {
  const changed = after(
    'l:\n- a # first\n- b # second\n- c\n',
    (value: { l: string[] }) => void value.l.reverse(),
  )
  assert.equal(changed, 'l:\n- c\n- b # second\n- a # first\n')
})

test('keys keep their order, new ones come last in their own order, and a removed one takes only its line', () => {
  const changed = after('b: 1 # one\na: 2\nc: 3\n', (value: Record<string, unknown>) => {
    delete value['a']
    Object.assign(value, { z: 1, w: { x: [true, null] }, b: 7 })
  })
  assert.equal(changed, 'b: 7 # one\nc: 3\nz: 1\nw:\n  x:\n  - true\n  - null\n')
})

test('quotes a text that would read as another type', () => {
  const changed = after('a: x\nb: 1\nc: plain\n', (value: Record<string, unknown>) =>
    Object.assign(value, { a: 'true', b: '1', c: 'words', '7': 'no', '<<': 'x' }),
  )
  assert.equal(changed, 'a: "true"\nb: "1"\nc: words\n"7": "no"\n"<<": x\n')
})

test('a value of another type keeps the comments', () => {
  const changed = after('# head\na: # line\n  b: 1\nc: 2\n', (value: Record<string, unknown>) =>
    Object.assign(value, { a: 3 }),
  )
  assert.match(changed, /^# head\na: 3/)
})

test('a change behind an anchor leaves the aliases, and one of an alias leaves the anchor', () => {
  const text = 'a: &x {k: 1}\nb: *x\nc:\n  <<: *x\n  d: 2\n'
  assert.deepEqual(
    convertYamlToJson(
      read(after(text, (value: { a: { k: number } }) => Object.assign(value.a, { k: 5 }))),
    ),
    {
      a: { k: 5 },
      b: { k: 1 },
      c: { k: 1, d: 2 },
    },
  )
  assert.equal(
    after(text, (value: { c: { k: number }; b: { k: number } }) => {
      value.c.k = 3
      value.b.k = 4
    }),
    'a: {k: 1}\nb: {k: 4}\nc:\n  k: 3\n  d: 2\n',
  )
})

test('an equal value leaves the same node, including aliases and duplicate keys', () => {
  const text = 'a: &x {k: 1}\nb: *x\nk: 1\nk: 2\n'
  const node = read(text)
  const before = structuredClone(node)
  assert.equal(patchYamlNode(node, convertYamlToJson(node)), node)
  assert.deepEqual(node, before)
})

const scalar = fc.oneof(
  fc.constantFrom<Json>(
    '',
    'true',
    'no',
    '1',
    '0644',
    '1e3',
    '~',
    'a b',
    'x: y',
    '# c',
    '- a',
    'a\nb\n',
    ' pad ',
    '2024-01-01',
    '<<',
    '*x',
    '!t',
    '\u0007',
  ),
  fc.string({ maxLength: 6 }),
  fc.integer(),
  // A whole number beyond 2^53 is a bigint in our JSON.
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .filter(
      (number) =>
        !Number.isInteger(number) || Number.isSafeInteger(number) || Math.abs(number) >= 1e21,
    ),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom<Json>(9007199254740993n, 9223372036854775807n, -9223372036854775808n, 1e21, -0),
)
const key = fc.oneof(
  fc.constantFrom(
    'a',
    'b',
    'name',
    'key',
    'items',
    '__proto__',
    'constructor',
    '<<',
    '1',
    'true',
    '',
  ),
  fc.string({ maxLength: 4 }),
)
const { value: anyValue } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 5 }),
    fc.array(fc.record({ name: fc.constantFrom('a', 'b', 'c'), v: tie('value') }), {
      maxLength: 4,
    }),
    fc.dictionary(key, tie('value'), { maxKeys: 5 }),
  ),
}))

test('the patched tree equals the value, for all trees and values', () => {
  fc.assert(
    fc.property(anyValue, anyValue, (from, to) => {
      const node = patchYamlNode(patchYamlNode(convertJsonToYaml(null), from), to)
      assert.ok(isJsonEqual(convertYamlToJson(node), to))
    }),
    { numRuns: 1500 },
  )
})

test('the patched tree still equals the value after writing and reading', () => {
  fc.assert(
    fc.property(anyValue, anyValue, (from, to) => {
      const node = patchYamlNode(patchYamlNode(convertJsonToYaml(null), { root: from }), {
        root: to,
      })
      assert.ok(
        isJsonEqual(convertYamlToJson(read(writeYamlNode(node))), { root: to }),
        writeYamlNode(node),
      )
    }),
    { numRuns: 500 },
  )
})

test('an equal value under a common key keeps the same node', () => {
  fc.assert(
    fc.property(
      fc.dictionary(key, anyValue, { maxKeys: 6 }),
      fc.dictionary(key, anyValue, { maxKeys: 6 }),
      fc.boolean(),
      (from, other, all) => {
        const node = patchYamlNode(convertJsonToYaml({}), from)
        assert.ok(node.kind === 'map')
        const nodes = new Map(
          node.entries.map((entry) => [
            entry.key.kind === 'scalar' ? entry.key.value : '',
            entry.value,
          ]),
        )
        const retained = Object.entries(from).filter((_, at) => all || at % 2 === 0)
        const to = Object.fromEntries([
          ...retained,
          ...Object.entries(other).filter(([name]) => !Object.hasOwn(from, name)),
        ])
        patchYamlNode(node, to)
        for (const { key: name, value } of node.entries) {
          const before = name.kind === 'scalar' ? nodes.get(name.value) : undefined
          if (before !== undefined) assert.equal(value, before)
        }
      },
    ),
    { numRuns: 500 },
  )
})

test('a patch visits an item of a long list as often as one of a short list', () => {
  const looksAmong = (count: number): number => {
    const many = Array.from({ length: count }, (_, at) => ({ name: `n${at}`, v: at }))
    const node = convertJsonToYaml(many)
    const item = node.kind === 'list' ? node.items[1] : undefined
    assert.ok(item?.kind === 'map')
    const reads = countReads(item, 'entries')
    patchYamlNode(node, [{ name: 'first' }, ...many.toReversed()])
    return reads()
  }
  assert.ok(looksAmong(10) > 0)
  assert.equal(looksAmong(100), looksAmong(10))
})
