import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import { drift, judged, PROFILE, present, WEB } from '../../test/fakes/applier-world.ts'
import { deploymentOf } from '../../test/fakes/syncer-marks.ts'
import { type Applier, determineApplier } from '../status/applier.ts'
import { keepsLastApplied } from './registry.ts'

function profile(driftExclusions: Json, annotations: JsonObject = {}): Applier {
  const spec = { syncMode: 'ContinuousWithDriftDetection', driftExclusions }
  return judged({
    by: ['sveltos'],
    own: { [PROFILE]: { spec } },
    drifts: [drift('spec.replicas')],
    annotations,
  })
}

test('does not restore what a profile excludes from drift detection', () => {
  assert.equal(profile([]).restores, 'at-once')
  assert.equal(profile([{ paths: ['/spec/replicas'] }]).restores, 'never')
  assert.equal(
    profile([{ paths: ['/spec/replicas'], target: { kind: 'Deployment', group: 'apps' } }])
      .restores,
    'never',
  )
  assert.equal(
    profile([{ paths: ['/spec/replicas'], target: { kind: 'StatefulSet' } }]).restores,
    'at-once',
  )
  assert.equal(profile([], { 'projectsveltos.io/driftDetectionIgnore': 'ok' }).restores, 'never')
})

test('reports a target that may be a pattern as possibly matching', () => {
  assert.match(
    profile([{ paths: ['/spec/replicas'], target: { kind: 'Deploy.*' } }]).sentence,
    /perhaps ignored by spec\.driftExclusions/,
  )
})

test('without claims, a syncer manager may restore by itself, and argocd-server counts as a person', () => {
  const by = (manager: string): Applier =>
    determineApplier({
      claims: [],
      live: new Map([[WEB, present(deploymentOf(['ci']))]]),
      own: new Map(),
      drifts: [],
      syncer: { manager, operation: 'Apply', subresource: '' },
      packagePath: 'apps/web',
      pipeline: false,
    })
  for (const manager of [
    'application/apply-patch',
    'addon-controller',
    'kustomize-controller',
    'argocd-controller',
    'fleetagent',
    'kluctl',
  ])
    assert.equal(by(manager).restores, 'unknown', manager)
  for (const manager of ['kubectl', 'helm', 'kpt', 'flux', 'argocd-server', 'ci'])
    assert.equal(by(manager).restores, 'when-told', manager)
})

test('only tools known to write the last-applied annotation count as its keepers', () => {
  for (const manager of ['kubectl-client-side-apply', 'kpt', 'argocd-controller'])
    assert.equal(keepsLastApplied(manager), true, manager)
  for (const manager of ['argocd-server', 'kapp', 'kluctl', 'fleetagent', 'addon-controller'])
    assert.equal(keepsLastApplied(manager), false, manager)
})
