import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import {
  assertMutes,
  assertNotAbout,
  assertShows,
  type Edit,
  judged,
} from '../../../test/fakes/noise-samples.ts'
import type { Surroundings } from './noise-rule.ts'
import { readScaler, type Scaler, type ScalerTool } from './scaler.ts'

const WEB = 'apps/v1 Deployment shop/web'
const scale = (live: Json, by = 'kube-controller-manager Update scale', of = WEB): Edit => ({
  of,
  at: 'spec.replicas',
  git: 3,
  live,
  by,
})

function scaler(
  apiVersion: string,
  kind: string,
  spec: JsonObject,
  annotations: JsonObject = {},
  namespace = 'shop',
): Scaler {
  const read = readScaler({
    apiVersion,
    kind,
    metadata: { name: 'web', namespace, annotations },
    spec,
  })
  assert.ok(read !== undefined)
  return read
}
const SCALER = {
  group: 'autoscaling',
  kind: 'HorizontalPodAutoscaler',
  namespace: 'shop',
  name: 'web',
}
const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
const hpa = (spec: JsonObject, namespace = 'shop'): Scaler =>
  scaler(
    'autoscaling/v2',
    'HorizontalPodAutoscaler',
    { scaleTargetRef: target, ...spec },
    {},
    namespace,
  )
const keda = (spec: JsonObject, annotations: JsonObject = {}): Scaler =>
  scaler(
    'keda.sh/v1alpha1',
    'ScaledObject',
    { scaleTargetRef: { name: 'web' }, ...spec },
    annotations,
  )

function under(...all: readonly Scaler[]): Partial<Surroundings> {
  return { scalers: { all, unread: new Map() } }
}

test('replicas inside the bounds belong to the autoscaler that targets the object, whoever scaled', () => {
  const scalers = under(hpa({ minReplicas: 2, maxReplicas: 10 }))
  assertMutes(
    'hpa',
    scale(2),
    scalers,
    /^HorizontalPodAutoscaler shop\/web scales it between 2 and 10$/,
  )
  assertMutes('hpa', scale(10), scalers)
  assertMutes('hpa', scale(5, 'kubectl-scale Update scale'), scalers)
  assertMutes('hpa', { ...scale(5), git: undefined, change: 'added' }, scalers)
})

test('replicas outside the bounds are drift, with a note about the bound', () => {
  const scalers = under(hpa({ minReplicas: 2, maxReplicas: 10 }))
  assert.deepEqual(judged('hpa', scale(11), scalers), {
    mutes: false,
    because: '11 replicas are above the maximum of 10 of HorizontalPodAutoscaler shop/web',
    note: true,
    scaler: SCALER,
  })
  assertShows('hpa', scale(1), scalers, /^1 replica is below the minimum of 2 of /)
  // Without a minimum it is one: an autoscaler that is switched off by hand shows.
  assertShows(
    'hpa',
    scale(0),
    under(hpa({ maxReplicas: 3 })),
    /^0 replicas are below the minimum of 1/,
  )
})

test('attributes a declared field to its autoscaler inside and outside the bounds, but not at zero', () => {
  const scalers = under(hpa({ minReplicas: 2, maxReplicas: 10 }))
  const ownerOf = (edit: Edit, more = scalers, rule = 'hpa') => judged(rule, edit, more).scaler
  for (const live of [1, 5, 11]) assert.deepEqual(ownerOf(scale(live)), SCALER)
  assert.equal(ownerOf(scale(0)), undefined)
  assert.equal(ownerOf({ ...scale(11), git: undefined, change: 'added' }), undefined)
  assert.equal(ownerOf(scale(5), under()), undefined)
  const cpu = resources('requests.cpu', '250m', 'kubectl-edit')
  assert.equal(ownerOf(cpu, vpa({}), 'vpa')?.kind, 'VerticalPodAutoscaler')
  assert.equal(ownerOf(cpu, vpa({ updatePolicy: { updateMode: 'Off' } }), 'vpa'), undefined)
})

test('with two autoscalers on one object, both must allow the count', () => {
  const both = under(
    hpa({ minReplicas: 2, maxReplicas: 10 }),
    hpa({ minReplicas: 2, maxReplicas: 4 }),
  )
  assertMutes('hpa', scale(4), both)
  assertShows('hpa', scale(5), both, /above the maximum of 4/)
})

test('an autoscaler of another object, kind, group or namespace mutes nothing', () => {
  const wide = { minReplicas: 1, maxReplicas: 10 }
  assertShows('hpa', scale(5), under(), /^no HorizontalPodAutoscaler targets it$/)
  assertShows('hpa', scale(5), under(hpa(wide, 'other')), /no Horiz/)
  for (const other of [
    { ...target, name: 'api' },
    { ...target, kind: 'StatefulSet' },
    { ...target, apiVersion: 'example.com/v1' },
  ])
    assertShows('hpa', scale(5), under(hpa({ ...wide, scaleTargetRef: other })), /no Horiz/)
})

test('an unreadable autoscaler mutes nothing, and a note says so', () => {
  const unread = {
    scalers: {
      all: [],
      unread: new Map<ScalerTool, string>([
        ['hpa', 'it is forbidden'],
        ['keda', 'it is forbidden'],
      ]),
    },
  }
  assertShows(
    'hpa',
    scale(5),
    unread,
    /^cannot tell whether a HorizontalPodAutoscaler targets it: it is forbidden$/,
  )
  assertShows('keda', scale(5), unread, /^cannot tell whether an? \w+ targets it: it is forbidden$/)
})

test('an autoscaler mutes no other field of its target, nor its own fields', () => {
  const scalers = under(hpa({ minReplicas: 1, maxReplicas: 10 }))
  assertNotAbout('hpa', { ...scale(5), at: 'spec.paused' }, scalers)
  assertNotAbout(
    'hpa',
    {
      of: 'autoscaling/v2 HorizontalPodAutoscaler shop/web',
      at: 'spec.maxReplicas',
      git: 10,
      live: 20,
      by: 'kubectl-edit',
    },
    scalers,
  )
  assertNotAbout('hpa', { ...scale(5), live: 'many' }, scalers)
  assertNotAbout('hpa', { ...scale(5), change: 'removed' }, scalers)
})

test('KEDA: uses its own bounds, idle and paused counts, and defaults to a Deployment', () => {
  assertMutes(
    'keda',
    scale(0),
    under(keda({})),
    /^ScaledObject shop\/web scales it between 0 and 100$/,
  )
  assertShows('keda', scale(101), under(keda({})), /above the maximum of 100/)
  const some = under(keda({ minReplicaCount: 2, maxReplicaCount: 5, idleReplicaCount: 0 }))
  assertMutes('keda', scale(0), some)
  assertShows('keda', scale(1), some, /below the minimum of 2/)
  assertMutes(
    'keda',
    scale(7),
    under(
      keda(
        { minReplicaCount: 2, maxReplicaCount: 5 },
        { 'autoscaling.keda.sh/paused-replicas': '7' },
      ),
    ),
  )
  assertShows('keda', scale(5), under(hpa({ maxReplicas: 9 })), /^no ScaledObject targets it$/)
})

const resources = (part: string, live: Json, by = 'vpa-updater', container = 'app'): Edit => ({
  of: WEB,
  at: `spec.template.spec.containers[name=${container}].resources.${part}`,
  git: '100m',
  live,
  by,
})
const vpa = (spec: JsonObject): Partial<Surroundings> =>
  under(scaler('autoscaling.k8s.io/v1', 'VerticalPodAutoscaler', { targetRef: target, ...spec }))
const only = (policy: JsonObject): Partial<Surroundings> =>
  vpa({ resourcePolicy: { containerPolicies: [{ containerName: 'app', ...policy }] } })

test('a VPA mutes its writes to controlled containers inside the allowed range', () => {
  assertMutes(
    'vpa',
    resources('requests.cpu', '250m'),
    vpa({}),
    /^VerticalPodAutoscaler shop\/web sets the cpu requests of container app$/,
  )
  assertMutes('vpa', resources('limits.memory', '1Gi'), vpa({}))
  const bounded = only({ minAllowed: { cpu: '200m' }, maxAllowed: { cpu: '1' } })
  assertMutes('vpa', resources('requests.cpu', '1000m'), bounded)
  assertShows('vpa', resources('requests.cpu', '1001m'), bounded, /no more cpu than maxAllowed/)
  assertShows('vpa', resources('requests.cpu', '0.1'), bounded, /no less cpu than minAllowed/)
  assertShows('vpa', resources('requests.cpu', 'much'), bounded, /cannot be compared/)
})

test('a VPA mutes no edit by a person, no excluded container or resource, and nothing in Off mode', () => {
  assertShows(
    'vpa',
    resources('requests.cpu', '250m', 'kubectl-edit'),
    vpa({}),
    /^kubectl-edit wrote it, and not VerticalPodAutoscaler shop\/web$/,
  )
  assertShows('vpa', resources('requests.cpu', '250m'), under(), /no VerticalPodAutoscaler/)
  assertShows(
    'vpa',
    resources('requests.cpu', '250m'),
    vpa({ updatePolicy: { updateMode: 'Off' } }),
    /only recommends/,
  )
  assertShows(
    'vpa',
    resources('requests.cpu', '250m'),
    only({ mode: 'Off' }),
    /leaves container app alone/,
  )
  assertShows(
    'vpa',
    resources('requests.memory', '1Gi'),
    only({ controlledResources: ['cpu'] }),
    /does not control memory/,
  )
  assertShows(
    'vpa',
    resources('limits.cpu', '1'),
    only({ controlledValues: 'RequestsOnly' }),
    /controls no limits/,
  )
  const star = vpa({
    resourcePolicy: {
      containerPolicies: [{ containerName: '*', mode: 'Off' }, { containerName: 'app' }],
    },
  })
  assertMutes('vpa', resources('requests.cpu', '1'), star)
  assertShows(
    'vpa',
    resources('requests.cpu', '1', 'vpa-updater', 'side'),
    star,
    /leaves container side alone/,
  )
  assertNotAbout(
    'vpa',
    { ...resources('requests.cpu', '1'), at: 'spec.template.spec.containers[name=app].image' },
    vpa({}),
  )
})
