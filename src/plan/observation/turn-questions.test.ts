import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { observationOf } from '../../../test/fakes/observation-builder.ts'
import { MissingAnswer } from '../../sources/kpt/render/package-renderer.ts'
import { MissingBuilds, NO_BUILDS } from '../../sources/programs/package-builder.ts'
import { type StepAnswers, Unanswered, UnitQuestions } from './turn-questions.ts'

const SEEN = observationOf()
const BRANCH = {} as never
const CALL = { input: 'of a function' } as never

function known(answers: { readonly [step: string]: Partial<StepAnswers> } = {}): UnitQuestions {
  const none = {
    functions: SEEN.functions,
    builds: NO_BUILDS,
    exhausted: false,
    failure: undefined,
    isContent: undefined,
  }
  return new UnitQuestions({ step: (name) => ({ ...none, ...answers[name] }) }, 'free')
}

/** What is asked by the work, as kind and step. */
function requested(work: () => unknown): string {
  try {
    return `none: ${String(work())}`
  } catch (thrown) {
    if (!(thrown instanceof Unanswered)) throw thrown
    return `${thrown.question.kind} in ${thrown.question.step}`
  }
}

const needs = (missing: Error) => () => {
  throw missing
}

test('what a rendering lacks is a question of its step, and other errors are not', () => {
  const questions = known()
  assert.equal(
    requested(() => questions.plan(SEEN, needs(new MissingAnswer(CALL)))),
    'function in free 1',
  )
  assert.equal(
    requested(() => questions.plan(SEEN, needs(new MissingBuilds([])))),
    'builds in free 2',
  )
  assert.equal(
    requested(() => questions.isContent(BRANCH, [])),
    'content in free 3',
  )
  assert.throws(() => questions.plan(SEEN, needs(new RangeError('mine'))), RangeError)
})

test('an answer belongs to its step, and a plan reads it through the observation', () => {
  const functions = { answer: () => ({ failure: undefined as never }) }
  const questions = known({
    'free 1': { functions, exhausted: true },
    'free 2': { isContent: false },
    'free 3': { isContent: true },
  })
  assert.deepEqual(
    questions.plan(SEEN, (observed, { exhausted }) => [
      observed.functions === functions,
      exhausted,
    ]),
    [true, true],
  )
  assert.deepEqual(
    [questions.isContent(BRANCH, []), questions.isContent(BRANCH, [])],
    [false, true],
  )
})

test('why a question has no answer is thrown by the step that needs it', () => {
  const failure = new Failure({
    code: 'BP4001',
    what: 'no answer',
    why: 'timeout',
    remedy: 'wait',
    retry: 'backoff',
  })
  const questions = known({ 'free 1': { failure }, 'free 2': { failure } })
  assert.throws(() => questions.plan(SEEN, () => assert.fail('it is not tried')), failure)
  assert.throws(() => questions.isContent(BRANCH, []), failure)
})

test('without answers the observation is complete by itself', () => {
  const questions = new UnitQuestions(undefined, 'free')
  assert.equal(
    questions.plan(SEEN, (observed) => observed === SEEN),
    true,
  )
  assert.equal(questions.isContent(BRANCH, []), true)
})
