/** Verdicts about one Deployment that was applied, and their lines as short texts. */
import assert from 'node:assert/strict'
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { Failure } from '@backporch/kyaml/failure'
import { type FieldManager, formatFieldPath } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { type Prediction, readResource } from '@backporch/kyaml/resource'
import type { ObjectVerdict } from '../../src/drift/compare/drift.ts'
import { detectDrift, needsPrediction } from '../../src/drift/detect/detect-drift.ts'
import { appliedBy, predictedApply, TEST_SCHEMA } from './live-object.ts'

export const SYNCER: FieldManager = {
  manager: 'kustomize-controller',
  operation: 'Apply',
  subresource: '',
}

export const REFUSED = new Failure({
  code: 'BP3011',
  what: 'cannot patch',
  why: 'duplicate port name',
  remedy: 'correct it',
})

export const DEPLOYMENT: JsonObject = {
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

export const APP = 'spec.template.spec.containers[name=app]'

export function desiredOf(object: JsonObject): DesiredResource {
  const read = readResource(object)
  assert.ok('id' in read)
  return { ...read, location: { path: 'apps/web/a.yaml', document: 0, item: undefined, line: 1 } }
}

type Means = 'dry run' | 'refused' | 'unproven'

export function verdictOf(
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

export function lines({ items }: ObjectVerdict): string[] {
  return items
    .map(
      ({ change, path: location, actor }) =>
        `${change} ${formatFieldPath(location)} by ${actor.manager}`,
    )
    .sort()
}

export function aside({ setAside }: ObjectVerdict): string[] {
  return setAside.map(({ state, drift }) => `${state} ${formatFieldPath(drift.path)}`)
}

export const APPLIED = appliedBy(SYNCER.manager, DEPLOYMENT)
