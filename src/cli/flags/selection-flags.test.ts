import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Command } from '@commander-js/extra-typings'
import { addFlags } from './options.ts'
import {
  computeSinceTime,
  createSelectionFlags,
  RISKS,
  type SelectionOptions,
  STATES,
} from './selection-flags.ts'

const EVERY = { namespace: 'n', cluster: 'c', risk: 'r', state: 's', since: 'w' }
const NOW = new Date('2026-11-21T10:00:00Z')

function parse(...argv: string[]): SelectionOptions {
  const command = addFlags(
    new Command('x').exitOverride().configureOutput({ writeErr: () => undefined }),
    createSelectionFlags(EVERY),
  )
  return command.parse(argv, { from: 'user' }).opts()
}

const MOMENTS: readonly (readonly [text: string, moment: string | undefined])[] = [
  ['2026-11-01', '2026-11-01T00:00:00.000Z'],
  ['2026-11-01T14:00:00Z', '2026-11-01T14:00:00.000Z'],
  ['2026-11-01T14:00:00.5Z', '2026-11-01T14:00:00.500Z'],
  ['2026-11-01T14:00:00+02:00', '2026-11-01T12:00:00.000Z'],
  ['45s', '2026-11-21T09:59:15.000Z'],
  ['30m', '2026-11-21T09:30:00.000Z'],
  ['24h', '2026-11-20T10:00:00.000Z'],
  ['7d', '2026-11-14T10:00:00.000Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ['2026-02-29', undefined],
  ['2026-02-29T10:00:00Z', undefined],
  ['2026-13-01', undefined],
  ['2026-11-01T25:00:00Z', undefined],
  ['2026-11-01T14:00:00', undefined],
  ['2026-11', undefined],
  ['7', undefined],
  ['0d', undefined],
  ['-7d', undefined],
  ['7y', undefined],
  ['99999d', undefined],
  ['yesterday', undefined],
  ['', undefined],
]

for (const [text, moment] of MOMENTS) {
  test(`--since ${JSON.stringify(text)} is ${moment ?? 'refused'}`, () => {
    if (moment === undefined) assert.throws(() => parse('--since', text), /it takes a day/)
    else {
      const { since } = parse('--since', text)
      assert.ok(since !== undefined)
      assert.equal(new Date(computeSinceTime(since, NOW)).toISOString(), moment)
    }
  })
}

test('list flags accept any case and return the canonical words', () => {
  assert.deepEqual(parse('--risk', 'HIGH,critical').risk, ['high', 'critical'])
  assert.deepEqual(parse('--state', 'drifted,insync').state, ['Drifted', 'InSync'])
  assert.deepEqual(parse('--risk', RISKS.join(',')).risk, RISKS)
  assert.deepEqual(parse('--state', STATES.join(',')).state, STATES)
  assert.throws(() => parse('--risk', 'high+'), /there is no "high\+"/)
})

test('-l is parsed once, an empty selector selects everything, and --package adds up', () => {
  assert.deepEqual(parse('-l', 'team=shop').selector, [
    { key: 'team', operator: 'in', values: ['shop'] },
  ])
  assert.deepEqual(parse('-l', '').selector, [])
  assert.deepEqual(parse('--package', 'a', '--package', 'b').package, ['a', 'b'])
  assert.throws(() => parse('-l', 'team in shop'), /found "shop" where "\(" is wanted/)
})

test('a flag that has no meaning for a command is not defined', () => {
  const command = createSelectionFlags({})
  assert.deepEqual(
    command.options.map(({ long }) => long),
    ['--selector', '--package'],
  )
})
