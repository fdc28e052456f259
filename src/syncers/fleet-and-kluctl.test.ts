import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '@backporch/kyaml/json'
import { drift, judged } from '../../test/fakes/applier-world.ts'
import { deploymentOf } from '../../test/fakes/syncer-marks.ts'
import { findGoneByDesignRule } from '../drift/compare/gone-by-design.ts'
import { findRetentionRule } from '../drift/compare/unexpected-on-purpose.ts'
import { listClaims } from './claims.ts'
import { getApplierKind } from './registry.ts'
import type { Claim } from './syncer.ts'

const BUNDLE = 'fleet.cattle.io/Bundle/fleet-local/web'

function claimOf(by: 'fleet' | 'kluctl'): Claim {
  const [claim, ...more] = listClaims(
    new Map([
      [
        'apps/Deployment/shop/web',
        { state: 'present', object: deploymentOf([by]), metadataOnly: false },
      ],
    ]),
  )
  assert.ok(claim)
  assert.deepEqual(more, [])
  return claim
}

function bundle(spec: JsonObject) {
  return judged({
    by: ['fleet'],
    own: { [BUNDLE]: { spec } },
    drifts: [drift('spec.replicas'), drift('spec.paused')],
  })
}

test('a bundle with correctDrift restores at once, except for what its compare patches omit', () => {
  const correctDrift = { enabled: true }
  assert.deepEqual(
    [bundle({ correctDrift }).restores, bundle({ correctDrift }).revertsUnasked],
    ['at-once', 'yes'],
  )
  const patch = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    name: 'web',
    operations: [{ op: 'remove', path: '/spec/replicas' }],
  }
  const some = bundle({ correctDrift, diff: { comparePatches: [patch] } })
  assert.equal(some.restores, 'at-once')
  assert.match(
    some.warning ?? '',
    /leaves unchanged, even after a merge: .*spec\.replicas \(ignored by spec\.diff\.comparePatches\)/,
  )
  const all = { ...patch, operations: [], jsonPointers: ['/spec'] }
  assert.equal(bundle({ correctDrift, diff: { comparePatches: [all] } }).restores, 'never')
  assert.equal(
    bundle({ correctDrift, diff: { comparePatches: [{ ...all, apiVersion: 'v1' }] } }).restores,
    'at-once',
  )
})

test('a bundle without correctDrift, or a paused one, restores nothing by itself', () => {
  assert.deepEqual([bundle({}).restores, bundle({}).revertsUnasked], ['unknown', 'no'])
  assert.equal(bundle({ paused: true, correctDrift: { enabled: true } }).restores, 'never')
})

test('the behavior of a bundle outside this cluster is known only in the management cluster', () => {
  const far = judged({ by: ['fleet'] })
  assert.deepEqual([far.restores, far.revertsUnasked], ['unknown', 'unknown'])
  assert.match(far.sentence, /which only the management cluster shows/)
})

test('a bundle reports its commit once it is ready, and reports that it is paused', () => {
  const commit = 'a'.repeat(40)
  const metadata = { labels: { 'fleet.cattle.io/commit': commit } }
  const report = (status: string, spec: JsonObject = {}) =>
    getApplierKind('fleet').report(
      { metadata, spec, status: { conditions: [{ type: 'Ready', status, reason: 'Modified' }] } },
      'bundle web',
    )
  assert.equal(report('True').applied, commit)
  assert.deepEqual(
    [report('False').applied, report('False').says],
    [undefined, 'bundle web says Ready is False: Modified'],
  )
  assert.equal(report('True', { paused: true }).suspended, 'bundle web is paused')
})

test('objects of a bundle are in the Helm release that their marks name', () => {
  const { inventory } = getApplierKind('fleet')
  assert.ok(inventory !== 'none')
  assert.deepEqual(inventory.questions(claimOf('fleet'), undefined, ['shop']), [
    { helmRelease: { namespace: 'shop', name: 'web' } },
  ])
})

test('objects of Kluctl are listed by discriminator, and kept when so marked', () => {
  const claim = claimOf('kluctl')
  assert.equal(getApplierKind('kluctl').selector(claim), 'kluctl.io/discriminator=shop-prod')
  const retained = (tool: string, annotations: JsonObject) =>
    findRetentionRule({
      live: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'old', annotations } },
      tool,
      inventoryId: undefined,
      idIsWritten: false,
    })?.rule
  assert.equal(retained('kluctl', { 'kluctl.io/skip-delete': 'true' }), 'kluctl-skip-delete')
  assert.equal(retained('kluctl', { 'kluctl.io/skip-delete': 'false' }), undefined)
  assert.equal(retained('kluctl', { 'helm.sh/resource-policy': 'keep' }), 'helm-keep')
  assert.equal(retained('helm', { 'kluctl.io/skip-delete': 'true' }), undefined)
})

test('hooks that Kluctl removes, and objects that it deletes or never applies, may be absent', () => {
  const rule = (annotations: JsonObject, tool = 'kluctl') =>
    findGoneByDesignRule(
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', annotations } },
      { tools: new Set([tool]), unknown: false },
    )?.rule
  assert.equal(rule({ 'kluctl.io/delete': 'true' }), 'kluctl-hook')
  assert.equal(rule({ 'kluctl.io/ignore': 'true' }), 'kluctl-hook')
  assert.equal(
    rule({ 'kluctl.io/hook': 'pre-deploy', 'kluctl.io/hook-delete-policy': 'hook-succeeded' }),
    'kluctl-hook',
  )
  assert.equal(
    rule({ 'helm.sh/hook': 'pre-install', 'helm.sh/hook-delete-policy': 'hook-succeeded' }),
    'kluctl-hook',
  )
  assert.equal(rule({ 'kluctl.io/hook': 'pre-deploy' }), undefined)
  assert.equal(rule({ 'kluctl.io/hook-delete-policy': 'hook-succeeded' }), undefined)
  assert.equal(rule({ 'kluctl.io/delete': 'true' }, 'helm'), undefined)
})

test('the objects do not show whether Kluctl applies again', () => {
  const { restores, revertsUnasked, sentence } = judged({ by: ['kluctl'] })
  assert.deepEqual([restores, revertsUnasked], ['unknown', 'unknown'])
  assert.match(sentence, /^Kluctl target shop-prod applied the package/)
})
