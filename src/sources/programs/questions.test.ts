import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Build } from './package-builder.ts'
import { attempt, computeAnswered, computeEach, type Question, Unanswered } from './questions.ts'

const buildOf = (folder: string): Build => ({ tool: 'command', folder, command: [], files: [] })
const needs = (question: Question): never => {
  throw new Unanswered(question)
}
const needsBuild = (folder: string): never => needs({ kind: 'builds', builds: [buildOf(folder)] })

test('repeats a computation with each answer until it has a value', async () => {
  const known: string[] = []
  const compute = (): string => {
    for (const folder of ['a', 'b']) if (!known.includes(folder)) needsBuild(folder)
    return known.join()
  }
  const answer = async (question: Question): Promise<void> => {
    assert.ok(question.kind === 'builds')
    known.push(...question.builds.map(({ folder }) => folder))
  }
  assert.equal(await computeAnswered(compute, answer), 'a,b')
  assert.equal(await computeAnswered(compute, () => assert.fail('it is known')), 'a,b')
})

test('an unavailable answer ends the computation, like any other error', async () => {
  const none = async (): Promise<void> => {
    throw new RangeError('nobody answers')
  }
  await assert.rejects(
    computeAnswered(() => needsBuild('a'), none),
    /nobody answers/,
  )
  const mine = (): never => {
    throw new TypeError('mine')
  }
  await assert.rejects(computeAnswered(mine, none), /mine/)
  assert.throws(() => attempt(mine), /mine/)
})

test('joins builds of several computations into one question, and asks a question of another kind first', () => {
  const tried = attempt(() =>
    computeEach(['a', '', 'b'], (folder) => (folder === '' ? 'known' : needsBuild(folder))),
  )
  assert.deepEqual(tried, {
    question: { kind: 'builds', builds: [buildOf('a'), buildOf('b')] },
  })
  assert.deepEqual(
    computeEach(['a', 'b'], (folder) => `${folder} is built`),
    ['a is built', 'b is built'],
  )
  const other: Question = { kind: 'function', call: {} as never }
  const first = attempt(() =>
    computeEach(['a', 'b'], (folder) => (folder === 'a' ? needsBuild('a') : needs(other))),
  )
  assert.deepEqual(first, { question: other })
})

test('only one file catches questions', () => {
  const src = fileURLToPath(new URL('../../', import.meta.url))
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !path.endsWith('.test.ts'),
  )
  assert.deepEqual(
    files.filter((path) => /instanceof Unanswered\b/.test(readFileSync(join(src, path), 'utf8'))),
    ['sources/programs/questions.ts'],
  )
})
