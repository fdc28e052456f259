/** The plan of a turn over an observation that is written by hand: nothing is read, and nothing is run. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { parseObjectId } from '@backporch/kyaml/files'
import { driftOf } from '../../../test/fakes/drift-samples.ts'
import {
  branchOf,
  gitOf,
  NOW,
  observationOf,
  type TurnParts,
  turnOf,
  verdictOf,
} from '../../../test/fakes/observation-builder.ts'
import { NO_BUILDS } from '../../sources/programs/package-builder.ts'
import { attempt } from '../../sources/programs/questions.ts'
import type { Observation, OpenBranch } from '../observation/observation.ts'
import type { StepAnswers } from '../observation/turn-questions.ts'
import type { UnitPlan } from '../observation/unit-plan.ts'
import type { UnitResult } from '../unit/unit-result.ts'
import { planTurn } from './plan-turn.ts'
import type { TurnAction } from './turn-action.ts'

const REPLICAS = driftOf('spec.replicas')
const IMAGE = driftOf('spec.image', { git: 'nginx:1', live: 'evil', risk: 'high' })

function results(units: readonly Observation[], parts: TurnParts = {}): readonly UnitResult[] {
  return planTurn(turnOf(units, parts)).units
}

function planOf(unit: Observation, parts: TurnParts = {}): UnitPlan {
  const [result] = results([unit], parts)
  if (result?.state !== 'planned') throw result?.failures[0] ?? new Error('no unit')
  return result.plan
}

/** The proposal of `items` is open, and the ledger knows it. */
function proposed(items = [REPLICAS], more: Partial<OpenBranch> = {}): Observation {
  const first = planOf(observationOf(items))
  const branch = branchOf(first, more)
  const report = first.report
  const texts = new Map(
    first.writes.ledger.flatMap(({ path, text }) => (text === null ? [] : [[path, text] as const])),
  )
  return observationOf(items, {
    git: gitOf({ branches: [branch], ledger: { head: branch.commit, report, closed: [], texts } }),
  })
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

const CLOCK_LATER = { observedAt: '2026-11-21T10:05:00Z' }
function later(unit: Observation): Observation {
  return { ...unit, cluster: { ...unit.cluster, ...CLOCK_LATER } }
}

test('a proposal is a branch, a record and a ledger entry in one push', () => {
  const { units, actions } = planTurn(turnOf([observationOf([REPLICAS])]))
  assert.deepEqual(kinds(actions), ['push', 'propose'])
  const [unit] = units
  assert.ok(unit?.state === 'planned')
  assert.equal(unit.plan.outcome, 'created')
  assert.match(unit.plan.branch, /^proposed\/apps\/web\/drift-[0-9a-f]{8}$/)
  assert.deepEqual(
    unit.plan.writes.updates.map(({ ref, from }) => [ref, from]),
    [[`refs/heads/${unit.plan.branch}`, null]],
  )
})

test('the plan is the same for the same observation', () => {
  const observed = turnOf([observationOf([REPLICAS, IMAGE])])
  const text = (): string =>
    JSON.stringify(
      planTurn(observed).units.map((unit) =>
        unit.state === 'planned' ? [unit.plan.report, unit.plan.writes] : [],
      ),
    )
  assert.equal(text(), text())
})

for (const [mode, outcome, branch] of [
  ['Off', 'none', ''],
  ['Warn', 'created', 'drafts'],
  ['Propose', 'created', 'proposed'],
] as const) {
  test(`in mode ${mode}: ${outcome}`, () => {
    const { policy } = observationOf()
    const plan = planOf(observationOf([REPLICAS], { policy: { ...policy, mode } }))
    assert.deepEqual([plan.outcome, plan.branch.split('/')[0]], [outcome, branch])
    assert.equal(plan.writes.ledger.length > 0, mode !== 'Off')
  })
}

test('an up-to-date proposal is left unchanged', () => {
  const plan = planOf(later(proposed()))
  assert.equal(plan.outcome, 'unchanged')
  assert.deepEqual([plan.writes.updates, plan.writes.ledger], [[], []])
})

test('a proposal whose drift changed is recreated on the same branch', () => {
  const before = proposed()
  const plan = planOf(
    later({ ...before, verdicts: [verdictOf([driftOf('spec.replicas', { live: 7 })])] }),
  )
  assert.equal(plan.outcome, 'updated')
  assert.deepEqual(
    plan.writes.updates.map(({ ref }) => ref),
    before.git.branches.map(({ ref }) => ref),
  )
})

test('a branch with a foreign commit is never written, with or without drift', () => {
  const foreign = proposed([REPLICAS], {
    foreign: true,
    foreignWhy: 'a commit that backporch did not make',
  })
  for (const unit of [
    foreign,
    { ...foreign, verdicts: [verdictOf([])] },
    { ...foreign, verdicts: [verdictOf([IMAGE])] },
  ]) {
    const plan = planOf(later(unit))
    assert.deepEqual([plan.outcome, plan.writes.updates], ['foreign', []])
  }
})

test('an existing branch without a record of backporch is never written', () => {
  const { branch } = planOf(observationOf([REPLICAS]))
  const refs = new Map([...gitOf().refs, [`refs/heads/${branch}`, parseObjectId('c'.repeat(40))]])
  const plan = planOf(observationOf([REPLICAS], { git: gitOf({ refs }) }))
  assert.deepEqual([plan.outcome, plan.writes.updates], ['foreign', []])
})

test('the proposal of healed drift is withdrawn with the reason', () => {
  const before = proposed()
  const [open] = before.git.branches
  const healed = planOf(later({ ...before, verdicts: [verdictOf([])] }))
  assert.equal(healed.outcome, 'healed')
  assert.deepEqual(healed.writes.updates, [{ ref: open?.ref, from: open?.commit, to: null }])
  assert.deepEqual(
    healed.outcomes.map(({ episode }) => episode.status.outcome),
    ['Healed'],
  )
  const moved = {
    ...before.git,
    tree: before.git.tree.map((file) => ({ ...file, id: parseObjectId('d'.repeat(40)) })),
  }
  const byGit = planOf(later({ ...before, git: moved, verdicts: [verdictOf([])] }))
  assert.deepEqual(
    byGit.outcomes.map(({ episode }) => episode.status.outcome),
    ['ResolvedByGit'],
  )
})

test('unreadable objects neither shrink nor close a proposal; uncovered ones do', () => {
  const unread = [{ state: 'unreadable' as const, why: 'no answer' }]
  const before = later(proposed([REPLICAS, IMAGE]))
  for (const items of [[], [REPLICAS]]) {
    const frozen = planOf({ ...before, verdicts: [verdictOf(items)], incomplete: unread as never })
    assert.deepEqual([frozen.outcome, frozen.writes.updates], ['frozen', []])
    const outside = planOf({
      ...before,
      verdicts: [verdictOf(items)],
      incomplete: [{ state: 'outside', why: 'of a tenant' }] as never,
    })
    assert.equal(outside.outcome, items.length === 0 ? 'healed' : 'updated')
  }
  const same = planOf({ ...before, incomplete: unread as never })
  assert.equal(same.outcome, 'unchanged')
})

test('an unreadable record, or one of another installation key, is kept', () => {
  const before = later(proposed())
  const [open] = before.git.branches
  assert.ok(open !== undefined)
  const other = {
    ...open,
    record: { ...open.record, spec: { ...open.record.spec, keyId: 'another' } },
  }
  assert.equal(planOf({ ...before, git: { ...before.git, branches: [other] } }).outcome, 'frozen')
  const unreadable = [
    {
      location: 'branch',
      episode: '1a2b3c4d',
      where: 'x',
      code: 'BP1110',
      why: 'of another version',
    } as const,
  ]
  const plan = planOf(observationOf([REPLICAS], { git: gitOf({ unreadable }) }))
  assert.deepEqual([plan.outcome, plan.writes.updates], ['frozen', []])
})

test('an observation older than the ledger writes nothing', () => {
  const before = proposed()
  const older = {
    ...before,
    now: NOW,
    cluster: { ...before.cluster, observedAt: '2026-11-21T09:00:00Z' },
  }
  const plan = planOf({ ...older, verdicts: [verdictOf([IMAGE])] })
  assert.deepEqual([plan.outcome, plan.writes.updates, plan.writes.ledger], ['none', [], []])
})

test('a unit that follows another branch fails, and is shown only for inspection', () => {
  const before = proposed()
  const report = before.git.ledger.report
  assert.ok(report !== undefined)
  const unit = { ...report.spec.unit, branch: 'release' }
  const refs = new Map([...before.git.refs, ['refs/heads/release', parseObjectId('e'.repeat(40))]])
  const moved = later({
    ...before,
    git: {
      ...before.git,
      refs,
      branches: [],
      ledger: { ...before.git.ledger, report: { ...report, spec: { ...report.spec, unit } } },
    },
  })
  const [failed] = results([moved])
  const [shown] = results([moved], { purpose: { observations: true } })
  assert.match(
    shown?.state === 'planned' ? shown.notes.map(({ text }) => text).join() : '',
    /^apps\/web in prod follows release: differences to [a-z]+ are not recorded/,
  )
  const [own] = results([before])
  assert.deepEqual(own?.state === 'planned' && own.notes, [])
  assert.deepEqual(failed?.state === 'failed' && failed.failures.map(({ code }) => code), [
    'BP2012',
  ])
  assert.equal(planOf(moved, { purpose: { observations: true } }).outcome, 'none')
})

test('a unit that cannot be planned becomes Unknown and blocks no other', () => {
  const broken = later(proposed())
  const bad = {
    ...broken,
    git: { ...broken.git, branches: [{ ...broken.git.branches[0], record: undefined } as never] },
  }
  const { units, actions } = planTurn(turnOf([bad, inPackage(observationOf([REPLICAS]), 'db')]))
  assert.deepEqual(
    units.map(({ state }) => state),
    ['failed', 'planned'],
  )
  const push = actions.find((action) => action.kind === 'push')
  const report = push?.clusters
    .flatMap(({ ledger }) => ledger)
    .find(({ path }) => path === 'clusters/prod/apps--web/report.yaml')
  assert.match(report?.text ?? '', /state: Unknown/)
})

test('a plan without an answer returns the question, and continues with the answer', () => {
  const unit = proposed()
  const found = turnOf([later(unit)])
  const [observed] = found.cluster.units
  assert.ok(observed !== undefined)
  const content = (isContent: boolean | undefined, failure?: Failure) => {
    const step: StepAnswers = {
      functions: unit.functions,
      builds: NO_BUILDS,
      exhausted: false,
      failure,
      isContent,
    }
    return planTurn({ ...found, answers: new Map([[observed, { step: () => step }]]) })
  }
  const asked = attempt(() => content(undefined))
  assert.equal('question' in asked && asked.question.kind, 'content')
  const outcome = (isContent: boolean) =>
    content(isContent).units.map((one) => one.state === 'planned' && one.plan.outcome)
  assert.deepEqual([outcome(true), outcome(false)], [['unchanged'], ['updated']])
  const failure = new Failure({
    code: 'BP4001',
    what: 'no answer',
    why: 'timeout',
    remedy: 'wait',
    retry: 'backoff',
  })
  assert.equal(content(undefined, failure).units[0]?.state, 'failed')
})

test('a merged decision is brought to the cluster only by a turn that settles', () => {
  const policy = { ...observationOf().policy, settle: 'backporch' as const }
  const first = planOf(observationOf([REPLICAS], { policy }))
  const { record } = first
  assert.ok(record !== undefined)
  const closed = {
    ...{
      apiVersion: record.apiVersion,
      kind: 'ClosedEpisode' as const,
      metadata: { name: record.spec.episode },
    },
    spec: record.spec,
    status: { outcome: 'Merged' as const, at: NOW, decidedBy: 'Ada', revision: 'v1' },
  }
  const tag = parseObjectId('f'.repeat(40))
  const refs = new Map([...gitOf().refs, ['refs/tags/apps/web/v1', tag]])
  const unit = observationOf([REPLICAS], {
    policy,
    git: gitOf({
      refs,
      merged: [record],
      ledger: { head: null, report: undefined, closed: [closed as never], texts: new Map() },
    }),
  })
  const settles = (settles: boolean, one = unit) =>
    planTurn(turnOf([one], { git: { refs }, purpose: { settles } })).actions.flatMap((action) =>
      action.kind === 'settle' ? action.pending : [],
    )
  assert.deepEqual(settles(false), [])
  assert.deepEqual(
    settles(true).map(({ cluster, packagePath, commit }) => [cluster, packagePath, commit]),
    [['prod', 'apps/web', tag]],
  )
  assert.deepEqual(settles(true, { ...unit, verdicts: [verdictOf([])] }), [], 'live agrees')
  const altered = { ...closed, status: { ...closed.status, altered: 'somebody edited it' } }
  const ledger = { ...unit.git.ledger, closed: [altered as never] }
  assert.deepEqual(
    settles(true, { ...unit, git: { ...unit.git, ledger } }),
    [],
    'nobody reviewed what landed',
  )
})
