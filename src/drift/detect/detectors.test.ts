/** What each detector finds by itself, with nothing found before it. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { type FieldSchema, findKindSchema, formatFieldPath } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { type Prediction, readResource } from '@backporch/kyaml/resource'
import {
  appliedBy,
  editedBy,
  path,
  predictedApply,
  removedFrom,
  TEST_SCHEMA,
  withMetadata,
} from '../../../test/fakes/live-object.ts'
import { UNKNOWN_ACTOR } from '../attribute/actor.ts'
import { detectAdded } from './added-fields.ts'
import { detectChanged } from './changed-fields.ts'
import { detectDropped } from './dropped-fields.ts'
import { makeDrift } from './make-drift.ts'
import { type Detector, ObjectComparison } from './object-comparison.ts'
import { detectHidden } from './other-version.ts'
import { detectOwnerless } from './ownerless-fields.ts'

const SYNCER = { manager: 'flux', operation: 'Apply', subresource: '' } as const
const GIT: JsonObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'web', namespace: 'shop', labels: { app: 'web', tier: 'front' } },
  data: { color: 'blue', mode: 'fast' },
}
const APPLIED = appliedBy(SYNCER.manager, GIT)
const EDITED = editedBy('kubectl-edit', APPLIED, 'data.color', 'red')
const WITH_SIZE = editedBy('kubectl-edit', APPLIED, 'data.size', '3')
const UNPROVEN: Prediction = {
  state: 'unproven',
  failure: new Failure({ code: 'BP3003', what: 'no', why: 'no right', remedy: 'grant it' }),
}

/** It knows no other keys. */
const CLOSED = findKindSchema(
  {
    components: {
      schemas: {
        ConfigMap: {
          type: 'object',
          'x-kubernetes-group-version-kind': [{ group: '', version: 'v1', kind: 'ConfigMap' }],
          properties: {
            data: {
              type: 'object',
              properties: { color: { type: 'string' }, mode: { type: 'string' } },
            },
          },
        },
      },
    },
  },
  'v1',
  'ConfigMap',
) as FieldSchema

type Tier = 'dry run' | 'unproven' | 'none'

function compare(live: JsonObject, tier: Tier, schema = TEST_SCHEMA): ObjectComparison {
  const read = readResource(GIT)
  assert.ok('id' in read)
  const desired = { ...read, location: { path: 'web.yaml', document: 0, item: undefined, line: 1 } }
  const prediction =
    tier === 'dry run'
      ? ({ state: 'predicted', object: predictedApply(live, GIT, SYNCER.manager) } as const)
      : tier === 'none'
        ? undefined
        : UNPROVEN
  const observed = {
    desired,
    live: { state: 'present', object: live, metadataOnly: false } as const,
    schema,
    prediction,
  }
  return new ObjectComparison(observed, live, false, SYNCER)
}

const noOwners = (object: JsonObject): JsonObject => withMetadata(object, { managedFields: [] })
/** A key that the syncer once applied and owns no more: nobody does. */
const LEFT = { ...APPLIED, data: { color: 'blue', mode: 'fast', size: '3' } }
const v2 = (live: JsonObject): JsonObject => {
  const { managedFields } = live['metadata'] as { managedFields: readonly JsonObject[] }
  return withMetadata(live, {
    managedFields: managedFields.map((entry) =>
      entry['manager'] === 'flux' ? entry : { ...entry, apiVersion: 'v2' },
    ),
  })
}

const ROWS: Readonly<
  Record<
    string,
    readonly (readonly [detect: Detector, live: JsonObject, tier: Tier, found: readonly string[]])[]
  >
> = {
  'changed fields': [
    [detectChanged, APPLIED, 'none', []],
    [detectChanged, EDITED, 'dry run', ['modified data.color by kubectl-edit']],
    [detectChanged, EDITED, 'unproven', ['modified data.color by kubectl-edit']],
    [detectChanged, EDITED, 'none', []],
    [
      detectChanged,
      removedFrom(APPLIED, 'metadata.labels.app'),
      'dry run',
      ['removed metadata.labels.app by unknown'],
    ],
    [
      detectChanged,
      removedFrom(APPLIED, 'metadata.labels.app'),
      'unproven',
      ['removed metadata.labels.app by unknown'],
    ],
    [detectChanged, WITH_SIZE, 'dry run', []],
  ],
  'fields without owners': [
    [detectOwnerless, EDITED, 'unproven', []],
    [detectOwnerless, noOwners(EDITED), 'unproven', ['modified data.color by unknown']],
    [
      detectOwnerless,
      noOwners(removedFrom(APPLIED, 'data.color')),
      'unproven',
      ['removed data.color by unknown'],
    ],
    [detectOwnerless, noOwners(EDITED), 'dry run', []],
  ],
  'dropped fields': [
    [detectDropped, APPLIED, 'dry run', []],
    [detectDropped, LEFT, 'dry run', ['added data.size by unknown']],
    [detectDropped, WITH_SIZE, 'dry run', []],
  ],
  'added fields': [
    [detectAdded, APPLIED, 'dry run', []],
    [detectAdded, WITH_SIZE, 'dry run', ['added data.size by kubectl-edit']],
    [detectAdded, EDITED, 'dry run', []],
  ],
  'hidden fields': [
    [detectHidden, WITH_SIZE, 'dry run', []],
    [detectHidden, v2(WITH_SIZE), 'dry run', ['added data.size by kubectl-edit']],
    [detectHidden, v2(EDITED), 'dry run', []],
  ],
}

for (const [name, rows] of Object.entries(ROWS))
  describe(name, () => {
    for (const [index, [detect, live, tier, wanted]] of rows.entries())
      test(`${index + 1}: ${wanted.join(', ') || 'nothing'} (${tier})`, () => {
        const found = detect(
          compare(live, tier, detect === detectHidden ? CLOSED : TEST_SCHEMA),
          [],
        )
        assert.deepEqual(
          found.map(
            ({ change, path: place, actor }) =>
              `${change} ${formatFieldPath(place)} by ${actor.manager}`,
          ),
          wanted,
        )
      })
  })

for (const detect of [detectOwnerless, detectDropped, detectAdded])
  test(`${detect.name} does not report a location twice`, () => {
    const known = {
      change: 'added',
      path: path('data'),
      git: undefined,
      live: undefined,
      actor: UNKNOWN_ACTOR,
      notes: [],
    } as const
    const before = makeDrift({
      id: { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'web' },
      apiVersion: 'v1',
      uid: undefined,
      ...known,
    })
    for (const live of [noOwners(EDITED), LEFT, WITH_SIZE])
      assert.deepEqual(detect(compare(live, 'unproven'), [before]), [])
  })
