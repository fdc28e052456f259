/** One proposal for one cause in many clusters, over observations that are written by hand. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseObjectId } from '@backporch/kyaml/files'
import { driftOf } from '../../../../test/fakes/drift-samples.ts'
import {
  after,
  branchOf,
  observationOf,
  pullOf,
  type TurnParts,
  turnOf,
  verdictOf,
} from '../../../../test/fakes/observation-builder.ts'
import type { Drift } from '../../../drift/compare/drift.ts'
import type { DriftRecord } from '../../../record/documents/drift-record.ts'
import { recordPath } from '../../../record/record-paths.ts'
import type { GitWrites } from '../../observation/action.ts'
import type { JointRecord, Observation, SiblingBranch } from '../../observation/observation.ts'
import type { UnitResult } from '../../unit/unit-result.ts'
import { planTurn } from '../plan-turn.ts'
import { computeCauseKey } from './joint-proposal.ts'

const REPLICAS = driftOf('spec.replicas')
const OTHER = driftOf('spec.replicas', { live: 9 })

function cluster(name: string, items: readonly Drift[] = [REPLICAS]): Observation {
  const one = observationOf(items)
  return { ...one, unit: { ...one.unit, cluster: name }, cluster: { ...one.cluster, uid: name } }
}

type Planned = UnitResult & { readonly state: 'planned' }

function planned(units: readonly Observation[], parts: TurnParts = {}): readonly Planned[] {
  const all = planTurn(turnOf(units, { ...parts, forge: { hosted: true, ...parts.forge } })).units
  return all.map((unit) => {
    if (unit.state === 'failed') throw unit.failures[0]
    return unit
  })
}

const branches = (units: readonly Planned[]): string[] => units.map(({ plan }) => plan.branch)
const writesOf = (units: readonly Planned[]): GitWrites[] => units.map(({ plan }) => plan.writes)
const updates = (units: readonly Planned[]): string[] =>
  writesOf(units).flatMap((writes) =>
    writes.updates.map(
      ({ ref, from, to }) =>
        `${from === null ? 'create' : to === null ? 'delete' : 'update'} ${ref}`,
    ),
  )

function pathOf({ unit }: Observation, record: DriftRecord): string {
  return recordPath(unit.cluster, unit.slug, record.spec.began, record.spec.episode)
}

const NAMES = ['edge-1', 'edge-2', 'edge-3']

/** The units with an open joint proposal of all of them, as the next turn observes it. */
function joint(names = NAMES): readonly Observation[] {
  const first = planned(names.map((name) => cluster(name)))
  const records = first.map(
    ({ observation, plan }): JointRecord => ({
      path: pathOf(observation, plan.record as DriftRecord),
      record: plan.record,
    }),
  )
  const ref = `refs/heads/${first[0]?.plan.branch}`
  return first.map(({ observation, plan }, index) => {
    const branch = branchOf(plan, {
      ref,
      workspace: ref.slice(ref.lastIndexOf('/') + 1),
      others: records.filter((_record, at) => at !== index),
    })
    const next = after(observation, plan)
    const refs = new Map([...observation.git.refs, [ref, branch.commit]])
    return { ...next, git: { ...next.git, refs, branches: [branch] } }
  })
}

const JOINT = joint()
const REF = JOINT[0]?.git.branches[0]?.ref ?? ''

/** The files of the one commit on the joint branch, and those that it takes away. */
function files(units: readonly Planned[]): {
  readonly written: readonly string[]
  readonly removed: readonly string[]
} {
  const changes = writesOf(units).flatMap(({ commits }) =>
    commits.flatMap((commit) => (commit.name === `joint ${REF}` ? commit.changes : [])),
  )
  const records = changes.filter(({ path }) => path.startsWith('.drift/records/'))
  const clustersOf = (all: typeof records) =>
    all.map(({ path }) => path.split('/')[2] ?? '').toSorted()
  return {
    written: clustersOf(records.filter(({ content }) => content !== null)),
    removed: clustersOf(records.filter(({ content }) => content === null)),
  }
}

test('drift with one cause becomes one commit with the record of every cluster', () => {
  const units = planned(NAMES.map((name) => cluster(name)))
  assert.deepEqual(new Set(branches(units)), new Set([REF.replace('refs/heads/', '')]))
  assert.deepEqual(updates(units), [`create ${REF}`])
  assert.deepEqual(files(units).written, NAMES)
})

test('too few clusters or different causes keep separate proposals', () => {
  assert.equal(new Set(branches(planned(NAMES.slice(1).map((name) => cluster(name))))).size, 2)
  const mixed = planned([cluster('edge-1'), cluster('edge-2'), cluster('edge-3', [OTHER])])
  assert.equal(new Set(branches(mixed)).size, 3)
  assert.notEqual(computeCauseKey(mixed[0]?.plan.record), computeCauseKey(mixed[2]?.plan.record))
  assert.equal(computeCauseKey(undefined), '')
  assert.equal(computeCauseKey(mixed[0]?.plan.record), computeCauseKey(mixed[1]?.plan.record))
})

test('an up-to-date joint proposal is left unchanged', () => {
  const units = planned(JOINT)
  assert.deepEqual(updates(units), [])
  assert.deepEqual(
    units.map(({ plan }) => plan.outcome),
    ['unchanged', 'unchanged', 'unchanged'],
  )
})

test('builds the files only of a commit that is written', () => {
  const built = (units: readonly Planned[]): number[] =>
    units.map(({ plan }) => plan.joint?.length ?? -1)
  assert.deepEqual(built(planned(JOINT)), [0, 0, 0])
  assert.ok(built(planned([...JOINT, cluster('edge-4')])).every((count) => count > 0))
})

test('a cluster with the same drift joins the open joint proposal', () => {
  const units = planned([...JOINT, cluster('edge-4')])
  assert.deepEqual(updates(units), [`update ${REF}`])
  assert.deepEqual(files(units).written, [...NAMES, 'edge-4'])
})

function healed(unit: Observation): Observation {
  return { ...unit, verdicts: [verdictOf([])] }
}

test('a healed cluster leaves the joint proposal, which continues with the others', () => {
  const [first, second, third] = JOINT as [Observation, Observation, Observation]
  const units = planned([healed(first), second, third])
  assert.deepEqual(updates(units), [`update ${REF}`])
  assert.deepEqual(files(units).written, ['edge-2', 'edge-3'])
  assert.equal(units[0]?.plan.outcome, 'healed')
})

test('clusters that this turn does not observe stay in the joint proposal unchanged', () => {
  const [first, second] = JOINT as [Observation, Observation]
  assert.deepEqual(updates(planned([first, second])), [])
  const left = planned([healed(first), healed(second)])
  assert.deepEqual(updates(left), [`update ${REF}`])
  assert.deepEqual(files(left), { written: ['edge-3'], removed: ['edge-1', 'edge-2'] })
  const moved = planned([first, second], {
    purpose: { resolutionRequest: { resolution: 'Release', selectors: [], message: 'tuned' } },
  })
  assert.deepEqual(files(moved).written, NAMES, 'the plan of one is the plan of all')
})

test('a joint proposal is deleted when every cluster healed', () => {
  assert.deepEqual(updates(planned(JOINT.map(healed))), [`delete ${REF}`])
})

test('the record of a cluster with another cause is removed from the joint branch', () => {
  const [first, second, third] = JOINT as [Observation, Observation, Observation]
  const units = planned([first, second, { ...third, verdicts: [verdictOf([OTHER])] }])
  assert.deepEqual(files(units).written, ['edge-1', 'edge-2'])
  assert.notEqual(units[2]?.plan.branch, units[0]?.plan.branch)
})

test('an excluded cluster gets its own proposal and stays excluded', () => {
  const [first, second, third] = JOINT as [Observation, Observation, Observation]
  const units = planned([first, second, { ...third, exclude: 'edge-3' }])
  assert.deepEqual(files(units).written, ['edge-1', 'edge-2'])
  assert.equal(new Set(branches(units)).size, 2)
  assert.deepEqual(units[0]?.plan.record?.spec.excludes, ['edge-3'])
})

test('an unreadable unit keeps its record on the joint branch', () => {
  const [first, second, third] = JOINT as [Observation, Observation, Observation]
  const incomplete = [{ state: 'unreadable', code: 'BP3006', why: 'no answer' }] as const
  const units = planned([first, second, { ...healed(third), incomplete }])
  assert.equal(units[2]?.plan.outcome, 'frozen')
  assert.deepEqual(updates(units), [])
})

/** A joint proposal of other clusters, as a unit observes it that has none. */
function sibling(more: Partial<SiblingBranch> = {}): SiblingBranch {
  const [first, second] = JOINT as [Observation, Observation]
  const [branch] = first.git.branches
  assert.ok(branch !== undefined)
  const { ref, workspace, commit, base } = branch
  const records = [first, second].flatMap((unit) =>
    unit.git.branches.map(({ record }) => ({ path: pathOf(unit, record), record })),
  )
  return { ref, workspace, commit, base, foreign: false, records, ...more }
}

function withSibling(
  more: Partial<SiblingBranch> = {},
  proposals: Observation['proposals'] = new Map(),
  items = [REPLICAS],
): Observation {
  const unit = cluster('edge-9', items)
  const refs = new Map([...unit.git.refs, [REF, parseObjectId('b'.repeat(40))]])
  return { ...unit, proposals, git: { ...unit.git, refs, siblings: [sibling(more)] } }
}

test('a unit joins the open proposal of clusters that the turn does not observe', () => {
  const units = planned([withSibling()])
  assert.deepEqual(updates(units), [`update ${REF}`])
  assert.deepEqual(files(units).written, ['edge-1', 'edge-2', 'edge-9'])
})

const APART: readonly (readonly [name: string, unit: Observation])[] = [
  ['its branch has a foreign commit', withSibling({ foreign: true })],
  ['it is already merged', withSibling({}, new Map([[REF, pullOf(REF, { state: 'merged' })]]))],
  ['it has another cause', withSibling({}, new Map(), [OTHER])],
  [
    'its records are unreadable',
    withSibling({ records: sibling().records.map(({ path }) => ({ path, record: undefined })) }),
  ],
  [
    'it is for another package',
    withSibling({
      records: sibling().records.map(({ path, record }) => ({ path, record: ofPackage(record) })),
    }),
  ],
  [
    'the cluster is excluded',
    withSibling({
      records: sibling().records.map(({ path, record }) => ({ path, record: without(record) })),
    }),
  ],
]

function ofPackage(record: DriftRecord | undefined): DriftRecord | undefined {
  return (
    record && {
      ...record,
      spec: { ...record.spec, unit: { ...record.spec.unit, package: 'apps/api' } },
    }
  )
}

function without(record: DriftRecord | undefined): DriftRecord | undefined {
  return record && { ...record, spec: { ...record.spec, excludes: ['edge-9'] } }
}

for (const [name, unit] of APART) {
  test(`a unit does not join the proposal of other clusters when ${name}`, () => {
    const units = planned([unit])
    assert.notEqual(branches(units)[0], REF.replace('refs/heads/', ''))
    assert.ok(!updates(units).includes(`update ${REF}`))
  })
}

test('other clusters join the proposal of a single cluster, but not a draft', () => {
  const first = cluster('edge-1')
  const alone = planned([first])[0]
  assert.ok(alone !== undefined)
  const open = after(first, alone.plan)
  const units = planned([open, cluster('edge-2'), cluster('edge-3')])
  assert.deepEqual(new Set(branches(units)), new Set([alone.plan.branch]))
  assert.equal(updates(units).length, 1)
  const draft = {
    ...open,
    git: {
      ...open.git,
      branches: open.git.branches.map((branch) => ({ ...branch, state: 'drafts' as const })),
    },
  }
  assert.doesNotThrow(() => planned([draft, cluster('edge-2'), cluster('edge-3')]))
})
