import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Answer,
  type CaseAnswers,
  overallTable,
  precisionOf,
  recallOf,
  scoreOf,
  shown,
} from './accuracy-score.ts'

const named = (...objects: string[]): Answer => ({ state: 'answered', objects: new Set(objects) })
const of = (name: string, truth: readonly string[], answer: Answer | undefined): CaseAnswers => ({
  name,
  class: 'image',
  truth: new Set(truth),
  answers: new Map(answer === undefined ? [] : [['tool', answer]]),
})

test('what is named and drifted is found, what is not named is missed, what did not drift is invented', () => {
  const score = scoreOf('tool', [
    of('a', ['Deployment/web', 'Service/web'], named('Deployment/web', 'ConfigMap/web')),
    of('b', [], named()),
  ])
  assert.deepEqual(score, { found: 1, missed: 1, invented: 1, quiet: 1, quietCases: 1, failed: 0 })
  assert.equal(recallOf(score), 0.5)
  assert.equal(precisionOf(score), 0.5)
})

test('without an answer everything is missed, and a quiet case is not quiet', () => {
  const failed: Answer = { state: 'failed', why: 'refused' }
  const score = scoreOf('tool', [of('a', ['Deployment/web'], failed), of('b', [], failed)])
  assert.deepEqual(score, { found: 0, missed: 1, invented: 0, quiet: 0, quietCases: 1, failed: 2 })
})

test('a case in which the tool was not asked does not count', () => {
  assert.deepEqual(scoreOf('tool', [of('a', ['Deployment/web'], undefined)]), {
    found: 0,
    missed: 0,
    invented: 0,
    quiet: 0,
    quietCases: 0,
    failed: 0,
  })
})

test('a share is never rounded up to one', () => {
  assert.equal(shown(0.999), '0.99')
  assert.equal(shown(1), '1.00')
  assert.equal(shown(undefined), '–')
  assert.match(
    overallTable(['tool'], [of('a', ['Deployment/web'], named('Deployment/web'))]),
    /\| tool \| 1\.00 \(1 of 1\) \| 1\.00 \(0 false\) \|/,
  )
})
