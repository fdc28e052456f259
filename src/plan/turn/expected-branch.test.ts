/** Decides by its content alone whether a branch is Backporch's, over an observation that is written by hand. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { driftOf } from '../../../test/fakes/drift-samples.ts'
import {
  desiredOf,
  observationOf,
  proposedOf,
  verdictOf,
} from '../../../test/fakes/observation-builder.ts'
import type { Drift } from '../../drift/compare/drift.ts'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import { recordPath } from '../../record/record-paths.ts'
import { formatInertDocument } from '../../record/write-document.ts'
import type { Observation, OpenBranch } from '../observation/observation.ts'
import { planReconcile } from '../unit/plan-reconcile.ts'
import { type ExpectedCommit, resolveExpectedCommit } from './expected-branch.ts'

const REPLICAS = driftOf('spec.replicas')
const UNIT = proposedOf([REPLICAS])
const COMMIT = planReconcile(observationOf([REPLICAS])).writes.commits[0]
const RELEASE = { resolution: 'Release', changes: undefined, message: undefined } as const

interface Case {
  readonly unit?: Observation
  readonly branch?: Partial<OpenBranch>
  readonly spec?: Partial<DriftRecord['spec']>
}

/** Of the branch of the unit, with a record that somebody may have changed. `known: true` says that the ledger has another commit of it. */
function expected({ unit = UNIT, branch = {}, spec = {} }: Case = {}): ExpectedCommit | string {
  const [{ known: _known, ...open }] = unit.git.branches as [OpenBranch]
  const record = { ...open.record, spec: { ...open.record.spec, ...spec } }
  return resolveExpectedCommit(
    unit,
    { ...open, record, ...branch },
    { message: COMMIT?.message ?? '', before: unit.git.files },
  )
}

function texts(
  result: ExpectedCommit | string,
): readonly (readonly [path: string, text: string])[] {
  assert.ok(typeof result !== 'string', String(result))
  return result.changes
    .map(({ path, content }) => [path, new TextDecoder().decode(content ?? undefined)] as const)
    .toSorted()
}

const NOT_OURS = 'its content is not what backporch writes'
const WRITTEN = (COMMIT?.changes ?? [])
  .map(({ path, content }) => [path, new TextDecoder().decode(content ?? undefined)])
  .toSorted()

test('a branch that the ledger does not know must equal the commit that a turn writes', () => {
  const result = expected()
  assert.deepEqual(texts(result), WRITTEN)
  assert.ok(typeof result !== 'string' && result.messages.includes(COMMIT?.message ?? '-'))
})

test('another commit is rebuilt from the ledger, an unsigned one from the policy alone', () => {
  assert.deepEqual(texts(expected({ branch: { known: false } })), WRITTEN)
  assert.deepEqual(texts(expected({ branch: { signed: false } })), WRITTEN)
})

const REFUSED: readonly (readonly [name: string, branch: Case, why: string])[] = [
  [
    'the record of another proposal',
    { branch: { workspace: 'drift-00000000' } },
    'its record belongs to another proposal',
  ],
  [
    'the record of a draft',
    { spec: { lifecycle: 'Draft' } },
    'the state in its record differs from that of the branch',
  ],
  [
    'the record of a proposal on a draft',
    { branch: { state: 'drafts' } },
    'the state in its record differs from that of the branch',
  ],
  [
    'a second record that is unreadable',
    { branch: { others: [{ path: 'x.yaml', record: undefined }] } },
    'one of its records differs from the others',
  ],
  ...(['message', 'plannedBy'] as const).map((word): [string, Case, string] => [
    `a ${word} that nobody else knows of`,
    { branch: { known: false }, spec: { [word]: 'ada' } },
    'its record has a choice of a person that is not recorded elsewhere',
  ]),
  [
    'an excluded cluster that the ledger does not know',
    { branch: { signed: false }, spec: { excludes: ['edge-*'] } },
    'its record has a choice of a person that is not recorded elsewhere',
  ],
  [
    "another episode than the ledger's",
    { branch: { known: false, workspace: 'drift-11111111', record: otherEpisode() } },
    'the ledger has another proposal as the open one',
  ],
  [
    'a record with another fingerprint',
    { branch: { known: false }, spec: { fingerprint: 'sha256:0' } },
    NOT_OURS,
  ],
  [
    'healed drift in a commit that the ledger does not know',
    { unit: without([]), branch: { known: false } },
    NOT_OURS,
  ],
  ['a plan without a reason', { spec: { plan: 'Release' } }, NOT_OURS],
  ['a record without changes', { spec: { changes: [] } }, NOT_OURS],
  ['a package that cannot be edited', { unit: broken(), branch: { known: false } }, NOT_OURS],
]

function otherEpisode(): DriftRecord {
  const [{ record }] = UNIT.git.branches as [OpenBranch]
  return {
    ...record,
    metadata: { ...record.metadata, name: 'drift-11111111' },
    spec: { ...record.spec, episode: '11111111' },
  }
}

/** The unit, whose drift is now another. */
function without(items: readonly Drift[]): Observation {
  return { ...UNIT, verdicts: [verdictOf(items)] }
}

function broken(): Observation {
  const files = UNIT.git.files.map((file) => ({
    ...file,
    content: new TextEncoder().encode('a: ['),
  }))
  return { ...UNIT, git: { ...UNIT.git, files } }
}

for (const [name, branch, why] of REFUSED) {
  test(`rejects a foreign branch: ${name}`, () => assert.equal(expected(branch), why))
}

test('a ledger without the report or the episode confirms no branch', () => {
  const { git } = UNIT
  const blind = { ...UNIT, git: { ...git, ledger: { ...git.ledger, report: undefined } } }
  assert.equal(
    expected({ unit: blind, branch: { known: false } }),
    'the ledger has another proposal as the open one',
  )
  assert.deepEqual(
    texts(expected({ unit: blind })),
    WRITTEN,
    'it is not needed where it knows no commit',
  )
})

test('confirms an unrecorded earlier Restore whatever live is now, and no other resolution', () => {
  const now = without([driftOf('spec.replicas', { live: 9 })])
  assert.deepEqual(texts(expected({ unit: now })), WRITTEN)
  const [{ record }] = UNIT.git.branches as [OpenBranch]
  const changes = record.spec.changes.map((change) => ({
    ...change,
    resolution: 'Release' as const,
  }))
  assert.equal(expected({ unit: now, spec: { changes } }), NOT_OURS)
  assert.equal(expected({ unit: now, branch: { known: false } }), NOT_OURS)
})

test('a resolution in the ledger is rebuilt; one only in the record is not', () => {
  const verdicts = [verdictOf([REPLICAS], { desired: desiredOf({ replicas: 3 }) })]
  const released = proposedOf([], { verdicts }, { resolutionRequest: RELEASE })
  const [{ record }] = released.git.branches as [OpenBranch]
  assert.deepEqual(
    record.spec.changes.map(({ resolution }) => resolution),
    ['Release'],
  )
  const paths = (result: ExpectedCommit | string): string[] => texts(result).map(([path]) => path)
  assert.ok(paths(expected({ unit: released })).includes('apps/web/deployment.yaml'))
  assert.ok(
    paths(expected({ unit: released, branch: { known: false } })).includes(
      'apps/web/deployment.yaml',
    ),
  )
  assert.equal(expected({ unit: released, branch: { signed: false } }), NOT_OURS)
})

test('changes beyond the body limit go to a report, for a proposal and not for a draft', () => {
  const many = Array.from({ length: 201 }, (_none, at) => driftOf(`spec.f${at}`))
  const reports = (unit: Observation): string[] =>
    texts(expected({ unit }))
      .map(([path]) => path)
      .filter((path) => path.endsWith('.md'))
  assert.equal(reports(proposedOf(many)).length, 1)
  assert.equal(reports(proposedOf(many, { policy: { ...UNIT.policy, mode: 'Warn' } })).length, 0)
  assert.equal(reports(UNIT).length, 0)
})

test('a joint branch has consistent records of all its clusters', () => {
  const [{ record, ref, workspace }] = UNIT.git.branches as [OpenBranch]
  const unit = { ...record.spec.unit, cluster: 'edge' }
  const other: DriftRecord = { ...record, spec: { ...record.spec, unit } }
  const path = recordPath('edge', 'apps--web', record.spec.began, record.spec.episode)
  const joint = (one: DriftRecord, more: Case = {}): ExpectedCommit | string =>
    expected({
      ...more,
      branch: { ref, workspace, others: [{ path, record: one }], ...more.branch },
    })
  assert.deepEqual(
    texts(joint(other)).find(([own]) => own === path),
    [path, formatInertDocument(other)],
  )
  assert.equal(texts(joint(other, { branch: { known: false } })).length, WRITTEN.length + 1)
  const altered: readonly Partial<DriftRecord['spec']>[] = [
    { plan: 'Release' },
    { changes: [] },
    { message: 'mine' },
  ]
  for (const spec of altered)
    assert.equal(
      joint({ ...other, spec: { ...other.spec, ...spec } }),
      'one of its records differs from the others',
    )
  assert.equal(
    joint(other, { unit: broken(), branch: { known: false } }),
    NOT_OURS,
    'it cannot be built',
  )
})
