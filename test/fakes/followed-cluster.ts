/** A cluster whose changes are followed, and what they name. */
import type { WatchedKind } from '@backporch/cluster/cluster-watch'
import { Failure, type FailureCode } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import type { LiveState } from '@backporch/kyaml/resource'
import {
  ClusterFollower,
  type UnitChange,
} from '../../src/reconcile/observe/verdicts/cluster-follower.ts'
import { listedVerdicts } from './listed-epochs.ts'
import { appliedBy } from './live-object.ts'
import { idOf } from './memory-cluster.ts'
import { DEPLOYMENT, WEB, yaml } from './turn-world.ts'

export const NOW = Date.parse('2026-11-21T10:00:00Z')
export const DEPLOYMENTS: WatchedKind = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  namespace: '',
  metadataOnly: false,
}
export const CONFIG_MAPS: WatchedKind = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  namespace: '',
  metadataOnly: false,
}
export const SCALERS: WatchedKind = {
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  namespace: '',
  metadataOnly: false,
}
export const LIVE: JsonObject = { ...appliedBy('flux', yaml(DEPLOYMENT)), status: ready(3) }
export const IN_SYNC = {
  id: idOf(WEB),
  apiVersion: 'apps/v1',
  state: 'in-sync',
  proof: 'dry-run',
  items: [],
  setAside: [],
} as const

/** The status of a Deployment with that many Pods that are ready, of 3. */
export function ready(count: number): JsonObject {
  return {
    observedGeneration: 1,
    replicas: count,
    updatedReplicas: count,
    readyReplicas: count,
    availableReplicas: count,
    conditions: [
      { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' },
      { type: 'Available', status: 'True' },
    ],
  }
}

export function present(object: JsonObject): LiveState {
  return { state: 'present', object, metadataOnly: false }
}

export function failure(code: FailureCode): Failure {
  return new Failure({ code, what: 'cannot list', why: 'it is forbidden', remedy: 'allow it' })
}

/** `apps/web` has a Deployment in sync, unless another state of it is given. */
export class Followed {
  readonly verdicts = listedVerdicts()
  readonly changes: UnitChange[] = []
  readonly follower = new ClusterFollower({
    verdicts: this.verdicts,
    now: () => NOW,
    onChange: (change) => void this.changes.push(change),
  })

  constructor(live: LiveState = present(LIVE), state = 'in-sync') {
    this.keep('apps/web', live, state)
  }

  keep(unit: string, live: LiveState, state = 'in-sync'): void {
    this.verdicts.getUnitVerdicts(unit).keep(live, { ...IN_SYNC, state } as typeof IN_SYNC, [], NOW)
  }

  /** Reason and units of the changes since the last call. */
  told(): string[] {
    return this.changes
      .splice(0)
      .map(({ reason, units }) => `${reason}: ${[...units].sort().join(' ')}`)
  }

  change(object: JsonObject, kind = DEPLOYMENTS): string[] {
    this.follower.handleChange(kind, object, 5)
    return this.told()
  }

  list(kind: WatchedKind, ...objects: readonly JsonObject[]): string[] {
    this.follower.beginList(kind)
    for (const object of objects) this.follower.handleChange(kind, object, 5)
    this.follower.finishList(kind)
    return this.told()
  }
}
