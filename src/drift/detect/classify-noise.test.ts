import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatFieldPath } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { driftBy, type Edit, SYNCER } from '../../../test/fakes/noise-samples.ts'
import type { ObjectVerdict } from '../compare/drift.ts'
import { listPresetRules } from '../noise/presets.ts'
import { NO_SCALERS, readScaler } from '../noise/scaler.ts'
import { classifyNoise, type NoiseInput } from './classify-noise.ts'

const WEB = 'apps/v1 Deployment shop/web'
const OBJECT: JsonObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop' },
}
const RESTART: Edit = {
  of: WEB,
  at: 'spec.template.metadata.annotations["kubectl.kubernetes.io/restartedAt"]',
  live: '2026-11-21T10:00:00Z',
  by: 'kubectl-rollout',
}
const REPLICAS: Edit = {
  of: WEB,
  at: 'spec.replicas',
  git: 3,
  live: 5,
  by: 'kube-controller-manager Update scale',
}
const IMAGE: Edit = {
  of: WEB,
  at: 'spec.template.spec.containers[name=app].image',
  git: 'a:1',
  live: 'a:2',
  by: 'kubectl-set',
}

function verdictOf(...edits: readonly Edit[]): ObjectVerdict {
  const items = edits.map(driftBy)
  const id = { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' }
  const desired = {
    id,
    apiVersion: 'apps/v1',
    object: OBJECT,
    location: { path: 'web.yaml', line: 1 },
  } as unknown as ObjectVerdict['desired']
  return {
    id,
    apiVersion: 'apps/v1',
    desired,
    state: 'drifted',
    proof: 'dry-run',
    items,
    setAside: [],
    live: OBJECT,
    failure: undefined,
    reapplyFails: undefined,
  }
}

function input(more: Partial<NoiseInput> = {}): NoiseInput {
  return {
    presets: listPresetRules(undefined),
    syncer: SYNCER,
    scalers: NO_SCALERS,
    liveOf: () => undefined,
    ...more,
  }
}

function autoscaled(max: number): Partial<NoiseInput> {
  const scaler = readScaler({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'web', namespace: 'shop' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      minReplicas: 2,
      maxReplicas: max,
    },
  })
  assert.ok(scaler !== undefined)
  return { scalers: { all: [scaler], unread: new Map() } }
}

test('sets a muted change aside with preset and reason, and keeps the edit beside it', () => {
  const { items, setAside, state } = classifyNoise(verdictOf(RESTART, IMAGE), input())
  assert.equal(state, 'drifted')
  assert.deepEqual(
    items.map(({ path }) => formatFieldPath(path)),
    [IMAGE.at],
  )
  assert.deepEqual(
    setAside.map(({ state: kind, why, rule }) => [kind, why, rule]),
    [
      [
        'Ignored',
        'it asks for a restart and changes nothing that runs (preset:rollout-restart)',
        'preset:rollout-restart',
      ],
    ],
  )
})

test('an object with only noise is in sync', () => {
  const { items, state } = classifyNoise(verdictOf(RESTART), input())
  assert.deepEqual([items.length, state], [0, 'in-sync'])
})

test('mutes nothing without the preset or without the object', () => {
  const verdict = verdictOf(RESTART, REPLICAS)
  assert.equal(classifyNoise(verdict, input({ presets: [] })), verdict)
  const { live: _live, ...unread } = verdict
  assert.equal(classifyNoise(unread, input()), unread)
  assert.equal(classifyNoise(verdict, input({ presets: ['istio'] })), verdict)
})

test('records each candidate rule with the reason it did not apply, in evaluation order', () => {
  const { tried } = classifyNoise(verdictOf(REPLICAS, IMAGE), input())
  assert.deepEqual(
    tried?.map(({ rule, because }) => [rule, because]),
    [
      ['preset:keda', 'no ScaledObject targets it'],
      ['preset:hpa', 'no HorizontalPodAutoscaler targets it'],
    ],
  )
  // Of what another rule mutes too: the first that was tried did not.
  assert.deepEqual(
    classifyNoise(verdictOf(REPLICAS), input(autoscaled(10))).tried?.map(({ rule }) => rule),
    ['preset:keda'],
  )
  assert.equal(classifyNoise(verdictOf(IMAGE), input()).tried, undefined)
})

test('notes a count outside the bounds, and leaves it open to the git history', () => {
  const verdict = verdictOf(REPLICAS, IMAGE)
  const [replicas] = verdict.items
  assert.ok(replicas !== undefined)
  const { items, mayBeBehind } = classifyNoise(
    { ...verdict, mayBeBehind: new Set([replicas]) },
    input(autoscaled(4)),
  )
  assert.equal(
    items[0]?.notes[0],
    '5 replicas are above the maximum of 4 of HorizontalPodAutoscaler shop/web',
  )
  assert.deepEqual([...(mayBeBehind ?? [])], [items[0]])
  assert.equal(items[1], verdict.items[1])
})

test('a whole object is never noise', () => {
  const missing = {
    ...verdictOf(),
    items: [{ ...driftBy(IMAGE), path: [], change: 'missing' as const }],
  }
  assert.equal(classifyNoise(missing, input()), missing)
})

test('notes which autoscaler sets the count and how to end that, also inside the bounds when unmuted', () => {
  const above = classifyNoise(verdictOf({ ...REPLICAS, live: 12 }), input(autoscaled(10)))
  assert.deepEqual(
    above.items.map(({ scaler, notes }) => [scaler?.name, notes]),
    [
      [
        'web',
        [
          '12 replicas are above the maximum of 10 of HorizontalPodAutoscaler shop/web',
          'HorizontalPodAutoscaler shop/web sets the field and git declares it, so that each undoes the other: Release ends that',
        ],
      ],
    ],
  )
  const inside = classifyNoise(verdictOf(REPLICAS), input({ ...autoscaled(10), presets: [] }))
  assert.deepEqual(
    inside.items.map(({ scaler, notes }) => [scaler?.name, notes.length]),
    [['web', 1]],
  )
  assert.equal(inside.tried, undefined)
  assert.deepEqual(classifyNoise(verdictOf(REPLICAS), input(autoscaled(10))).items, [])
})
