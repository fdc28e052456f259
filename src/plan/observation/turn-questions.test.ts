import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { observationOf } from '../../../test/fakes/observation-builder.ts'
import { NO_BUILDS } from '../../sources/programs/package-builder.ts'
import { attempt, type Question, Unanswered } from '../../sources/programs/questions.ts'
import { type StepAnswers, UnitQuestions } from './turn-questions.ts'

const SEEN = observationOf()
const BRANCH = {} as never
const CALL = { input: 'of a function' } as never

/** The steps that were taken. */
const steps: string[] = []

function known(answers: { readonly [step: string]: Partial<StepAnswers> } = {}): UnitQuestions {
  const none = {
    functions: SEEN.functions,
    builds: NO_BUILDS,
    exhausted: false,
    failure: undefined,
    isContent: undefined,
  }
  const step = (name: string): StepAnswers => {
    steps.push(name)
    return { ...none, ...answers[name] }
  }
  return new UnitQuestions({ step }, 'free')
}

/** What is asked by the work, as kind and step. */
function requested(work: () => unknown): string {
  const tried = attempt(work)
  return 'value' in tried
    ? `none: ${String(tried.value)}`
    : `${tried.question.kind} in ${steps.at(-1)}`
}

const needs = (question: Question) => () => {
  throw new Unanswered(question)
}

test('missing render input becomes a question of the current step; other errors are thrown', () => {
  const questions = known()
  assert.equal(
    requested(() => questions.plan(SEEN, needs({ kind: 'function', call: CALL }))),
    'function in free 1',
  )
  assert.equal(
    requested(() => questions.plan(SEEN, needs({ kind: 'builds', builds: [] }))),
    'builds in free 2',
  )
  assert.equal(
    requested(() => questions.isContent(BRANCH, [])),
    'content in free 3',
  )
  const mine = () => {
    throw new RangeError('mine')
  }
  assert.throws(() => requested(() => questions.plan(SEEN, mine)), RangeError)
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

test('the failure of a question is thrown by the step that needs its answer', () => {
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

test('without answers the plain observation is used', () => {
  const questions = new UnitQuestions(undefined, 'free')
  assert.equal(
    questions.plan(SEEN, (observed) => observed === SEEN),
    true,
  )
  assert.equal(questions.isContent(BRANCH, []), true)
})
