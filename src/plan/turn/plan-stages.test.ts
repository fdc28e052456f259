/** The stages of the plan of a turn that follow its units, over observations that are written by hand. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { parseObjectId } from '@backporch/kyaml/files'
import { driftOf } from '../../../test/fakes/drift-samples.ts'
import {
  mergedOf,
  NOW,
  observationOf,
  proposedOf,
  requestsOf,
  turnOf,
} from '../../../test/fakes/observation-builder.ts'
import { NO_BUILDS } from '../../sources/programs/package-builder.ts'
import { attempt, Unanswered } from '../../sources/programs/questions.ts'
import type { Observation } from '../observation/observation.ts'
import type { StepAnswers } from '../observation/turn-questions.ts'
import { planTurn } from './plan-turn.ts'
import type { TurnClusters } from './turn-observation.ts'

const REPLICAS = driftOf('spec.replicas')

function inCluster(unit: Observation, cluster: string): Observation {
  return { ...unit, unit: { ...unit.unit, cluster } }
}

test('a question after the unit stage is asked too, and its failure fails the unit', () => {
  const units = ['prod-1', 'prod-2', 'prod-3'].map((name) =>
    inCluster(observationOf([REPLICAS]), name),
  )
  const found = turnOf(units, { forge: { hosted: true } })
  const planned = (joint: () => StepAnswers) => {
    const [unit] = found.cluster.units
    assert.ok(unit?.state === 'observed')
    const { functions } = unit.observation
    const known: StepAnswers = {
      functions,
      builds: NO_BUILDS,
      exhausted: false,
      failure: undefined,
      isContent: undefined,
    }
    return planTurn({
      ...found,
      answers: new Map([
        [unit, { step: (name: string) => (name.startsWith('joint') ? joint() : known) }],
      ]),
    })
  }
  const question = { kind: 'function', call: { path: 'x' } as never } as const
  const asked = attempt(() =>
    planned(() => {
      throw new Unanswered(question)
    }),
  )
  assert.deepEqual(asked, { question })
  const failure = new Failure({
    code: 'BP4001',
    what: 'no answer',
    why: 'timeout',
    remedy: 'wait',
    retry: 'backoff',
  })
  const [functions] = [units[0]?.functions]
  assert.ok(functions !== undefined)
  const failed = planned(() => ({
    functions,
    builds: NO_BUILDS,
    exhausted: false,
    failure,
    isContent: undefined,
  }))
  assert.equal(
    failed.actions.some(({ kind }) => kind === 'push'),
    true,
  )
})

test('a defect in a stage of the whole turn is thrown, not asked as a question', () => {
  const observed = turnOf([observationOf([REPLICAS])], { forge: { hosted: true } })
  const broken = { ...observed, cluster: { ...observed.cluster, notObserved: undefined as never } }
  assert.throws(() => planTurn(broken), TypeError)
})

test('requests change the plan of an observed unit, and are answered with the reason otherwise', () => {
  const unit = proposedOf([REPLICAS])
  const requests = requestsOf(unit, ['/snooze 7d'])
  const planned = planTurn(turnOf([unit], { forge: { hosted: true, requests: [requests] } }))
  const [result] = planned.units
  assert.ok(result?.state === 'planned')
  assert.ok(result.plan.report.status.snoozedUntil !== undefined)
  assert.deepEqual(
    planned.actions
      .map(({ kind }) => kind)
      .filter((kind) => ['acknowledge', 'answer'].includes(kind)),
    ['acknowledge', 'answer'],
  )
  const failure = new Failure({
    code: 'BP3006',
    what: 'prod does not answer',
    why: 'timeout',
    remedy: 'wait',
  })
  const failed = {
    state: 'failed',
    cluster: 'prod',
    packagePath: 'apps/web',
    failures: [failure],
  } as const
  const answersOf = (cluster: Partial<TurnClusters>) =>
    planTurn(
      turnOf([], { cluster, forge: { hosted: true, requests: [requests] } }),
    ).actions.flatMap((action) =>
      action.kind === 'answer' ? action.answers.map(({ text }) => text) : [],
    )
  assert.match(answersOf({ units: [failed] }).join(), /^prod does not answer: timeout/)
  const notObserved = [{ cluster: 'prod', failures: [failure] as const, at: NOW }]
  assert.match(answersOf({ notObserved }).join(), /^prod does not answer: timeout/)
  assert.match(answersOf({}).join(), /no cluster of this installation runs the package/)
})

test('units of one package get different revisions in one turn', () => {
  const merged = (name: string): Observation => {
    const one = mergedOf(inCluster(proposedOf([REPLICAS]), name))
    const mergeCommits = new Map(
      [...one.git.mergeCommits].map(([key, commit]) => [
        key,
        {
          ...commit,
          published: parseObjectId(name.slice(-1).repeat(40)),
          commit: parseObjectId(name.slice(-1).repeat(40)),
        },
      ]),
    )
    return { ...one, git: { ...one.git, mergeCommits } }
  }
  const units = planTurn(turnOf([merged('prod-1'), merged('prod-2')])).units
  const tags = units.flatMap((unit) =>
    unit.state === 'planned' ? unit.plan.writes.updates.map(({ ref }) => ref) : [],
  )
  assert.deepEqual(
    tags.filter((ref) => ref.startsWith('refs/tags/')),
    ['refs/tags/apps/web/v1', 'refs/tags/apps/web/v2'],
  )
})
