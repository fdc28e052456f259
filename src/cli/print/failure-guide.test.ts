import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FAILURE_CODES } from '@backporch/kyaml/failure'
import { runInWorld } from '../../../test/fakes/cli-world.ts'
import { TurnWorld } from '../../../test/fakes/turn-world.ts'
import { FAILURE_GUIDE } from './failure-guide.ts'

test('every code has its own cause and fix', () => {
  assert.deepEqual(Object.keys(FAILURE_GUIDE), Object.keys(FAILURE_CODES))
  const guides = Object.entries(FAILURE_GUIDE)
  for (const [code, { cause, fix }] of guides)
    for (const text of [cause, fix]) assert.match(text, /^[a-zA-Z].{10,}[^.]$/, code)
  assert.equal(new Set(guides.map(([, { cause }]) => cause)).size, guides.length)
})

test('explain describes the cause and fix of a code', async () => {
  const { code, stdout } = await runInWorld(new TurnWorld(), ['explain', 'bp2014'])
  assert.equal(code, 0)
  assert.match(
    stdout,
    /^BP2014: several places give the live value\ncause: more than one edit .*\nfix: name one of .* with --via\nexit code 2\n$/,
  )
})

test('explain gives both exit codes of a code that may concern a single object', async () => {
  const { stdout } = await runInWorld(new TurnWorld(), ['explain', 'BP3012'])
  assert.match(stdout, /\nexit code 3 if it is about an object, 2 if it ends the command\n$/)
})

const UNKNOWN: readonly (readonly [code: string, why: RegExp, remedy: RegExp])[] = [
  ['BP9999', /notes$/, /^codes of errors are BP1001 to BP1012, .*, BP9001$/],
  ['bp9002', /; did you mean BP9001 or BP\d002 or BP\d002\?$/, /^write backporch explain BP9001\b/],
  [
    'BP1013',
    /; did you mean BP1010 or BP1011 or BP1012\?$/,
    /^write backporch explain BP1010 or backporch explain BP1011 or /,
  ],
  ['SEC-RBACC', /; did you mean SEC-RBAC\?$/, /^write backporch explain SEC-RBAC$/],
  ['TEN-UNBOUNDED', /; did you mean TEN-UNBOUND\?$/, /^write backporch explain TEN-UNBOUND$/],
  ['TEN-ANT', /notes$/, /^codes of objects outside a package are TEN-UNBOUND, /],
  ['NO-SUCH', /notes$/, /^risk codes are SEC-RBAC, /],
  [
    'preset:hpas',
    /; did you mean preset:hpa or preset:vpa\?$/,
    /^write backporch explain preset:hpa or /,
  ],
  ['preset:nothing-like-it', /notes$/, /^presets are .*\bhpa\b/],
  [
    'note:secret-in-gi',
    /; did you mean note:secret-in-git\?$/,
    /^write backporch explain note:secret-in-git$/,
  ],
]

for (const [what, why, remedy] of UNKNOWN) {
  test(`explain ${what} suggests the nearest codes or lists all`, async () => {
    const { code, stderr } = await runInWorld(new TurnWorld(), ['explain', what])
    const [first, second = '', third = ''] = stderr.split('\n')
    assert.deepEqual([code, first], [2, `error BP1001: there is no code ${what}`])
    assert.match(second.replace(/^ {2}why: /, ''), why)
    assert.match(third.replace(/^ {2}fix: /, ''), remedy)
  })
}

for (const [what, code] of [
  ['sec-rbacc', 'SEC-RBAC'],
  ['secret-in-gi', 'note:secret-in-git'],
  ['keda', 'preset:keda'],
]) {
  test(`explain ${what} finds no package and suggests ${code}`, async () => {
    const { code: exit, stderr } = await runInWorld(new TurnWorld(), ['explain', `${what}`])
    assert.equal(exit, 2)
    assert.match(
      stderr,
      new RegExp(
        `^error BP1004: there is no package "${what}".*; for a code, write ${code}$`,
        'ms',
      ),
    )
  })
}
