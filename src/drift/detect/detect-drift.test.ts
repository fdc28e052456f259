import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { Failure } from '@backporch/kyaml/failure'
import { type FieldManager, formatFieldPath, valueAt } from '@backporch/kyaml/field'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import { type LiveState, type Prediction, readResource } from '@backporch/kyaml/resource'
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
import { unexpectedObject } from './make-drift.ts'
import { beingDeleted } from './verdict-failures.ts'

const SYNCER: FieldManager = {
  manager: 'kustomize-controller',
  operation: 'Apply',
  subresource: '',
}
const FORBIDDEN = new Failure({
  code: 'BP3003',
  what: 'cannot get',
  why: 'forbidden',
  remedy: 'grant get',
})
const REFUSED = new Failure({
  code: 'BP3011',
  what: 'cannot patch',
  why: 'duplicate port name',
  remedy: 'correct it',
})

const DEPLOYMENT: JsonObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop', labels: { app: 'web' } },
  spec: {
    replicas: 3,
    template: {
      spec: {
        containers: [
          {
            name: 'app',
            image: 'nginx:1.27',
            args: ['a'],
            env: [{ name: 'COLOR', value: 'blue' }],
          },
        ],
      },
    },
  },
}
const SECRET: JsonObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'db', namespace: 'shop' },
  data: { user: 'YQ==' },
}
const APP = 'spec.template.spec.containers[name=app]'

function desiredOf(object: JsonObject): DesiredResource {
  const read = readResource(object)
  assert.ok('id' in read)
  return { ...read, location: { path: 'apps/web/a.yaml', document: 0, item: undefined, line: 1 } }
}

type Means = 'dry run' | 'refused' | 'unproven'

function verdictOf(
  manifest: JsonObject,
  live: JsonObject,
  means: Means = 'dry run',
  metadataOnly = false,
): ObjectVerdict {
  const observed = {
    desired: desiredOf(manifest),
    live: { state: 'present', object: live, metadataOnly } as const,
    schema: TEST_SCHEMA,
  }
  const prediction: Prediction | undefined = !needsPrediction(observed, SYNCER)
    ? undefined
    : means === 'dry run'
      ? { state: 'predicted', object: predictedApply(live, manifest, SYNCER.manager) }
      : { state: means, failure: REFUSED }
  return detectDrift({ ...observed, prediction }, SYNCER)
}

function lines({ items }: ObjectVerdict): string[] {
  return items
    .map(
      ({ change, path: location, actor }) =>
        `${change} ${formatFieldPath(location)} by ${actor.manager}`,
    )
    .sort()
}

function open({ mayBeBehind = new Set() }: ObjectVerdict): string[] {
  return [...mayBeBehind].map(
    ({ change, path, actor }) => `${change} ${formatFieldPath(path)} by ${actor.manager}`,
  )
}

function aside({ setAside }: ObjectVerdict): string[] {
  return setAside.map(({ state, drift }) => `${state} ${formatFieldPath(drift.path)}`)
}

const APPLIED = appliedBy(SYNCER.manager, DEPLOYMENT)
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
  test(`the same without a dry run, as far as ownership shows it: ${name}`, () => {
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

test('what was applied and not touched is in sync, and proven without a request', () => {
  const verdict = verdictOf(DEPLOYMENT, APPLIED)
  assert.deepEqual(
    [verdict.state, verdict.proof, lines(verdict), aside(verdict)],
    ['in-sync', 'ownership', [], []],
  )
})

test('drift of what is desired against itself is empty, whatever is in it', () => {
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

test('every edit by hand is found, whichever field and value', () => {
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
      fc.pre(valueAt(DEPLOYMENT, path(location)) !== value)
      const verdict = verdictOf(DEPLOYMENT, hand(location, value))
      assert.deepEqual(
        lines(verdict).map((line) => line.split(' ')[1]),
        [location],
      )
    }),
  )
})

test('a write to the status is no drift', () => {
  const status = editedBy('kube-controller-manager', APPLIED, 'status.replicas', 3)
  assert.deepEqual(lines(verdictOf(DEPLOYMENT, status)), [])
})

test("what nobody but the syncer wrote is left open for the package's history to decide: git may have moved on", () => {
  const next = { ...DEPLOYMENT, spec: { ...(DEPLOYMENT['spec'] as JsonObject), replicas: 4 } }
  assert.deepEqual(open(verdictOf(next, APPLIED)), [
    'modified spec.replicas by kustomize-controller',
  ])
  const fewer = { ...DEPLOYMENT, metadata: { name: 'web', namespace: 'shop' } }
  assert.deepEqual(open(verdictOf(fewer, APPLIED)), [
    'added metadata.labels.app by kustomize-controller',
  ])
})

test('what a person wrote is not open, git moved on or not', () => {
  const next = { ...DEPLOYMENT, spec: { ...(DEPLOYMENT['spec'] as JsonObject), replicas: 4 } }
  const verdict = verdictOf(next, editedBy('kubectl-edit', APPLIED, 'spec.replicas', 9))
  assert.deepEqual(
    [lines(verdict), open(verdict)],
    [['modified spec.replicas by kubectl-edit'], []],
  )
})

const STATES: readonly (readonly [
  name: string,
  live: LiveState,
  state: string,
  changes: readonly string[],
])[] = [
  ['unreadable', { state: 'unreadable', failure: FORBIDDEN }, 'unreadable', []],
  ['absent', { state: 'absent' }, 'drifted', ['missing']],
]

for (const [name, live, state, changes] of STATES) {
  test(`an object that is ${name} is ${changes[0] ?? 'never missing'}`, () => {
    const verdict = detectDrift(
      { desired: desiredOf(DEPLOYMENT), live, schema: TEST_SCHEMA, prediction: undefined },
      SYNCER,
    )
    assert.deepEqual([verdict.state, verdict.items.map(({ change }) => change)], [state, changes])
    assert.equal(verdict.failure, name === 'unreadable' ? FORBIDDEN : undefined)
  })
}

test('unreadable never becomes missing, in sync or drifted, whatever else was answered', () => {
  const predictions = fc.constantFrom<Prediction | undefined>(
    undefined,
    { state: 'predicted', object: APPLIED },
    { state: 'refused', failure: REFUSED },
    { state: 'unproven', failure: FORBIDDEN },
  )
  fc.assert(
    fc.property(predictions, fc.boolean(), (prediction, known) => {
      const verdict = detectDrift(
        {
          desired: desiredOf(DEPLOYMENT),
          live: { state: 'unreadable', failure: FORBIDDEN },
          schema: TEST_SCHEMA,
          prediction,
        },
        known ? SYNCER : undefined,
      )
      assert.deepEqual([verdict.state, verdict.items, verdict.setAside], ['unreadable', [], []])
    }),
  )
})

test('without a dry run an untouched object that ownership does not prove is unverified, not in sync', () => {
  const normalised = { ...APPLIED, spec: { ...(APPLIED['spec'] as JsonObject), replicas: '3' } }
  const verdict = verdictOf(DEPLOYMENT, normalised, 'unproven')
  assert.deepEqual([verdict.state, lines(verdict), verdict.failure], ['unverified', [], REFUSED])
})

test('without a dry run empty annotations that were left out of the apply are no removal', () => {
  const declared = withMetadata(DEPLOYMENT, { annotations: {} })
  const { annotations: _annotations, ...metadata } = APPLIED['metadata'] as JsonObject & {
    readonly annotations?: Json
  }
  const verdict = verdictOf(declared, { ...APPLIED, metadata }, 'unproven')
  assert.deepEqual([verdict.state, lines(verdict)], ['unverified', []])
})

test('managed fields that cannot be read prove nothing of a field that git does not declare', () => {
  const broken = withMetadata(APPLIED, {
    managedFields: [...((APPLIED['metadata'] as JsonObject)['managedFields'] as Json[]), 'x'],
  })
  assert.equal(verdictOf(DEPLOYMENT, broken).state, 'in-sync')
  const verdict = verdictOf(DEPLOYMENT, {
    ...broken,
    spec: { ...(broken['spec'] as JsonObject), paused: true },
  })
  assert.deepEqual([verdict.state, verdict.items], ['unverified', []])
  assert.match(
    verdict.failure?.why ?? '',
    /does not say who wrote spec\.paused, which git does not declare/,
  )
})

test('a Secret of which only metadata may be read: who wrote a key is named, what it holds is not', () => {
  const live = editedBy('kubectl-edit', appliedBy(SYNCER.manager, SECRET), 'data.user', 'Yg==')
  const { data: _data, ...metadataOnly } = live
  const verdict = verdictOf(SECRET, metadataOnly, 'dry run', true)
  assert.deepEqual(lines(verdict), ['modified data.user by kubectl-edit'])
  assert.deepEqual(
    verdict.items.map(({ liveUnread, live: value }) => [liveUnread, value]),
    [[true, undefined]],
  )
  const { data: _same, ...untouched } = appliedBy(SYNCER.manager, SECRET)
  assert.equal(verdictOf(SECRET, untouched, 'dry run', true).state, 'unverified')
})

test('stringData is compared as the server stores it', () => {
  const { data: _data, ...rest } = SECRET
  const live = appliedBy(SYNCER.manager, SECRET)
  const verdict = detectDrift(
    {
      desired: desiredOf({ ...rest, stringData: { user: 'a' } }),
      live: { state: 'present', object: live, metadataOnly: false },
      schema: TEST_SCHEMA,
      prediction: { state: 'predicted', object: live },
    },
    SYNCER,
  )
  assert.deepEqual([verdict.state, lines(verdict)], ['in-sync', []])
})

test('an object that is being deleted is blocked before anything is compared, with what holds it and whose that is', () => {
  const applied = appliedBy('kustomize-controller', DEPLOYMENT)
  const manager = {
    manager: 'some-controller',
    operation: 'Update',
    apiVersion: 'apps/v1',
    time: '2026-11-20T08:00:00Z',
  }
  const fieldsV1 = { 'f:metadata': { 'f:finalizers': { 'v:"example.com/hold"': {} } } }
  const { managedFields } = applied['metadata'] as { managedFields: Json[] }
  const leaving = { deletionTimestamp: '2026-11-21T08:00:00Z' }
  const held = {
    ...leaving,
    finalizers: ['example.com/hold'],
    managedFields: [...managedFields, { ...manager, fieldsV1 }],
  }
  for (const live of [
    withMetadata(applied, held),
    editedBy('kubectl-edit', withMetadata(applied, held), 'spec.replicas', 5),
  ])
    for (const means of ['dry run', 'unproven'] as const) {
      const { state, items, failure } = verdictOf(DEPLOYMENT, live, means)
      assert.deepEqual([state, items], ['blocked', []])
      assert.equal(
        failure?.why,
        'somebody deleted it at 2026-11-21T08:00:00Z, and the finalizer example.com/hold of some-controller holds it; git still has it',
      )
    }
  const refused = verdictOf(
    DEPLOYMENT,
    editedBy('kubectl-edit', withMetadata(applied, leaving), 'spec.replicas', 5),
    'refused',
  )
  assert.deepEqual([refused.state, refused.failure?.code], ['blocked', 'BP3011'])
  assert.equal(
    refused.failure?.why,
    'duplicate port name; somebody deleted it at 2026-11-21T08:00:00Z; git still has it',
  )
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }
  const conditions = [
    { type: 'NamespaceContentRemaining', status: 'False', message: 'x' },
    {
      type: 'NamespaceFinalizersRemaining',
      status: 'True',
      message: 'example.com/hold in 1 resource instances',
    },
  ]
  const going = {
    ...withMetadata(appliedBy('kustomize-controller', namespace), leaving),
    status: { phase: 'Terminating', conditions },
  }
  assert.match(
    verdictOf(namespace, going).failure?.why ?? '',
    /what is left in it \(example\.com\/hold in 1 resource instances\) holds it/,
  )
})

test('a Secret that is being deleted does not name a finalizer that is no name of a controller', () => {
  const id = { group: '', kind: 'Secret', namespace: 'shop', name: 'login' }
  const held = (finalizer: string): string =>
    beingDeleted(id, {
      metadata: { deletionTimestamp: '2026-11-21T08:00:00Z', finalizers: [finalizer] },
    }).why
  assert.match(held('example.com/hunter2'), /, and a finalizer that is not shown holds it;/)
  assert.match(
    held('gardener.cloud/gardener'),
    /, and the finalizer gardener\.cloud\/gardener holds it;/,
  )
})

test('an unexpected object names who made it', () => {
  const verdict = unexpectedObject(
    { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' },
    APPLIED,
    'ResourceGroup shop/inv',
  )
  assert.deepEqual(lines(verdict), ['unexpected  by kustomize-controller'])
})

test('a live value that differs and that nobody owns is drift of an unknown writer, not a step of git', () => {
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
