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

test('what a profile excludes from drift detection is not put back', () => {
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

test('a target that may be a pattern is told as one that may hold', () => {
  assert.match(
    profile([{ paths: ['/spec/replicas'], target: { kind: 'Deploy.*' } }]).sentence,
    /perhaps ignored by spec\.driftExclusions/,
  )
})

test('where no object names a syncer, the names of each syncer tell that it may apply again, and argocd-server tells of a person', () => {
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

test('only tools that were seen to keep the last-applied annotation are taken for its keepers', () => {
  for (const manager of ['kubectl-client-side-apply', 'kpt', 'argocd-controller'])
    assert.equal(keepsLastApplied(manager), true, manager)
  for (const manager of ['argocd-server', 'kapp', 'kluctl', 'fleetagent', 'addon-controller'])
    assert.equal(keepsLastApplied(manager), false, manager)
})
