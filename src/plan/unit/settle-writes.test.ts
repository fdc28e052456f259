/** The writes of `settle: backporch`, over an observation that is written by hand. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApprovedWrite } from '@backporch/cluster/cluster'
import { Failure } from '@backporch/kyaml/failure'
import { formatFieldPath } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { getResourceKey, type LiveState } from '@backporch/kyaml/resource'
import { driftOf } from '../../../test/fakes/drift-samples.ts'
import {
  decidedOf,
  desiredOf,
  proposedOf,
  refusalOf,
  verdictOf,
  withStatus,
} from '../../../test/fakes/observation-builder.ts'
import type { Drift, ObjectVerdict } from '../../drift/compare/drift.ts'
import { DEFAULT_POLICY } from '../../policy/effective-policy.ts'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import type { Observation } from '../observation/observation.ts'
import { assertMayWrite, isHandOver, planSettle, settleTargets } from './plan-settle.ts'

const POLICY = { ...DEFAULT_POLICY, mode: 'Propose', settle: 'backporch' } as const
const CONTAINERS = [
  { name: 'init', image: 'busybox:1' },
  { name: 'app', image: 'nginx:1.27' },
]
const GIT = desiredOf({ replicas: 3, paused: false, containers: CONTAINERS })
const KEY = getResourceKey(GIT.id)
const METADATA = { name: 'web', namespace: 'shop', uid: 'u-1', resourceVersion: '7' }
const REPLICAS = driftOf('spec.replicas')
const PAUSED = driftOf('spec.paused', { change: 'removed', git: false, live: undefined })
const EXTRA = driftOf('spec.extra', { change: 'added', git: undefined, live: 'x' })
const IMAGE = driftOf('spec.containers[name=app].image', { git: 'nginx:1.27', live: 'evil' })
const MISSING = driftOf('', { change: 'missing', git: undefined, live: undefined })

function present(spec: JsonObject, more: JsonObject = {}): LiveState {
  const object = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { ...METADATA, ...more },
    spec,
  }
  return { state: 'present', object, metadataOnly: false }
}

const LIVE = present({
  replicas: 5,
  extra: 'x',
  containers: [CONTAINERS[0], { name: 'app', image: 'evil' }] as never,
})

const OBJECT = LIVE.state === 'present' ? LIVE.object : {}
const UNEXPECTED = driftOf('', { change: 'unexpected', git: undefined, live: OBJECT })

/** A merged Restore of these differences, which the cluster still shows. */
function merged(
  items: readonly Drift[],
  more: Partial<ObjectVerdict> = {},
): { unit: Observation; record: DriftRecord } {
  const unit = decidedOf(
    proposedOf([], {
      policy: POLICY,
      verdicts: [verdictOf(items, { desired: GIT, live: OBJECT, ...more })],
    }),
  )
  const [record] = unit.git.merged
  assert.ok(record !== undefined)
  return { unit, record }
}

function lineOf(write: ApprovedWrite): string {
  switch (write.kind) {
    case 'apply':
      return `apply ${JSON.stringify(write.resource.object)}`
    case 'remove-field':
      return `remove ${formatFieldPath(write.path)} while ${JSON.stringify(write.expected)} at ${write.resourceVersion}`
    case 'patch-fields':
      return `patch ${write.fields.map(({ path, expected, value }) => `${formatFieldPath(path)} ${JSON.stringify(expected)}>${JSON.stringify(value)}`).join(', ')} at ${write.resourceVersion}`
    case 'delete':
      return `delete ${write.target.id.name} ${write.uid} at ${write.resourceVersion}`
  }
}

function lines(
  { unit, record }: ReturnType<typeof merged>,
  live: LiveState = LIVE,
): readonly string[] {
  return planSettle(unit, record, new Map([[KEY, live]])).map(lineOf)
}

const applied = (spec: JsonObject, metadata: JsonObject = METADATA): string =>
  `apply ${JSON.stringify({ apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec })}`

const NAME = { name: 'web', namespace: 'shop' }
const ABSENT: LiveState = { state: 'absent' }
const WRITES: readonly (readonly [
  name: string,
  items: readonly Drift[],
  writes: readonly string[],
  live?: LiveState,
])[] = [
  [
    'a changed value is applied alone, only to the observed object',
    [REPLICAS],
    [applied({ replicas: 3 })],
  ],
  ['a removed field is applied', [PAUSED], [applied({ paused: false })]],
  [
    'an added field is removed while it has the reviewed value',
    [EXTRA],
    ['remove spec.extra while "x" at 7'],
  ],
  [
    'a field of a list item is applied with the item key',
    [IMAGE],
    [applied({ containers: [{ name: 'app', image: 'nginx:1.27' }] })],
  ],
  [
    'two fields of one item are applied as one item',
    [IMAGE, driftOf('spec.containers[name=app].name', { git: 'app', live: 'app' })],
    [applied({ containers: [{ name: 'app', image: 'nginx:1.27' }] })],
  ],
  [
    'values come before removals',
    [EXTRA, REPLICAS],
    [applied({ replicas: 3 }), 'remove spec.extra while "x" at 7'],
  ],
  [
    'a missing object is applied as a whole',
    [MISSING],
    [`apply ${JSON.stringify(GIT.object)}`],
    ABSENT,
  ],
  [
    'a value of a deleted object is applied without a version',
    [REPLICAS],
    [applied({ replicas: 3 }, NAME)],
    ABSENT,
  ],
  ['nothing is removed from a deleted object', [EXTRA], [], ABSENT],
  [
    'a field that git does not have adds no value',
    [driftOf('spec.none.below', { live: undefined })],
    [applied({})],
  ],
]

for (const [name, items, writes, live] of WRITES) {
  test(`settle: ${name}`, () => assert.deepEqual(lines(merged(items), live), writes))
}

test('settle: when the server rejects an apply, one patch with removals first; none if the object is absent', () => {
  const refused = merged([REPLICAS, EXTRA], { reapplyFails: 'spec.replicas is immutable' })
  assert.deepEqual(lines(refused), ['patch spec.extra "x">undefined, spec.replicas 5>3 at 7'])
  assert.deepEqual(lines(refused, ABSENT), [])
})

test('settle: an unexpected object is deleted by uid and version if the merged record has its copy', () => {
  const found = merged([UNEXPECTED], { desired: undefined })
  assert.deepEqual(
    found.record.spec.copies?.map(({ manifest }) => /replicas: 5/.test(manifest ?? '')),
    [true],
  )
  assert.deepEqual(lines(found), ['delete web u-1 at 7'])
  const { copies: _copies, ...spec } = found.record.spec
  assert.equal(
    refusalOf(() => lines({ ...found, record: { ...found.record, spec } })).code,
    'BP2015',
  )
})

test('settle: only an unverified, unaltered merge authorises a write', () => {
  const { unit, record } = merged([REPLICAS])
  const verified = withStatus(unit, { verifiedAt: '2026-11-21T10:03:00Z' })
  const altered = withStatus(unit, { altered: 'somebody edited it' })
  const declined = withStatus(unit, { outcome: 'Declined' })
  for (const other of [verified, altered, declined])
    assert.deepEqual(lines({ unit: other, record }), [])
  const another = { ...record, spec: { ...record.spec, episode: '00000000' } }
  assert.deepEqual(lines({ unit, record: another }), [])
})

test('settle: an unapproved change of an object blocks every write to it', () => {
  const { unit, record } = merged([REPLICAS])
  const now = (items: readonly Drift[]) => ({
    record,
    unit: { ...unit, verdicts: [verdictOf(items, { desired: GIT })] },
  })
  const other = refusalOf(() => lines(now([REPLICAS, EXTRA])))
  assert.deepEqual([other.code, other.why], ['BP2005', 'it changed since the review: spec.extra'])
  assert.deepEqual(lines(now([EXTRA])), [], 'nothing of it was approved')
  assert.deepEqual(
    lines(now([driftOf('spec.replicas', { live: 9 })])),
    [],
    'live changed since the review',
  )
  const [gone, whole] = [merged([REPLICAS, EXTRA]), driftOf('', { change: 'unexpected' })]
  const changed = refusalOf(() =>
    lines({
      ...gone,
      unit: { ...gone.unit, verdicts: [verdictOf([REPLICAS, whole], { desired: GIT })] },
    }),
  )
  assert.equal(changed.why, 'it changed since the review: unexpected; 1 approved changes are gone')
})

test('settle: a value that changed between comparison and read is not overwritten', () => {
  const moved = refusalOf(() => lines(merged([REPLICAS]), present({ replicas: 6 })))
  assert.deepEqual(
    [moved.code, moved.why],
    ['BP2005', 'spec.replicas changed while the write was prepared'],
  )
})

test('settle: an adopted change is not written', () => {
  const unit = decidedOf(
    proposedOf(
      [],
      { policy: POLICY, verdicts: [verdictOf([REPLICAS], { desired: GIT })] },
      {
        resolutionRequest: { resolution: 'Release', changes: undefined, message: undefined },
      },
    ),
  )
  const [record] = unit.git.merged
  assert.ok(record !== undefined)
  assert.deepEqual(lines({ unit, record }), [])
})

test('settle: a value that git has only encrypted is not written', () => {
  const secret = 'ENC[AES256_GCM,data:abc,iv:d,tag:e,type:str]'
  const whole = desiredOf({ replicas: 3, key: secret })
  const ofField = merged([driftOf('spec.key', { git: secret, live: 'plain' })], { desired: whole })
  assert.match(refusalOf(() => lines(ofField)).why, /^git encrypts spec\.key with SOPS/)
  assert.match(
    refusalOf(() => lines(merged([MISSING], { desired: whole }), ABSENT)).why,
    /^git encrypts its values with SOPS/,
  )
  assert.deepEqual(
    lines(merged([REPLICAS], { desired: whole })),
    [applied({ replicas: 3 })],
    'of another field it is',
  )
})

const BOUND = new Failure({
  code: 'BP3017',
  what: 'web is outside',
  why: 'of a tenant',
  remedy: 'ask',
})

test('settle: uncovered objects are not written, and are the reason if nothing else is left', () => {
  const { unit, record } = merged([REPLICAS])
  for (const more of [{ state: 'outside', failure: BOUND }, { notSettled: BOUND }] as const) {
    const bound = { ...unit, verdicts: unit.verdicts.map((verdict) => ({ ...verdict, ...more })) }
    assert.equal(
      refusalOf(() => lines({ unit: bound, record })),
      BOUND,
    )
    const [write] = planSettle(unit, record, new Map([[KEY, LIVE]]))
    assert.ok(write !== undefined)
    assert.equal(
      refusalOf(() => assertMayWrite(bound, write)),
      BOUND,
    )
    assertMayWrite(unit, write)
  }
  assert.deepEqual(
    lines({ unit: { ...unit, verdicts: [verdictOf([], { desired: GIT })] }, record }),
    [],
    'it went back by itself',
  )
})

test('settle: covered objects are written beside uncovered ones', () => {
  const other = { ...REPLICAS, id: { ...REPLICAS.id, name: 'api' } }
  const verdicts = [
    verdictOf([REPLICAS], { desired: GIT }),
    verdictOf([other], { desired: { ...GIT, id: other.id }, notSettled: BOUND }),
  ]
  const unit = decidedOf(proposedOf([], { policy: POLICY, verdicts }))
  const [record] = unit.git.merged
  assert.ok(record !== undefined)
  assert.equal(record.spec.changes.length, 2)
  assert.deepEqual(lines({ unit, record }), [applied({ replicas: 3 })])
})

const entry = (manager: string, operation: string, field: string) => ({
  manager,
  operation,
  apiVersion: 'apps/v1',
  time: '2026-11-21T09:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:spec': { [field]: {} } },
})

test('settle: fields that an earlier settle wrote are handed to the syncer, even when values agree', () => {
  const managedFields = [
    entry('kustomize-controller', 'Apply', 'f:paused'),
    entry('backporch.dev/1', 'Apply', 'f:replicas'),
  ]
  const { unit, record } = merged([REPLICAS])
  const healed = { ...unit, verdicts: [verdictOf([], { desired: GIT })] }
  const live = present({ replicas: 3 }, { managedFields } as never)
  const writes = planSettle(healed, record, new Map([[KEY, live]]))
  assert.deepEqual(writes.map(isHandOver), [true])
  assert.deepEqual(
    lines({ unit: { ...healed, syncer: undefined }, record }, live),
    [],
    'nobody applies the package',
  )
  assert.deepEqual(lines({ unit: healed, record }, LIVE), [], 'a settle owns nothing')
  assert.deepEqual(lines({ unit: healed, record }, ABSENT), [])
  const elsewhere = { ...record, spec: { ...record.spec, changes: [] } }
  assert.deepEqual(
    lines({ unit: healed, record: elsewhere }, live),
    [],
    'the merge restored nothing of the object',
  )
  assert.deepEqual(planSettle(unit, record, new Map([[KEY, LIVE]])).map(isHandOver), [false])
  assert.deepEqual(settleTargets(healed, record), [{ id: GIT.id, apiVersion: 'apps/v1' }])
  assert.deepEqual(settleTargets(healed, elsewhere), [])
})
