/** Objects whose kstatus was recorded from the real Go library; see README.md beside this file. */
type Value = null | boolean | number | string | readonly Value[] | { readonly [key: string]: Value }
export interface KstatusObject {
  readonly name: string
  readonly object: { readonly [key: string]: Value }
}

const LONG_AGO = '2020-01-01T00:00:00Z'
const FAR_AHEAD = '2999-01-01T00:00:00Z'

function condition(type: string, status: string, reason = 'Because', message = `${type} says ${status}`) {
  return { type, status, reason, message }
}

function make(apiVersion: string, kind: string, more: { readonly [key: string]: Value }, metadata: { readonly [key: string]: Value } = {}) {
  return { apiVersion, kind, metadata: { name: 'x', namespace: 'y', ...metadata }, ...more }
}

/** One object per member of the product of the choices. */
function* product(choices: { readonly [key: string]: readonly (Value | undefined)[] }): Generator<{ [key: string]: Value }> {
  const names = Object.keys(choices)
  const total = names.reduce((count, name) => count * (choices[name]?.length ?? 1), 1)
  for (let number = 0; number < total; number += 1) {
    const picked: { [key: string]: Value } = {}
    let rest = number
    for (const name of names) {
      const values = choices[name] ?? []
      const value = values[rest % values.length]
      rest = Math.floor(rest / values.length)
      if (value !== undefined) picked[name] = value
    }
    yield picked
  }
}

function* objects(): Generator<KstatusObject> {
  const generic = 'example.com/v1'
  for (const group of [generic, 'v1', 'apps/v1']) {
    yield { name: `${group} Thing without status`, object: make(group, 'Thing', {}) }
    for (const status of ['True', 'False', 'Unknown', 'Maybe', '']) {
      for (const type of ['Ready', 'Reconciling', 'Stalled', 'Other']) {
        yield { name: `${group} ${type}=${status}`, object: make(group, 'Thing', { status: { conditions: [condition(type, status)] } }) }
      }
    }
  }
  const both = [condition('Stalled', 'True'), condition('Reconciling', 'True')]
  yield { name: 'Stalled before Reconciling', object: make(generic, 'Thing', { status: { conditions: both } }) }
  yield { name: 'Reconciling before Stalled', object: make(generic, 'Thing', { status: { conditions: both.toReversed() } }) }
  const maybe = [condition('Ready', 'Maybe'), condition('Ready', 'False')]
  yield { name: 'Ready twice, first undecided', object: make(generic, 'Thing', { status: { conditions: maybe } }) }
  for (const [generation, observed] of [
    [1, 1],
    [2, 1],
    [1, 2],
    [2, undefined],
    [undefined, 2],
    [2.5, 1],
    [2, 1.5],
    ['2', 1],
    [2, '1'],
    [null, 1],
    [2, null],
  ] as const) {
    const status = observed === undefined ? {} : { observedGeneration: observed }
    const metadata = generation === undefined ? {} : { generation }
    for (const [apiVersion, kind] of [
      [generic, 'Thing'],
      ['apps/v1', 'DaemonSet'],
    ] as const) {
      yield { name: `${kind} generation ${generation} observed ${observed}`, object: make(apiVersion, kind, { status }, metadata) }
    }
  }
  for (const deletion of [LONG_AGO, '', null, 5]) {
    yield { name: `deletionTimestamp ${deletion}`, object: make('v1', 'ConfigMap', {}, { deletionTimestamp: deletion, generation: 2 }) }
  }
  for (const status of [
    'text',
    null,
    5,
    true,
    [],
    { conditions: 'x' },
    { conditions: null },
    { conditions: {} },
    { conditions: ['x'] },
    { conditions: [null] },
    { conditions: [{ type: 5 }] },
    { conditions: [{ type: 'Ready', status: true }] },
    { conditions: [{ type: 'Ready', status: null }] },
    { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: 5 }] },
    { observedGeneration: 3, conditions: [] },
  ] as const) {
    for (const [apiVersion, kind] of [
      [generic, 'Thing'],
      ['v1', 'Pod'],
      ['v1', 'ConfigMap'],
      ['apps/v1', 'Deployment'],
      ['v1', 'PersistentVolumeClaim'],
    ] as const) {
      yield { name: `${kind} with status ${JSON.stringify(status)}`, object: make(apiVersion, kind, { status: status as Value }) }
      yield {
        name: `${kind} of generation 3 with status ${JSON.stringify(status)}`,
        object: make(apiVersion, kind, { status: status as Value }, { generation: 3 }),
      }
    }
  }
  for (const apiVersion of [
    'v1',
    'v2',
    'apps/v1',
    'extensions/v1beta1',
    'batch/v1',
    'policy/v1',
    'apiextensions.k8s.io/v1',
    'other/v1',
    '/v1',
    '',
  ]) {
    for (const kind of [
      'Service',
      'Pod',
      'Secret',
      'ConfigMap',
      'PersistentVolumeClaim',
      'StatefulSet',
      'DaemonSet',
      'Deployment',
      'ReplicaSet',
      'PodDisruptionBudget',
      'CronJob',
      'Job',
      'CustomResourceDefinition',
      'Namespace',
      'Ingress',
    ]) {
      yield { name: `bare ${kind} of ${JSON.stringify(apiVersion)}`, object: make(apiVersion, kind, {}) }
    }
  }
  const counts = [undefined, 0, 1, 2]
  for (const spec of product({ replicas: [undefined, 0, 2], progressDeadlineSeconds: [undefined, 600] })) {
    for (const status of product({
      replicas: [undefined, 0, 2, 3],
      updatedReplicas: [undefined, 2],
      availableReplicas: [undefined, 2],
      readyReplicas: [undefined, 1, 2],
    })) {
      for (const conditions of [
        [],
        [condition('Available', 'True')],
        [condition('Available', 'True'), condition('Progressing', 'True', 'NewReplicaSetAvailable')],
      ]) {
        yield { name: 'Deployment', object: make('apps/v1', 'Deployment', { spec, status: { ...status, conditions } }) }
      }
    }
  }
  const exceeded = [condition('Available', 'True'), condition('Progressing', 'False', 'ProgressDeadlineExceeded')]
  yield { name: 'Deployment past its deadline', object: make('apps/v1', 'Deployment', { status: { conditions: exceeded } }) }
  yield {
    name: 'Deployment with MaxInt32 deadline',
    object: make('apps/v1', 'Deployment', {
      spec: { replicas: 0, progressDeadlineSeconds: 2147483647 },
      status: { conditions: [condition('Available', 'True')] },
    }),
  }
  yield {
    name: 'Deployment with text replicas',
    object: make('apps/v1', 'Deployment', { spec: { replicas: '3' }, status: { replicas: 1 } }),
  }
  yield { name: 'Deployment with spec text', object: make('apps/v1', 'Deployment', { spec: 'x' }) }
  for (const partition of [undefined, 0, 1, -1]) {
    const rollingUpdate = partition === undefined ? {} : { partition }
    for (const status of product({
      replicas: [undefined, 2, 3],
      readyReplicas: [undefined, 2],
      currentReplicas: [undefined, 2],
      updatedReplicas: [undefined, 1, 2],
      currentRevision: ['a'],
      updateRevision: ['a', 'b'],
    })) {
      yield {
        name: 'StatefulSet',
        object: make('apps/v1', 'StatefulSet', { spec: { replicas: 2, updateStrategy: { type: 'RollingUpdate', rollingUpdate } }, status }),
      }
    }
  }
  yield { name: 'StatefulSet OnDelete', object: make('apps/v1', 'StatefulSet', { spec: { updateStrategy: { type: 'OnDelete' } } }) }
  yield {
    name: 'StatefulSet bare spec',
    object: make('apps/v1', 'StatefulSet', { status: { replicas: 1, readyReplicas: 1, currentReplicas: 1 } }),
  }
  for (const status of product({
    desiredNumberScheduled: [undefined, 0, 2],
    currentNumberScheduled: counts,
    updatedNumberScheduled: [undefined, 2],
    numberAvailable: [undefined, 2],
    numberReady: [undefined, 1, 2],
  })) {
    yield { name: 'DaemonSet', object: make('apps/v1', 'DaemonSet', { status: { observedGeneration: 1, ...status } }, { generation: 1 }) }
  }
  for (const spec of product({ replicas: [undefined, 0, 2] })) {
    for (const status of product({
      replicas: [undefined, 2, 3],
      fullyLabeledReplicas: [undefined, 2],
      availableReplicas: [undefined, 2],
      readyReplicas: [undefined, 1, 2],
    })) {
      yield { name: 'ReplicaSet', object: make('apps/v1', 'ReplicaSet', { spec, status }) }
    }
  }
  yield {
    name: 'ReplicaSet failing',
    object: make('apps/v1', 'ReplicaSet', { status: { conditions: [condition('ReplicaFailure', 'True')] } }),
  }
  yield {
    name: 'ReplicaSet not failing',
    object: make('apps/v1', 'ReplicaSet', { spec: { replicas: 0 }, status: { conditions: [condition('ReplicaFailure', 'False')] } }),
  }
  for (const conditions of [
    [],
    [condition('Complete', 'True')],
    [condition('Failed', 'True')],
    [condition('Complete', 'False'), condition('Failed', 'True')],
    [condition('Failed', 'True'), condition('Complete', 'True')],
  ]) {
    for (const spec of product({ completions: [undefined, 4], parallelism: [undefined, 3] })) {
      for (const status of product({ startTime: [undefined, LONG_AGO], succeeded: [undefined, 1], failed: [undefined, 2], active: [1] })) {
        yield { name: 'Job', object: make('batch/v1', 'Job', { spec, status: { ...status, conditions } }) }
      }
    }
  }
  const waiting = (name: Value, reason: Value) => ({ name, state: { waiting: { reason } } })
  for (const containerStatuses of [
    undefined,
    [],
    [waiting('a', 'CrashLoopBackOff')],
    [waiting('a', 'CrashLoopBackOff'), { name: 'c', state: { running: {} } }, waiting('b', 'CrashLoopBackOff')],
    [waiting('a', 'ImagePullBackOff')],
    [{ name: 'n' }],
    'text',
  ]) {
    for (const ready of ['True', 'False', undefined]) {
      const conditions = ready === undefined ? [] : [condition('Ready', ready)]
      for (const phase of ['Running', 'Pending', 'Succeeded', 'Failed']) {
        const status = { phase, conditions, ...(containerStatuses === undefined ? {} : { containerStatuses }) }
        yield { name: `Pod ${phase}`, object: make('v1', 'Pod', { status }) }
      }
    }
  }
  for (const creationTimestamp of [LONG_AGO, FAR_AHEAD, 'rubbish', '', null]) {
    for (const reason of ['Unschedulable', 'SchedulingGated']) {
      const status = { phase: 'Pending', conditions: [condition('PodScheduled', 'False', reason)] }
      yield { name: `Pod of ${creationTimestamp} ${reason}`, object: make('v1', 'Pod', { status }, { creationTimestamp }) }
    }
  }
  for (const phase of ['Unknown', '', 'Sleeping', 5])
    yield { name: `Pod in phase ${phase}`, object: make('v1', 'Pod', { status: { phase } }) }
  for (const phase of ['Bound', 'Pending', 'Lost', undefined, 7]) {
    yield { name: `claim ${phase}`, object: make('v1', 'PersistentVolumeClaim', { status: phase === undefined ? {} : { phase } }) }
  }
  for (const spec of product({
    type: [undefined, 'ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'],
    clusterIP: [undefined, '', 'None', '10.0.0.1'],
  })) {
    yield { name: 'Service', object: make('v1', 'Service', { spec }) }
  }
  for (const names of ['True', 'False', undefined]) {
    for (const established of ['True', 'False', 'Unknown', undefined]) {
      for (const reason of ['Installing', 'Other']) {
        const conditions = [
          ...(names === undefined ? [] : [condition('NamesAccepted', names, 'MultipleNamesNotAllowed')]),
          ...(established === undefined ? [] : [condition('Established', established, reason)]),
        ]
        const object = make('apiextensions.k8s.io/v1', 'CustomResourceDefinition', { status: { conditions } })
        yield { name: `definition names ${names} established ${established}`, object }
        yield { name: 'definition, other order', object: { ...object, status: { conditions: conditions.toReversed() } } }
      }
    }
  }
}

/** Always the same objects in the same order. */
export const KSTATUS_OBJECTS: readonly KstatusObject[] = [...objects()]
