import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure, type FailureCode } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import { listedVerdicts } from '../../../../test/fakes/listed-epochs.ts'
import { appliedBy } from '../../../../test/fakes/live-object.ts'
import { idOf } from '../../../../test/fakes/memory-cluster.ts'
import { DEPLOYMENT, WEB, yaml } from '../../../../test/fakes/turn-world.ts'
import { FollowedScalers } from './followed-scalers.ts'

const HPA = 'autoscaling/HorizontalPodAutoscaler'
const ID = idOf(`${HPA}/shop/web`)
const UNIT = ['apps/web']

function scaler(target: string, maxReplicas = 5): JsonObject {
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'web', namespace: 'shop' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: target },
      maxReplicas,
    },
  }
}

function failure(code: FailureCode): Failure {
  return new Failure({ code, what: 'cannot list', why: 'it is forbidden', remedy: 'allow it' })
}

/** `apps/web` has a Deployment. */
class Cluster {
  readonly verdicts = listedVerdicts()
  readonly scalers = new FollowedScalers(this.verdicts)

  constructor(state: 'in-sync' | 'drifted' = 'in-sync') {
    const live = {
      state: 'present',
      object: appliedBy('flux', yaml(DEPLOYMENT)),
      metadataOnly: false,
    } as const
    const judged = {
      id: idOf(WEB),
      apiVersion: 'apps/v1',
      state,
      proof: 'dry-run',
      items: [],
      setAside: [],
    } as const
    this.verdicts.getUnitVerdicts('apps/web').keep(live, judged, [], 0)
  }

  list(...objects: readonly JsonObject[]): readonly string[] {
    const units = objects.flatMap((object) => [...this.scalers.handleChange(HPA, ID, object, true)])
    const seen = new Set(objects.map(() => this.verdicts.computeHash(ID).join(' ')))
    return [...units, ...this.scalers.finishList(HPA, seen)]
  }

  change(object: JsonObject): readonly string[] {
    return [...this.scalers.handleChange(HPA, ID, object, false)]
  }
}

test('autoscalers in the first list are known, and later additions are new', () => {
  assert.deepEqual(new Cluster().list(scaler('web')), [])
  const cluster = new Cluster()
  assert.deepEqual(
    [cluster.list(), cluster.list(scaler('web')), cluster.list(scaler('web'))],
    [[], UNIT, []],
  )
  assert.deepEqual(cluster.list(scaler('web', 6)), UNIT)
})

test('an autoscaler that changes or loses its target concerns the units of the old target', () => {
  const cluster = new Cluster()
  assert.deepEqual(
    [
      cluster.change(scaler('web')),
      cluster.change(scaler('other')),
      cluster.change(scaler('other')),
    ],
    [UNIT, UNIT, []],
  )
  assert.deepEqual(
    [cluster.change(scaler('web')), cluster.change(scaler('')), cluster.change(scaler(''))],
    [UNIT, UNIT, []],
  )
})

test("a deleted autoscaler concerns its target's units once, by event, list or loss of its kind", () => {
  const begin = (): Cluster => {
    const cluster = new Cluster()
    cluster.list(scaler('web'))
    return cluster
  }
  const deleted = begin()
  assert.deepEqual(
    [[...deleted.scalers.handleDeletion(ID)], [...deleted.scalers.handleDeletion(ID)]],
    [UNIT, []],
  )
  const listed = begin()
  assert.deepEqual([listed.list(), listed.list()], [UNIT, []])
  const { scalers } = begin()
  assert.deepEqual([...scalers.handleUnreadable(HPA, failure('BP3009'))], UNIT)
  assert.deepEqual([...scalers.handleUnreadable(HPA, failure('BP3009'))], [])
})

test('a change in the right to read autoscalers concerns the drifted units', () => {
  const [same, other] = [new Cluster(), new Cluster('drifted')]
  assert.deepEqual([...same.scalers.handleUnreadable(HPA, failure('BP3003'))], [])
  assert.deepEqual([...other.scalers.handleUnreadable(HPA, failure('BP3003'))], UNIT)
  assert.deepEqual([same.list(), other.list(), other.list()], [[], UNIT, []])
  assert.deepEqual([...other.scalers.handleUnreadable('apps/Deployment', failure('BP3003'))], [])
})
