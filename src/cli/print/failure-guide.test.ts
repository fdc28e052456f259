import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInWorld } from '../../../test/fakes/cli-world.ts'
import { TurnWorld } from '../../../test/fakes/turn-world.ts'
import { FAILURE_CODES } from '../../failure.ts'
import { FAILURE_GUIDE } from './failure-guide.ts'

test('every code has a cause and a fix of its own', () => {
  assert.deepEqual(Object.keys(FAILURE_GUIDE), Object.keys(FAILURE_CODES))
  const guides = Object.entries(FAILURE_GUIDE)
  for (const [code, { cause, fix }] of guides) for (const text of [cause, fix]) assert.match(text, /^[a-zA-Z].{10,}[^.]$/, code)
  assert.equal(new Set(guides.map(([, { cause }]) => cause)).size, guides.length)
})

test('explain tells what a code comes from and what to do about it', async () => {
  const { code, stdout } = await runInWorld(new TurnWorld(), ['explain', 'bp2014'])
  assert.equal(code, 0)
  assert.match(
    stdout,
    /^BP2014: several places give the live value\ncause: more than one edit .*\nfix: name one of .* with --via\nexit code 2\n$/,
  )
})

test('explain tells both exit codes of what is mostly said of one object among others', async () => {
  const { stdout } = await runInWorld(new TurnWorld(), ['explain', 'BP3012'])
  assert.match(stdout, /\nexit code 3 where it is said of an object, 2 where it ends the command\n$/)
})
