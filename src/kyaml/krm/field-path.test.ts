import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomPath } from '../../../test/property/random-krm.ts'
import * as fc from '../../../test/seeds/fast-check.ts'
import { formatJson, type Json } from '../text/json.ts'
import {
  createFieldStep,
  type FieldPath,
  findValueAt,
  formatFieldPath,
  indexOfStep,
  isSameStep,
  isWithin,
  parseFieldPath,
} from './field-path.ts'

function parsed(text: string): FieldPath {
  const result = parseFieldPath(text)
  assert.ok('path' in result, 'problem' in result ? result.problem : '')
  return result.path
}

function samePath(left: FieldPath, right: FieldPath): boolean {
  return (
    left.length === right.length &&
    left.every((step, index) => isSameStep(step, right[index] ?? createFieldStep('')))
  )
}

const WRITTEN: readonly (readonly [name: string, path: FieldPath, text: string])[] = [
  ['plain fields', [createFieldStep('spec'), createFieldStep('replicas')], 'spec.replicas'],
  [
    'an item by its name',
    [
      createFieldStep('containers'),
      { kind: 'item', keys: { name: 'app' } },
      createFieldStep('image'),
    ],
    'containers[name=app].image',
  ],
  [
    'a label with a prefix',
    [
      createFieldStep('metadata'),
      createFieldStep('annotations'),
      createFieldStep('example.com/owner'),
    ],
    'metadata.annotations["example.com/owner"]',
  ],
  [
    'a member of a set',
    [createFieldStep('finalizers'), { kind: 'member', value: 'example.com/guard' }],
    'finalizers[=example.com/guard]',
  ],
  [
    'an index of an atomic list',
    [createFieldStep('command'), { kind: 'index', index: 0 }],
    'command[0]',
  ],
  [
    'two keys, one of them a number',
    [{ kind: 'item', keys: { port: 80, protocol: 'TCP' } }],
    '[port=80,protocol=TCP]',
  ],
  ['a text that looks like a number', [{ kind: 'item', keys: { name: '80' } }], '[name="80"]'],
  ['a text that looks like a negative number', [{ kind: 'member', value: '-5' }], '[="-5"]'],
  ['a negative number', [{ kind: 'member', value: -5 }], '[=-5]'],
  ['a text that looks like a boolean', [{ kind: 'member', value: 'true' }], '[="true"]'],
  ['an integer beyond 2^53', [{ kind: 'member', value: 9007199254740993n }], '[=9007199254740993]'],
  [
    'a field that starts with a digit',
    [createFieldStep('data'), createFieldStep('0x')],
    'data["0x"]',
  ],
]

for (const [name, path, text] of WRITTEN) {
  test(`${name} round-trips: ${text}`, () => {
    assert.equal(formatFieldPath(path), text)
    assert.ok(samePath(parsed(text), path))
  })
}

test('a formatted path parses back, for all names and values', () => {
  fc.assert(
    fc.property(randomPath, (path) => {
      const text = formatFieldPath(path)
      const result = parseFieldPath(text)
      assert.ok('path' in result, `${text}: ${'problem' in result ? result.problem : ''}`)
      assert.ok(samePath(result.path, path), text)
      assert.equal(formatFieldPath(result.path), text)
    }),
  )
})

test('an item has one text, whatever the order of its keys', () => {
  const [first, second]: FieldPath[] = [
    [{ kind: 'item', keys: { protocol: 'TCP', containerPort: 80 } }],
    [{ kind: 'item', keys: { containerPort: 80, protocol: 'TCP' } }],
  ]
  assert.equal(formatFieldPath(first ?? []), formatFieldPath(second ?? []))
})

const REFUSED: readonly (readonly [text: string, problem: RegExp])[] = [
  ['', /empty/],
  ['spec..replicas', /field name at character 6/],
  ['spec.', /field name at character 6/],
  ['spec]', /wanted "\." or "\["/],
  ['spec[name=app', /wanted "]"/],
  ['spec[name]', /wanted "="/],
  ['spec[name=]', /a value/],
  ['spec[name=5x]', /wanted a value, got 5x/],
  ['spec["open]', /value|quoted|"/],
  ['spec[={"a":1]', /end of a JSON value|wanted/],
]

for (const [text, problem] of REFUSED) {
  test(`rejects the path ${JSON.stringify(text)}`, () => {
    const result = parseFieldPath(text)
    assert.ok('problem' in result)
    assert.match(result.problem, problem)
  })
}

test('rejects or parses hostile text in linear time', () => {
  for (const text of [
    '['.repeat(50_000),
    `a[${'"a'.repeat(50_000)}`,
    `a${'.a'.repeat(50_000)}`,
    `a[=${'['.repeat(50_000)}`,
  ]) {
    const started = process.cpuUsage()
    parseFieldPath(text)
    assert.ok(process.cpuUsage(started).user < 2_000_000, text.slice(0, 10))
  }
})

const OBJECT: Json = {
  ports: [
    { port: 80, name: 'http' },
    { port: 443, protocol: 'UDP' },
  ],
  finalizers: ['a', 'b'],
}

const FOUND: readonly (readonly [text: string, value: Json | undefined])[] = [
  ['ports[port=80].name', 'http'],
  ['ports[port=80,protocol=TCP].name', 'http'],
  ['ports[port=443,protocol=TCP]', undefined],
  ['ports[protocol=TCP]', undefined],
  ['finalizers[=b]', 'b'],
  ['finalizers[=c]', undefined],
  ['ports[1].protocol', 'UDP'],
  ['ports[2]', undefined],
  ['constructor', undefined],
  ['ports.constructor', undefined],
  ['finalizers[=b].x', undefined],
]

for (const [text, value] of FOUND) {
  test(`${text} resolves to ${value === undefined ? 'nothing' : formatJson(value)}`, () => {
    assert.deepEqual(findValueAt(OBJECT, parsed(text)), value)
  })
}

test('finds an item that lacks a key only while it is the only candidate', () => {
  const step = { kind: 'item', keys: { port: 80, protocol: 'TCP' } } as const
  assert.equal(indexOfStep([{ port: 80 }], step), 0)
  assert.equal(indexOfStep([{ port: 80 }, { port: 80 }], step), -1)
  assert.equal(indexOfStep([{ port: 80 }, { port: 80, protocol: 'TCP' }], step), 1)
  assert.equal(indexOfStep([{}], step), -1)
})

test('a path is within itself and its ancestors, and nothing else', () => {
  const path = parsed('spec.containers[name=app].image')
  assert.ok(isWithin(path, path))
  assert.ok(isWithin(path, parsed('spec.containers')))
  assert.ok(isWithin(path, []))
  assert.ok(!isWithin(parsed('spec.containers'), path))
  assert.ok(!isWithin(path, parsed('spec.containers[name=other]')))
})
