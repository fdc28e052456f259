import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomText } from '../../../test/property/random-krm.ts'
import * as fc from '../../../test/seeds/fast-check.ts'
import {
  escapeExpression,
  findExpressionProblem,
  LONGEST_EXPRESSION,
  matchesExpression,
} from './rule-expression.ts'

test('an expression matches the whole text, and many stars take linear time', () => {
  assert.deepEqual(
    [
      matchesExpression('a.c', 'abc'),
      matchesExpression('b', 'abc'),
      matchesExpression('.*b.*', 'abc'),
    ],
    [true, false, true],
  )
  assert.equal(matchesExpression('(a*)*b', 'a'.repeat(50_000)), false)
})

test('reports syntax that RE2 lacks, and matches nothing', () => {
  for (const text of ['(', '(?=a)', '(a)\\1', 'a'.repeat(LONGEST_EXPRESSION + 1)])
    assert.notEqual(findExpressionProblem(text), undefined, text)
  assert.equal(findExpressionProblem('(?i)web-[0-9]+'), undefined)
  assert.equal(matchesExpression('(', '('), false)
})

test('a literal expression matches only its own text, and contains no invisible characters', () => {
  fc.assert(
    fc.property(randomText, randomText, (text, other) => {
      const expression = escapeExpression(text)
      assert.equal(matchesExpression(expression, text), true, JSON.stringify(text))
      assert.equal(matchesExpression(expression, other), text === other)
      assert.doesNotMatch(expression, /[\p{Cf}\p{Zl}\p{Zp}]/u)
    }),
    { numRuns: 500 },
  )
})
