import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DesiredResource } from '@backporch/kpt/desired-set'
import type { JsonObject } from '@backporch/kyaml/json'
import { TEST_SCHEMA } from '../../../test/fakes/live-object.ts'
import { detectDrift } from '../detect/detect-drift.ts'
import type { ObservedObject } from '../detect/object-comparison.ts'
import { findGoneByDesignRule, type HookRunners } from './gone-by-design.ts'
import { isGoneByDesign, setGoneAside } from './set-aside-gone.ts'

const NOBODY: HookRunners = { tools: new Set(), unknown: false }
const HELM = { ...NOBODY, tools: new Set(['helm']) }
const ARGO = { ...NOBODY, tools: new Set(['argo-application']) }
const UNKNOWN = { ...NOBODY, unknown: true }

function job(
  annotations: JsonObject,
  spec: JsonObject = {},
  kind = 'Job',
  apiVersion = 'batch/v1',
): JsonObject {
  return { apiVersion, kind, metadata: { name: 'migrate', namespace: 'shop', annotations }, spec }
}

function ruleOf(manifest: JsonObject, runners: HookRunners): string | undefined {
  return findGoneByDesignRule(manifest, runners)?.rule
}

const helm = (hook: string, policy?: string) =>
  job({
    'helm.sh/hook': hook,
    ...(policy === undefined ? {} : { 'helm.sh/hook-delete-policy': policy }),
  })
const argo = (hook: string, policy?: string) =>
  job({
    'argocd.argoproj.io/hook': hook,
    ...(policy === undefined ? {} : { 'argocd.argoproj.io/hook-delete-policy': policy }),
  })

test('a Job with automatic cleanup may be absent under every applier, and another Job may not', () => {
  for (const runners of [NOBODY, HELM, UNKNOWN])
    assert.equal(ruleOf(job({}, { ttlSecondsAfterFinished: 0 }), runners), 'finished-job')
  assert.match(
    findGoneByDesignRule(job({}, { ttlSecondsAfterFinished: 60 }), NOBODY)?.why ?? '',
    /removes this Job 60 seconds after it finished/,
  )
  assert.equal(ruleOf(job({}), NOBODY), undefined)
  assert.equal(
    ruleOf(job({}, { ttlSecondsAfterFinished: 60 }, 'Deployment', 'apps/v1'), NOBODY),
    undefined,
  )
})

test('a Helm hook deleted after its success may be absent when Helm applies it', () => {
  assert.equal(
    ruleOf(helm('pre-install,pre-upgrade', 'before-hook-creation, hook-succeeded'), HELM),
    'helm-hook',
  )
  assert.equal(ruleOf(helm('pre-install', 'hook-succeeded'), NOBODY), undefined)
})

test('a Helm hook kept until its next run is missing when it is absent', () => {
  for (const policy of [undefined, 'before-hook-creation', 'hook-failed'])
    assert.equal(ruleOf(helm('post-install', policy), HELM), undefined)
})

test('a hook that neither install nor upgrade runs is not expected yet', () => {
  assert.equal(ruleOf(helm('pre-delete,post-rollback'), HELM), 'helm-hook')
  assert.equal(ruleOf(helm('test'), HELM), 'helm-hook')
  assert.equal(ruleOf(helm('pre-delete,post-upgrade'), HELM), undefined)
})

test('handles hooks of Argo CD, and Helm hooks as Argo CD interprets them', () => {
  assert.equal(ruleOf(argo('PreSync', 'HookSucceeded'), ARGO), 'argo-hook')
  assert.equal(ruleOf(argo('PostSync'), ARGO), undefined)
  assert.equal(ruleOf(argo('PostSync', 'BeforeHookCreation'), ARGO), undefined)
  assert.equal(ruleOf(argo('Skip'), ARGO), 'argo-hook')
  assert.equal(ruleOf(argo('SyncFail,PostDelete'), ARGO), 'argo-hook')
  assert.equal(ruleOf(argo('Sync,SyncFail'), ARGO), undefined)
  assert.equal(ruleOf(helm('post-install', 'hook-succeeded'), ARGO), 'argo-hook')
  assert.equal(ruleOf(helm('post-install'), ARGO), undefined)
  assert.equal(ruleOf(helm('test-success'), ARGO), 'argo-hook')
  assert.equal(ruleOf(helm('crd-install'), ARGO), undefined)
  assert.equal(ruleOf(argo('PreSync', 'HookSucceeded'), HELM), undefined)
})

test('for an unknown tool, only a self-terminating object may be absent as its hook says', () => {
  assert.equal(ruleOf(helm('pre-upgrade', 'hook-succeeded'), UNKNOWN), 'helm-hook')
  assert.equal(ruleOf(argo('PreSync', 'HookSucceeded'), UNKNOWN), 'argo-hook')
  const account = job(
    { 'helm.sh/hook': 'pre-install', 'helm.sh/hook-delete-policy': 'hook-succeeded' },
    {},
    'ServiceAccount',
    'v1',
  )
  assert.equal(ruleOf(account, UNKNOWN), undefined)
  assert.equal(ruleOf(account, HELM), 'helm-hook')
})

function verdictOn(manifest: JsonObject, live: ObservedObject['live']) {
  const id = { group: 'batch', kind: 'Job', namespace: 'shop', name: 'migrate' }
  const location = { path: 'a.yaml', document: 0, item: undefined, line: 1 }
  const desired: DesiredResource = { id, apiVersion: 'batch/v1', object: manifest, location }
  return detectDrift({ desired, live, schema: TEST_SCHEMA, prediction: undefined }, undefined)
}

test('sets an absent object aside with its rule when it may be absent, and reports another as missing', () => {
  const gone = setGoneAside(
    verdictOn(job({}, { ttlSecondsAfterFinished: 5 }), { state: 'absent' }),
    NOBODY,
  )
  assert.deepEqual([gone.state, gone.items.length, gone.mayBeBehind], ['in-sync', 0, undefined])
  assert.deepEqual(
    gone.setAside.map(({ state, rule, drift }) => [state, rule, drift.change]),
    [['Ignored', 'built-in:finished-job', 'missing']],
  )
  assert.equal(isGoneByDesign(gone), true)
  const missing = verdictOn(job({}), { state: 'absent' })
  assert.equal(setGoneAside(missing, NOBODY), missing)
  assert.equal(isGoneByDesign(missing), false)
})
