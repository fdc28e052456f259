import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findValueAt, formatFieldPath } from '@backporch/kyaml/field'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import {
  APP,
  APPLIED,
  aside,
  DEPLOYMENT,
  desiredOf,
  lines,
  SYNCER,
  verdictOf,
} from '../../../test/fakes/deployment-verdicts.ts'
import {
  appliedBy,
  editedBy,
  path,
  predictedApply,
  removedFrom,
  reversedEntries,
  TEST_SCHEMA,
  withMetadata,
} from '../../../test/fakes/live-object.ts'
import { randomScalar } from '../../../test/property/random-krm.ts'
import * as fc from '../../../test/seeds/fast-check.ts'
import type { ObjectVerdict } from '../compare/drift.ts'
import { detectDrift, needsPrediction } from './detect-drift.ts'
import { createUnexpectedVerdict } from './make-drift.ts'

function open({ mayBeBehind = new Set() }: ObjectVerdict): string[] {
  return [...mayBeBehind].map(
    ({ change, path, actor }) => `${change} ${formatFieldPath(path)} by ${actor.manager}`,
  )
}

const hand = (field: string, value: Json): JsonObject =>
  editedBy('kubectl-edit', APPLIED, field, value)

const EDITS: readonly (readonly [name: string, live: JsonObject, lines: readonly string[]])[] = [
  ['a value', hand('spec.replicas', 5), ['modified spec.replicas by kubectl-edit']],
  [
    'an image in a list by key',
    hand(`${APP}.image`, 'nginx:1.28'),
    [`modified ${APP}.image by kubectl-edit`],
  ],
  ['an atomic list', hand(`${APP}.args`, ['b']), [`modified ${APP}.args by kubectl-edit`]],
  [
    'an added label',
    hand('metadata.labels.team', 'shop'),
    ['added metadata.labels.team by kubectl-edit'],
  ],
  [
    'an added variable',
    hand(`${APP}.env[name=DEBUG]`, { name: 'DEBUG', value: '1' }),
    [`added ${APP}.env[name=DEBUG] by kubectl-edit`],
  ],
  [
    'a removed label',
    removedFrom(APPLIED, 'metadata.labels.app'),
    ['removed metadata.labels.app by unknown'],
  ],
  [
    'a removed variable',
    removedFrom(APPLIED, `${APP}.env[name=COLOR]`),
    [`removed ${APP}.env[name=COLOR] by unknown`],
  ],
  [
    'a value that becomes null',
    hand('spec.replicas', null),
    ['modified spec.replicas by kubectl-edit'],
  ],
  [
    'a value of another type',
    hand('spec.replicas', '3'),
    ['modified spec.replicas by kubectl-edit'],
  ],
  [
    'two edits by two people',
    editedBy('kubectl-scale', hand('metadata.labels.team', 'x'), 'spec.replicas', 7),
    ['added metadata.labels.team by kubectl-edit', 'modified spec.replicas by kubectl-scale'],
  ],
]

for (const [name, live, wanted] of EDITS) {
  test(`drift: ${name}`, () => {
    const verdict = verdictOf(DEPLOYMENT, live)
    assert.deepEqual([verdict.state, lines(verdict)], ['drifted', wanted])
    assert.deepEqual(lines(verdictOf(DEPLOYMENT, reversedEntries(live))), wanted)
  })
  test(`without a dry run, reports the drift that ownership shows: ${name}`, () => {
    for (const means of ['refused', 'unproven'] as const) {
      const verdict = verdictOf(DEPLOYMENT, live, means)
      assert.ok(
        lines(verdict).every((line) => wanted.includes(line)),
        lines(verdict).join(),
      )
      assert.notEqual(verdict.state, 'in-sync')
      assert.equal(
        verdict.reapplyFails !== undefined,
        means === 'refused' && verdict.proof === 'none',
      )
    }
  })
}

test('proves an applied, untouched object in sync without a request', () => {
  const verdict = verdictOf(DEPLOYMENT, APPLIED)
  assert.deepEqual(
    [verdict.state, verdict.proof, lines(verdict), aside(verdict)],
    ['in-sync', 'ownership', [], []],
  )
})

test('any object compared with itself has no drift', () => {
  const data = fc.dictionary(fc.stringMatching(/^[a-z._-]{1,8}$/), randomScalar, {
    maxKeys: 6,
    noNullPrototype: true,
  })
  fc.assert(
    fc.property(data, fc.boolean(), (spec, dryRun) => {
      const manifest: JsonObject = {
        apiVersion: 'v1',
        kind: 'Thing',
        metadata: { name: 'a' },
        spec,
      }
      const live = appliedBy(SYNCER.manager, manifest)
      const observed = {
        desired: desiredOf(manifest),
        live: { state: 'present', object: live, metadataOnly: false } as const,
        schema: TEST_SCHEMA,
      }
      const prediction = dryRun ? ({ state: 'predicted', object: live } as const) : undefined
      assert.equal(needsPrediction(observed, SYNCER), false)
      const verdict = detectDrift({ ...observed, prediction }, SYNCER)
      assert.deepEqual([verdict.state, lines(verdict), aside(verdict)], ['in-sync', [], []])
    }),
  )
})

test('finds every manual edit, for any field and value', () => {
  const field = fc.constantFrom(
    'spec.replicas',
    `${APP}.image`,
    `${APP}.args`,
    'metadata.labels.app',
    'metadata.labels.new',
    'spec.paused',
  )
  fc.assert(
    fc.property(field, randomScalar, (location, value) => {
      fc.pre(findValueAt(DEPLOYMENT, path(location)) !== value)
      const verdict = verdictOf(DEPLOYMENT, hand(location, value))
      assert.deepEqual(
        lines(verdict).map((line) => line.split(' ')[1]),
        [location],
      )
    }),
  )
})

test('a status write is not drift', () => {
  const status = editedBy('kube-controller-manager', APPLIED, 'status.replicas', 3)
  assert.deepEqual(lines(verdictOf(DEPLOYMENT, status)), [])
})

test('leaves a difference written only by the syncer open, since git may have changed', () => {
  const next = { ...DEPLOYMENT, spec: { ...(DEPLOYMENT['spec'] as JsonObject), replicas: 4 } }
  assert.deepEqual(open(verdictOf(next, APPLIED)), [
    'modified spec.replicas by kustomize-controller',
  ])
  const fewer = { ...DEPLOYMENT, metadata: { name: 'web', namespace: 'shop' } }
  assert.deepEqual(open(verdictOf(fewer, APPLIED)), [
    'added metadata.labels.app by kustomize-controller',
  ])
})

test("a person's write is never open, even when git changed", () => {
  const next = { ...DEPLOYMENT, spec: { ...(DEPLOYMENT['spec'] as JsonObject), replicas: 4 } }
  const verdict = verdictOf(next, editedBy('kubectl-edit', APPLIED, 'spec.replicas', 9))
  assert.deepEqual(
    [lines(verdict), open(verdict)],
    [['modified spec.replicas by kubectl-edit'], []],
  )
})

test('an unexpected object names its creator', () => {
  const verdict = createUnexpectedVerdict(
    { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' },
    APPLIED,
    'ResourceGroup shop/inv',
  )
  assert.deepEqual(lines(verdict), ['unexpected  by kustomize-controller'])
})

test('a differing live value without an owner is drift by an unknown writer, not a change in git', () => {
  const live = withMetadata(
    { ...APPLIED, spec: { ...(APPLIED['spec'] as JsonObject), replicas: 9 } },
    { managedFields: [] },
  )
  const observed = {
    desired: desiredOf(DEPLOYMENT),
    live: { state: 'present', object: live, metadataOnly: false } as const,
    schema: TEST_SCHEMA,
  }
  const verdict = detectDrift(
    {
      ...observed,
      prediction: { state: 'predicted', object: predictedApply(live, DEPLOYMENT, SYNCER.manager) },
    },
    SYNCER,
  )
  assert.deepEqual([lines(verdict), aside(verdict)], [['modified spec.replicas by unknown'], []])
})
