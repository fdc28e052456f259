/** The answer about one Deployment, from the marks on it and the resources of the syncers that these name. */
import assert from 'node:assert/strict'
import { Failure } from '@backporch/kyaml/failure'
import { getManagedFields } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { getResourceKey, type LiveState } from '@backporch/kyaml/resource'
import { formatPhrase } from '@backporch/kyaml/text'
import { UNKNOWN_ACTOR } from '../../src/drift/attribute/actor.ts'
import type { ChangeKind } from '../../src/drift/compare/drift.ts'
import { type Applier, determineApplier } from '../../src/status/applier.ts'
import { listClaims } from '../../src/syncers/claims.ts'
import type { DriftedField } from '../../src/syncers/syncer.ts'
import { path as fieldPath } from './live-object.ts'
import { deploymentOf, type MarkedBy } from './syncer-marks.ts'

const ID = { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' }
export const WEB = getResourceKey(ID)
export const KUSTOMIZATION = 'kustomize.toolkit.fluxcd.io/Kustomization/apps/web'
export const HELM_RELEASE = 'helm.toolkit.fluxcd.io/HelmRelease/apps/web'
export const APPLICATION = 'argoproj.io/Application/argocd/web'
export const ROOT_SYNC = 'configsync.gke.io/RootSync/config-management-system/root-sync'
export const PROFILE = 'config.projectsveltos.io/ClusterProfile//web'
export const FORBIDDEN = new Failure({
  code: 'BP3003',
  what: 'cannot list kustomizations.kustomize.toolkit.fluxcd.io',
  why: 'the account may not list it (403)',
  remedy:
    'bind user "eve" to a Role in namespace apps with apiGroups: ["kustomize.toolkit.fluxcd.io"], resources: ["kustomizations"], verbs: ["list"]',
})

export function present(object: JsonObject): LiveState {
  return { state: 'present', object, metadataOnly: false }
}

export function drift(
  path: string,
  change: ChangeKind = 'modified',
  manager = 'kubectl-edit',
  name = 'web',
): DriftedField['drift'] {
  return {
    id: { ...ID, name },
    change,
    path: path === '' ? [] : fieldPath(path),
    actor: { ...UNKNOWN_ACTOR, manager },
  }
}

export interface ApplierWorld {
  readonly by: readonly MarkedBy[]
  readonly own?: { readonly [key: string]: LiveState | JsonObject }
  readonly drifts?: readonly DriftedField['drift'][]
  readonly annotations?: JsonObject
  readonly more?: { readonly [key: string]: LiveState }
}

export function judged({
  by,
  own = {},
  drifts = [drift('spec.replicas')],
  annotations = {},
  more = {},
}: ApplierWorld): Applier {
  const object = deploymentOf(by, { annotations })
  const live = new Map<string, LiveState>([[WEB, present(object)], ...Object.entries(more)])
  const claims = listClaims(live)
  const wanted = claims.flatMap((claim) => claim.wanted.map(({ id }) => getResourceKey(id)))
  const answers = wanted.map((key): [string, LiveState] => {
    const given = own[key]
    return [
      key,
      given === undefined
        ? { state: 'absent' }
        : 'state' in given
          ? (given as LiveState)
          : present(given as JsonObject),
    ]
  })
  const [syncer] = getManagedFields(object).entries
  const applier = determineApplier({
    claims,
    live,
    own: new Map(answers),
    drifts,
    syncer,
    packagePath: 'apps/web',
    pipeline: false,
  })
  assert.equal(formatPhrase(applier.phrases.sentence), applier.sentence)
  assert.equal(formatPhrase(applier.phrases.warning), applier.warning ?? '')
  return applier
}
