import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { changeOf } from '../../../../test/fakes/record-samples.ts'
import { isSelector, selectChanges } from './select-changes.ts'

const OTHER = { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'web' }
const SERVICE = { group: '', kind: 'Service', namespace: 'shop', name: 'web' }
const CHANGES = [
  changeOf({ fingerprint: 'a', path: 'spec.replicas' }),
  changeOf({ fingerprint: 'b', path: 'metadata.annotations["example.com/owner"]' }),
  changeOf({ fingerprint: 'c', ref: OTHER, path: 'data.color' }),
  changeOf({ fingerprint: 'd', ref: { ...OTHER, namespace: 'other' }, path: 'data.color' }),
]

const ROWS: readonly (readonly [
  selectors: readonly string[],
  found: readonly string[] | undefined,
])[] = [
  [[], undefined],
  [['all'], undefined],
  [['1'], ['a']],
  [['1,3'], ['a', 'c']],
  [
    ['3', '1'],
    ['a', 'c'],
  ],
  [['1:metadata.annotations["example.com/owner"]'], ['b']],
  [['2:spec.replicas'], ['a']],
  [['deployment/web'], ['a', 'b']],
  [
    ['Deployment/web', '4'],
    ['a', 'b', 'd'],
  ],
  [['configmap/web'], ['c', 'd']],
  [['2-4'], ['b', 'c', 'd']],
  [['3-3'], ['c']],
  [['1,3-4'], ['a', 'c', 'd']],
  [['1,'], ['a']],
  [['deploy/web'], ['a', 'b']],
  [['deployments/web'], ['a', 'b']],
  [['deployment.apps/web'], ['a', 'b']],
  [['deployments.v1.apps/web'], ['a', 'b']],
  [['CM/web'], ['c', 'd']],
  [['deployment/web:spec.replicas'], ['a']],
  [['deploy.apps/web:metadata.annotations["example.com/owner"]'], ['b']],
]

for (const [selectors, found] of ROWS) {
  test(`${selectors.join(' ') || 'no selector'} selects ${found?.join(', ') ?? 'everything'}`, () => {
    assert.deepEqual(
      found,
      selectChanges(selectors, CHANGES) && [...(selectChanges(selectors, CHANGES) ?? [])].sort(),
    )
  })
}

for (const selector of [
  '0',
  '5',
  '1,9',
  '1:spec.paused',
  '1:spec..x',
  'deployment/api',
  'deployment',
  'data.color',
  '0-1',
  '3-2',
  '2-5',
  '1-99999999999',
  'deployment/web/x',
  'deployment.batch/web',
  'deployment/web:spec.x',
  ',',
  'constructor/web',
  '/',
  'deployment/',
]) {
  test(`rejects the selector ${selector}, which matches nothing`, () => {
    assert.throws(
      () => selectChanges([selector], CHANGES),
      (thrown) => thrown instanceof Failure && thrown.code === 'BP1011',
    )
  })
}

test('numbers and all are selectors; package paths are not', () => {
  assert.deepEqual(
    [
      '1',
      '1,3',
      '1-3',
      '1,',
      '2:spec.replicas',
      'all',
      'apps/web',
      'web',
      '.',
      'deployment/web',
    ].map(isSelector),
    [true, true, true, true, true, true, false, false, false, false],
  )
})

function refusal(selector: string, changes = CHANGES, open?: number): Failure {
  try {
    selectChanges([selector], changes, open)
  } catch (thrown) {
    assert.ok(thrown instanceof Failure, String(thrown))
    return thrown
  }
  assert.fail('not refused')
}

test('an unmatched selector is rejected with the list of changes and the selector forms', () => {
  const { why, remedy } = refusal('deployment/api')
  assert.match(
    why,
    /^open: 1 Deployment shop\/web spec\.replicas, 2 .*, 4 ConfigMap other\/web data\.color$/,
  )
  assert.match(remedy, /2-4.*2:spec\.replicas.*deploy\/web/)
  const many = Array.from({ length: 14 }, (_, index) =>
    changeOf({ fingerprint: `${index}`, path: `spec.x${index}` }),
  )
  assert.match(
    refusal('15', many).why,
    / 10 Deployment shop\/web spec\.x9 and 4 more, as in backporch diff$/,
  )
  assert.equal(refusal('1', []).why, 'nothing is open')
})

const NEAREST: readonly (readonly [selector: string, near: readonly string[]])[] = [
  ['deployment/wb', ['deployment/web']],
  ['deploy/wb', ['deploy/web']],
  ['deploymet/web', ['deployment/web']],
  ['deployment/web:spec.replica', ['deployment/web:spec.replicas']],
  ['1:spec.replica', ['1:spec.replicas']],
  ['2:spec.replica', ['2:spec.replicas']],
  ['3:data.colour', ['3:data.color']],
  ['3:spec.replica', []],
  ['9:spec.replicas', []],
  ['deployment', ['deployment/web']],
  ['cm', ['cm/web']],
  ['spec.replica', ['deployment/web:spec.replicas']],
  ['deployment/api', []],
  ['9', []],
  ['constructor', []],
]

for (const [selector, near] of NEAREST) {
  test(`suggests ${near.join(' or ') || 'nothing'} for ${selector}`, () => {
    const { why, remedy } = refusal(selector)
    assert.deepEqual(/^did you mean (.*?)\? open: /.exec(why)?.[1]?.split(' or ') ?? [], near)
    assert.equal(
      /^write (.*), or use numbers /.exec(remedy)?.[1],
      near.length === 0 ? undefined : near.join(' or '),
    )
    if (near.length > 0) assert.notEqual(selectChanges(near, CHANGES)?.size ?? 0, 0)
  })
}

test('suggests at most three selectors', () => {
  const changes = ['weba', 'webb', 'webc', 'webd'].map((name) =>
    changeOf({ fingerprint: name, ref: { ...SERVICE, name } }),
  )
  assert.match(
    refusal('service/web', changes).why,
    /^did you mean service\/weba or service\/webb or service\/webc\? open/,
  )
})

test('differences that are no drift are listed apart from open changes', () => {
  const { what, why } = refusal('9', CHANGES, 1)
  assert.equal(what, 'the selector "9" names no difference')
  assert.equal(
    why,
    'open: 1 Deployment shop/web spec.replicas; 3 that are not drift: 2-4 (diff --show-ignored)',
  )
  assert.equal(
    refusal('9', CHANGES, 0).why,
    'nothing is open; 4 that are not drift: 1-4 (diff --show-ignored)',
  )
})

test('an ambiguous kind is rejected, and its API group disambiguates', () => {
  const changes = [
    changeOf({ fingerprint: 'a', ref: SERVICE }),
    changeOf({ fingerprint: 'b', ref: { ...SERVICE, group: 'serving.knative.dev' } }),
  ]
  assert.match(
    refusal('svc/web', changes).why,
    /^there are service\.v1\. and service\.serving\.knative\.dev$/,
  )
  assert.deepEqual(selectChanges(['services.serving.knative.dev/web'], changes), new Set(['b']))
  assert.deepEqual(selectChanges(['service.v1./web'], changes), new Set(['a']))
})

test('selects an object whose name contains colons', () => {
  const ref = {
    group: 'rbac.authorization.k8s.io',
    kind: 'ClusterRole',
    namespace: '',
    name: 'system:node',
  }
  const changes = [
    changeOf({ fingerprint: 'a', ref, path: 'rules' }),
    changeOf({ fingerprint: 'b', ref, path: 'metadata.labels.a' }),
  ]
  assert.deepEqual(selectChanges(['clusterroles/system:node'], changes), new Set(['a', 'b']))
  assert.deepEqual(selectChanges(['clusterrole/system:node:rules'], changes), new Set(['a']))
})

const KINDS: readonly (readonly [text: string, kind: string, group: string])[] = [
  ['ing', 'Ingress', 'networking.k8s.io'],
  ['ingresses', 'Ingress', 'networking.k8s.io'],
  ['netpol', 'NetworkPolicy', 'networking.k8s.io'],
  ['networkpolicies.networking.k8s.io', 'NetworkPolicy', 'networking.k8s.io'],
  ['storageclasses', 'StorageClass', 'storage.k8s.io'],
  ['endpoints', 'Endpoints', ''],
  ['certificates.cert-manager.io', 'Certificate', 'cert-manager.io'],
  ['certificates.v1alpha2.cert-manager.io', 'Certificate', 'cert-manager.io'],
]

for (const [text, kind, group] of KINDS) {
  test(`${text} names ${kind}`, () => {
    const changes = [
      changeOf({ fingerprint: 'a', ref: { group, kind, namespace: 'shop', name: 'web' } }),
    ]
    assert.deepEqual(selectChanges([`${text}/web`], changes), new Set(['a']))
  })
}
