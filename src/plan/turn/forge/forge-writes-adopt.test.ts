/** Comments about Adopt and Release before a proposal is written, over observations that are written by hand. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { driftOf } from '../../../../test/fakes/drift-samples.ts'
import {
  desiredOf,
  gitOf,
  observationOf,
  turnOf,
  verdictOf,
} from '../../../../test/fakes/observation-builder.ts'
import { COMMAND_TOOL } from '../../../sources/command/command-tool.ts'
import { NO_BUILDS } from '../../../sources/programs/package-builder.ts'
import type { Observation } from '../../observation/observation.ts'
import type { StepAnswers } from '../../observation/turn-questions.ts'
import { findNotAdoptable, findNotReleasable } from '../../unit/not-adoptable.ts'
import { planTurn } from '../plan-turn.ts'

const REPLICAS = driftOf('spec.replicas')
const DESIRED = desiredOf({ replicas: 3, image: 'nginx' })

test('changes that cannot be adopted or released are listed beforehand', () => {
  const unexpected = driftOf('', { change: 'unexpected', git: undefined, live: {} })
  const lost = driftOf('spec.image', { lostWhenReleased: true, git: 'nginx', live: 'x' })
  const of = (verdicts: Observation['verdicts'], more: Partial<Observation> = {}) =>
    observationOf([], { verdicts, ...more })
  const secret = driftOf('spec.image', { git: 'nginx', live: undefined, liveUnread: true })
  const unit = of([verdictOf([REPLICAS, secret], { desired: DESIRED }), verdictOf([unexpected])])
  assert.deepEqual(
    [...findNotAdoptable(unit).values()],
    [
      'the value is a credential, and a credential in git is readable by everybody who can read the repository',
    ],
  )
  assert.deepEqual([...findNotReleasable(unit).values()], [])
  assert.match(
    [...findNotReleasable(of([verdictOf([lost], { desired: DESIRED })])).values()].join(),
    /^the syncer owns the field/,
  )
  assert.throws(
    () =>
      findNotReleasable(
        of([verdictOf([{ ...lost, id: undefined as never }], { desired: DESIRED })]),
      ),
    TypeError,
  )
  const command = { source: { tool: COMMAND_TOOL }, library: NO_BUILDS, others: [] } as never
  const printed = findNotAdoptable({
    ...unit,
    built: command,
    policy: { ...unit.policy, render: { tool: 'command', command: ['print'] } },
  })
  assert.equal(printed.size, 2)
  assert.match([...printed.values()].join(), /a command prints the object/)
  const many = Array.from({ length: 21 }, (_none, at) => driftOf(`spec.f${at}`))
  const files = gitOf().files.map((file) => ({
    ...file,
    content: new TextEncoder().encode('a: ['),
  }))
  const tried = of([verdictOf(many.slice(0, 20), { desired: DESIRED })], {
    pipeline: true,
    git: gitOf({ files }),
  })
  assert.equal(findNotAdoptable(tried).size, 20, 'none can be rendered')
  const failing = {
    pipeline: true,
    functions: { answer: () => assert.fail('nothing is rendered') },
  } as never
  assert.equal(
    findNotAdoptable(of([verdictOf(many, { desired: DESIRED })], failing)).size,
    0,
    'too many to try',
  )
  assert.equal(
    findNotAdoptable(of([verdictOf([secret], { desired: DESIRED })], failing)).size,
    1,
    'nothing is left to try',
  )
})

const NO_ANSWER = new Failure({
  code: 'BP4001',
  what: 'no answer',
  why: 'timeout',
  remedy: 'wait',
  retry: 'backoff',
})

test('a transient program failure prevents no proposal; questions are asked first, defects thrown', () => {
  const observed = turnOf([
    observationOf([], { verdicts: [verdictOf([REPLICAS], { desired: DESIRED })] }),
  ])
  const [unit] = observed.cluster.units
  assert.ok(unit?.state === 'observed')
  const { functions } = unit.observation
  const answers = (step: (name: string) => Partial<StepAnswers>) => {
    const known = {
      functions,
      builds: NO_BUILDS,
      exhausted: false,
      failure: undefined,
      isContent: undefined,
    }
    return planTurn({
      ...observed,
      answers: new Map([[unit, { step: (name: string) => ({ ...known, ...step(name) }) }]]),
    })
  }
  const steps: string[] = []
  const whole = answers((name) => {
    steps.push(name)
    return {}
  })
  const last = steps.at(-1)
  assert.equal(whole.units[0]?.state, 'planned')
  const failed = answers((name) => (name === last ? { failure: NO_ANSWER } : {}))
  assert.equal(failed.units[0]?.state, 'planned', 'the last step is the text about Adopt')
  assert.throws(() =>
    answers((name) =>
      name === last ? { failure: new RangeError('mine') as never } : {},
    ).units.map((one) => {
      if (one.state === 'failed') throw one.failures[0]
      return one
    }),
  )
})
