/** The plan of a turn over several units, and over none, whose observations are written by hand. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { driftOf } from '../../../test/fakes/drift-samples.ts'
import {
  NOW,
  observationOf,
  type TurnParts,
  turnOf,
} from '../../../test/fakes/observation-builder.ts'
import { policyText } from '../../../test/fakes/turn-world.ts'
import type { Observation } from '../observation/observation.ts'
import type { UnitResult } from '../unit/unit-result.ts'
import { planTurn } from './plan-turn.ts'
import type { TurnAction } from './turn-action.ts'

const REPLICAS = driftOf('spec.replicas')

function results(units: readonly Observation[], parts: TurnParts = {}): readonly UnitResult[] {
  return planTurn(turnOf(units, parts)).units
}

function inCluster(unit: Observation, cluster: string): Observation {
  return { ...unit, unit: { ...unit.unit, cluster } }
}

function inPackage(unit: Observation, name: string): Observation {
  const path = `apps/${name}`
  return {
    ...unit,
    unit: { ...unit.unit, packagePath: path, packageName: path, slug: `apps--${name}` },
  }
}

function kinds(actions: readonly TurnAction[]): readonly string[] {
  return actions.map((action) => (action.kind === 'forge' ? action.write.kind : action.kind))
}

test('two units of one turn never start episodes with the same id', () => {
  const unit = observationOf([REPLICAS])
  const twin = { ...unit, unit: { ...unit.unit } }
  const ids = results([unit, twin]).flatMap((one) =>
    one.state === 'planned' ? [one.plan.record?.spec.episode] : [],
  )
  assert.equal(new Set(ids).size, 2)
})

const ONE_AT_ONCE = policyText(
  '{mode: Propose, detect: {minAge: 0s, settle: 0s}, limits: {prHourlyLimit: 0, prConcurrentLimit: 1, stormThreshold: 0, stormShare: 0, digest: off}}',
)

test('a unit over a limit becomes a draft with the reason, and other plans stay the same', () => {
  const units = ['a', 'b', 'c'].map((name) => inPackage(observationOf([REPLICAS]), name))
  const free = results(units)
  const held = results(units, { policy: ONE_AT_ONCE })
  const shown = held.flatMap((one) =>
    one.state === 'planned'
      ? [[one.plan.branch.split('/')[0], one.plan.report.status.held?.reason]]
      : [],
  )
  assert.deepEqual(shown.toSorted(), [
    ['drafts', 'concurrent-limit'],
    ['drafts', 'concurrent-limit'],
    ['proposed', undefined],
  ])
  const episodes = (all: readonly UnitResult[]) =>
    all.map((one) => (one.state === 'planned' ? one.plan.record?.spec.episode : ''))
  assert.deepEqual(episodes(held), episodes(free))
  const index = held.findIndex(
    (one) => one.state === 'planned' && one.plan.branch.startsWith('proposed/'),
  )
  assert.equal(JSON.stringify(held[index]), JSON.stringify(free[index]))
})

test('a requested resolution is not held back', () => {
  const units = ['a', 'b'].map((name) => inPackage(observationOf([REPLICAS]), name))
  const resolutionRequest = { resolution: 'Restore' as const, selectors: [], message: undefined }
  const requested = results(units, { policy: ONE_AT_ONCE, purpose: { resolutionRequest } })
  assert.deepEqual(
    requested.map((one) => one.state === 'planned' && one.plan.branch.split('/')[0]),
    ['proposed', 'proposed'],
  )
})

test('the same drift in three clusters is one proposal on a forge, and three on git alone', () => {
  const units = ['prod-1', 'prod-2', 'prod-3'].map((name) =>
    inCluster(observationOf([REPLICAS]), name),
  )
  const branches = (parts: TurnParts) =>
    new Set(results(units, parts).map((one) => (one.state === 'planned' ? one.plan.branch : '')))
  assert.equal(branches({ forge: { hosted: true } }).size, 1)
  assert.equal(branches({}).size, 3)
  assert.equal(
    planTurn(turnOf(units, { forge: { hosted: true } })).actions.filter(
      ({ kind }) => kind === 'propose',
    ).length,
    1,
  )
})

test('forge writes surround the push in an order that survives a crash', () => {
  const { actions } = planTurn(turnOf([observationOf([REPLICAS])], { forge: { hosted: true } }))
  assert.deepEqual(kinds(actions), ['push', 'propose', 'keep-numbers', 'issues'])
})

test('an unobservable cluster is recorded in the ledger, and its units become Unknown', () => {
  const failure = new Failure({ code: 'BP3006', what: 'no answer', why: 'timeout', remedy: 'wait' })
  const unit = {
    cluster: 'prod',
    package: 'apps/web',
    branch: 'main',
    commit: 'a'.repeat(40),
    tree: '0'.repeat(16),
  }
  const lost = {
    folder: 'clusters/prod/apps--web',
    report: undefined,
    unit,
    resourceGroup: undefined,
  }
  const notObserved = [{ cluster: 'prod', failures: [failure] as const, at: NOW }]
  const parts = { cluster: { notObserved }, git: { lost: new Map([['prod', [lost]]]) } }
  const pushOf = (observed: TurnParts) =>
    planTurn(turnOf([], observed)).actions.find((action) => action.kind === 'push')
  const push = pushOf(parts)
  assert.deepEqual(
    [push?.clusters.map(({ cluster }) => cluster), push?.onFailure],
    [['prod'], 'report'],
  )
  assert.match(push?.clusters[0]?.ledger.map(({ text }) => text).join('') ?? '', /state: Unknown/)
  const resolutionRequest = { resolution: 'Restore' as const, selectors: [], message: undefined }
  assert.deepEqual(
    pushOf({ ...parts, purpose: { resolutionRequest } })?.clusters,
    [],
    'a decision says what it decides',
  )
  const unknown = new Failure({
    code: 'BP1011',
    what: 'no such cluster',
    why: 'nothing is placed',
    remedy: 'name another',
  })
  assert.deepEqual(
    pushOf({
      ...parts,
      cluster: { notObserved: [{ ...notObserved[0], failures: [unknown] }] as never },
    })?.clusters,
    [],
  )
})
