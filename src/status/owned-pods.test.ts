/** The rule of kstatus' poller, and what it leaves to the workload's own status. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '@backporch/kyaml/json'
import { findPodFailure, formatPodSelector, isOwnedBy, waitsForPods } from './owned-pods.ts'

const AT = new Date('2026-11-21T10:00:00Z')

function workload(kind: string, more: JsonObject = {}, apiVersion = 'apps/v1'): JsonObject {
  return {
    apiVersion,
    kind,
    metadata: { name: 'db', namespace: 'shop', uid: 'u1', generation: 1 },
    spec: { replicas: 1 },
    ...more,
  }
}

function pod(status: JsonObject, metadata: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'db-0', creationTimestamp: '2026-11-21T09:00:00Z', ...metadata },
    status,
  }
}

const LOOPING = pod({
  phase: 'Running',
  containerStatuses: [
    { name: 'app', state: { waiting: { reason: 'CrashLoopBackOff' } } },
    { name: 'side', state: { running: {} } },
  ],
})
const UNSCHEDULED = pod({
  phase: 'Pending',
  conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }],
})

describe('a workload in progress', () => {
  it('waits for its pods where kpt counts them', () => {
    assert.deepEqual(
      ['StatefulSet', 'ReplicaSet', 'Deployment', 'DaemonSet'].map((kind) =>
        waitsForPods(workload(kind), AT),
      ),
      [true, true, false, false],
    )
    assert.equal(waitsForPods(workload('Job', {}, 'batch/v1'), AT), false)
    assert.equal(waitsForPods(workload('StatefulSet', {}, 'example.com/v1'), AT), false)
    assert.equal(waitsForPods(workload('ReplicaSet', {}, 'extensions/v1beta1'), AT), false)
  })

  it('also waits while its controller has not observed the newest generation', () => {
    const status = { observedGeneration: 0, replicas: 1, readyReplicas: 1, currentReplicas: 1 }
    assert.equal(waitsForPods(workload('StatefulSet', { status }), AT), true)
  })

  it('does not wait once it is current or being deleted', () => {
    const status = {
      observedGeneration: 1,
      replicas: 1,
      readyReplicas: 1,
      availableReplicas: 1,
      fullyLabeledReplicas: 1,
    }
    assert.equal(waitsForPods(workload('ReplicaSet', { status }), AT), false)
    const metadata = { name: 'db', namespace: 'shop', deletionTimestamp: '2026-11-21T09:00:00Z' }
    assert.equal(waitsForPods(workload('ReplicaSet', { metadata }), AT), false)
  })
})

describe('pods', () => {
  it('fail when they crash in a loop, with the containers', () => {
    const status = findPodFailure([LOOPING], AT)
    assert.deepEqual(
      [status?.status, status?.message],
      ['Failed', '1 pods have failed (db-0: Containers in CrashLoop state: app)'],
    )
  })

  it('fail when they are unschedulable beyond the time of kstatus', () => {
    assert.equal(
      findPodFailure([UNSCHEDULED], AT)?.message,
      '1 pods have failed (db-0: Pod could not be scheduled)',
    )
    const { status } = UNSCHEDULED
    const young = pod(status as JsonObject, { creationTimestamp: '2026-11-21T09:59:50Z' })
    assert.equal(findPodFailure([young], AT), undefined)
  })

  it('are counted when they fail, and one is named', () => {
    const other = {
      ...UNSCHEDULED,
      metadata: { name: 'db-1', creationTimestamp: '2026-11-21T09:00:00Z' },
    }
    assert.match(
      findPodFailure([other, LOOPING], AT)?.message ?? '',
      /^2 pods have failed \(db-0: .*, …\)$/,
    )
  })

  it('do not fail when completed, terminating, starting or ready', () => {
    const states = [
      pod({ phase: 'Succeeded' }),
      pod({ phase: 'Failed' }),
      pod({ phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory.' }),
      { ...LOOPING, metadata: { name: 'db-0', deletionTimestamp: '2026-11-21T09:00:00Z' } },
      pod({ phase: 'Pending' }),
      pod({
        phase: 'Pending',
        containerStatuses: [{ name: 'app', state: { waiting: { reason: 'ImagePullBackOff' } } }],
      }),
      pod({ phase: 'Running' }),
      pod({ phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }),
      pod({}),
    ]
    for (const state of states)
      assert.equal(findPodFailure([state], AT), undefined, JSON.stringify(state))
    assert.equal(findPodFailure(states, AT), undefined)
  })

  it('do not fail when they cannot be judged', () => {
    assert.equal(
      findPodFailure(
        [pod({ phase: 'Odd' }), pod({ phase: 'Running', containerStatuses: 'x' })],
        AT,
      ),
      undefined,
    )
  })

  it('belong to the workload that controls them', () => {
    const owner = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      name: 'db',
      uid: 'u1',
      controller: true,
    }
    const owned = (more: JsonObject): boolean =>
      isOwnedBy(pod({}, { ownerReferences: [{ ...owner, ...more }] }), workload('StatefulSet'))
    assert.equal(owned({}), true)
    for (const more of [
      { uid: 'u2' },
      { kind: 'ReplicaSet' },
      { name: 'db2' },
      { controller: false },
    ])
      assert.equal(owned(more), false, JSON.stringify(more))
    assert.equal(isOwnedBy(pod({}), workload('StatefulSet')), false)
  })

  it('are selected by labels, and only by owner when there are none', () => {
    const labels = { app: 'db', tier: 'data' }
    assert.equal(
      formatPodSelector(workload('StatefulSet', { spec: { selector: { matchLabels: labels } } })),
      'app=db,tier=data',
    )
    assert.equal(
      formatPodSelector(workload('StatefulSet', { spec: { selector: { matchExpressions: [] } } })),
      '',
    )
  })
})
