import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { FieldSchema } from '@backporch/kyaml/field'
import type { Json, JsonObject } from '@backporch/kyaml/json'
import {
  getMetadataText,
  getResourceKey,
  type LiveView,
  type WantedObject,
} from '@backporch/kyaml/resource'
import {
  assertSameOwnership,
  at,
  connect,
  create,
  resourceOf,
  verdict,
  wanted,
} from '../../../test/apiserver/live-cluster.ts'
import { recordCluster } from '../../../test/apiserver/record-cluster.ts'
import { controlPlaneSuite } from '../../../test/controlplane/control-plane-suite.ts'
import { findKnownList, isBuiltInGroup, isKnownNamespaced } from '../recording/known-kinds.ts'
import { openRecordedCluster, type RecordedCluster } from '../recording/recorded-cluster.ts'

const signal = new AbortController().signal

await controlPlaneSuite('schemas of an API server', {}, (plane) => {
  test('the schema names exactly the fields that an apply owns, for manifests of many kinds', async () => {
    const namespace = await plane.namespace('owned')
    const { reader } = await connect(plane)
    for (const object of manifests(namespace)) {
      const resource = resourceOf(object)
      const { schema } = await reader.findServedKind(resource.apiVersion, resource.id.kind, signal)
      const prediction = await reader.predict(resource, 'prover', signal)
      assert.ok(
        prediction.state === 'predicted',
        `${resource.id.kind}: ${prediction.state === 'predicted' ? '' : prediction.failure.why}`,
      )
      assertSameOwnership(object, prediction.object, 'prover', schema)
    }
  })

  test('the built-in schema knowledge agrees with the API server', async () => {
    const { reader } = await connect(plane)
    const listed = (await plane.kubectl(['api-resources', '--no-headers', '--sort-by=kind'])).stdout
      .trim()
      .split('\n')
    let compared = 0
    for (const line of listed) {
      const columns = line.trim().split(/\s+/)
      const [apiVersion = '', namespaced = '', kind = ''] = columns.slice(-3)
      const group = apiVersion.includes('/') ? apiVersion.replace(/\/.*/, '') : ''
      if (
        /Review$/.test(kind) ||
        group.endsWith('.example.com') ||
        kind === 'ComponentStatus' ||
        !isBuiltInGroup(group)
      )
        continue
      assert.equal(isKnownNamespaced(group, kind), namespaced === 'true', `${apiVersion} ${kind}`)
      compared += 1
    }
    assert.ok(compared > 30, String(compared))
    const kinds = [
      'apps/v1 Deployment',
      'apps/v1 StatefulSet',
      'batch/v1 CronJob',
      'v1 Pod',
      'v1 Service',
      'v1 ServiceAccount',
      'networking.k8s.io/v1 Ingress',
    ]
    let lists = 0
    for (const name of [
      ...kinds,
      'autoscaling/v2 HorizontalPodAutoscaler',
      'admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration',
    ]) {
      const [apiVersion = '', kind = ''] = name.split(' ')
      const document = await reader.openApiDocument(apiVersion, signal)
      const { schema } = await reader.findServedKind(apiVersion, kind, signal)
      visitLists(document, schema, [kind], (names, list) => {
        const known = findKnownList(names)
        if (known === undefined) return
        lists += 1
        assert.deepEqual({ type: list.listType, keys: list.keys }, known, names.join('.'))
      })
    }
    assert.ok(lists > 40, String(lists))
  })

  test('a recording answers like the API server', async (t) => {
    const namespace = await plane.namespace('record')
    const folder = await mkdtemp(join(tmpdir(), 'recording-'))
    t.after(() => rm(folder, { recursive: true }))
    const { reader } = await connect(plane)
    const desired = manifests(namespace)[0]
    assert.ok(desired !== undefined)
    await plane.kubectl(['apply', '--server-side', '-f', '-'], { stdin: JSON.stringify(desired) })
    await create(plane, `/api/v1/namespaces/${namespace}/secrets`, {
      metadata: { name: 'db' },
      stringData: { password: 'CANARY-VALUE' },
    })
    const resource = resourceOf(desired)
    const ids: readonly WantedObject[] = [
      resource,
      wanted('v1', 'Secret', namespace, 'db'),
      wanted('v1', 'ConfigMap', namespace, 'gone'),
    ]
    // The controllers go on writing the status: a recording is compared with a live view that did not change around it.
    let [live, after, recorded] = [
      await reader.readLive(ids, signal),
      undefined as LiveView | undefined,
      undefined as RecordedCluster | undefined,
    ]
    for (
      let attempt = 0;
      attempt < 10 &&
      (after === undefined || versionOf(live, resource) !== versionOf(after, resource));
      attempt += 1
    ) {
      await rm(folder, { recursive: true, force: true })
      live = await reader.readLive(ids, signal)
      await recordCluster(
        reader,
        { wanted: ids, predictions: [{ resource, fieldManager: 'kubectl' }] },
        folder,
        signal,
      )
      recorded = openRecordedCluster({ path: folder, observedAt: '' })
      after = await reader.readLive(ids, signal)
    }
    assert.ok(recorded !== undefined)
    const then = await recorded.readLive(ids, signal)
    assert.deepEqual(then.get(getResourceKey(resource.id)), live.get(getResourceKey(resource.id)))
    assert.deepEqual([...then.values()].map(verdict), ['present', 'present', 'absent'])
    const prediction = await recorded.predict(resource, 'kubectl', signal)
    assert.ok(prediction.state === 'predicted')
    const { schema } = await recorded.findServedKind(resource.apiVersion, resource.id.kind, signal)
    assertSameOwnership(desired, prediction.object, 'kubectl', schema)
    const { stdout } = await plane.kubectl(['get', '--raw', '/version'])
    assert.ok(stdout.includes((await recorded.identify(signal)).version))
  })
})

function versionOf(view: LiveView, { id }: WantedObject): string {
  const state = view.get(getResourceKey(id))
  return state?.state === 'present' ? getMetadataText(state.object, 'resourceVersion') : ''
}

function manifests(namespace: string): readonly JsonObject[] {
  const metadata = {
    name: 'x',
    namespace,
    labels: { app: 'x' },
    annotations: { 'example.com/a': 'b' },
  }
  const container = {
    name: 'app',
    image: 'nginx:1',
    args: ['a', 'b'],
    env: [
      { name: 'A', value: '1' },
      { name: 'B', valueFrom: { configMapKeyRef: { name: 'c', key: 'k' } } },
    ],
    ports: [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP', name: 'dns' }],
    resources: { requests: { cpu: '100m' }, limits: { memory: '1Gi' } },
    volumeMounts: [{ name: 'v', mountPath: '/v' }],
    readinessProbe: { httpGet: { path: '/', port: 80 } },
    securityContext: { capabilities: { drop: ['ALL'] } },
  }
  const pod = {
    containers: [container],
    volumes: [
      { name: 'v', emptyDir: {} },
      { name: 'w', configMap: { name: 'c', items: [{ key: 'k', path: 'p' }] } },
    ],
    tolerations: [{ key: 'k', operator: 'Exists' }],
    imagePullSecrets: [{ name: 'r' }],
    nodeSelector: { disk: 'ssd' },
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'zone',
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchLabels: { app: 'x' } },
      },
    ],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }],
        },
      },
    },
  }
  const selector = { matchLabels: { app: 'x' } }
  const template = { metadata: { labels: { app: 'x' } }, spec: pod }
  const object = (apiVersion: string, kind: string, rest: JsonObject): JsonObject => ({
    apiVersion,
    kind,
    metadata,
    ...rest,
  })
  return [
    object('apps/v1', 'Deployment', {
      spec: {
        replicas: 2,
        selector,
        template,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%' } },
      },
    }),
    object('apps/v1', 'StatefulSet', {
      spec: {
        serviceName: 'x',
        selector,
        template,
        volumeClaimTemplates: [
          {
            metadata: { name: 'd' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        ],
      },
    }),
    object('apps/v1', 'DaemonSet', { spec: { selector, template } }),
    object('v1', 'Service', {
      spec: {
        selector: { app: 'x' },
        ports: [
          { port: 80, name: 'http' },
          { port: 53, protocol: 'UDP', name: 'dns', targetPort: 'dns' },
        ],
      },
    }),
    object('v1', 'ConfigMap', { data: { a: '1', empty: '' } }),
    object('v1', 'Secret', { type: 'Opaque', data: { a: 'Yg==' } }),
    object('v1', 'ServiceAccount', {
      imagePullSecrets: [{ name: 'r' }],
      automountServiceAccountToken: false,
    }),
    object('batch/v1', 'CronJob', {
      spec: {
        schedule: '* * * * *',
        jobTemplate: { spec: { template: { spec: { ...pod, restartPolicy: 'Never' } } } },
      },
    }),
    object('networking.k8s.io/v1', 'Ingress', {
      spec: {
        rules: [
          {
            host: 'h.example',
            http: {
              paths: [
                {
                  path: '/',
                  pathType: 'Prefix',
                  backend: { service: { name: 'x', port: { number: 80 } } },
                },
              ],
            },
          },
        ],
      },
    }),
    object('networking.k8s.io/v1', 'NetworkPolicy', {
      spec: {
        podSelector: {},
        policyTypes: ['Ingress'],
        ingress: [{ from: [{ podSelector: selector }] }],
      },
    }),
    object('rbac.authorization.k8s.io/v1', 'Role', {
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
    }),
    object('rbac.authorization.k8s.io/v1', 'RoleBinding', {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'x' },
      subjects: [{ kind: 'ServiceAccount', name: 'x', namespace }],
    }),
    object('autoscaling/v2', 'HorizontalPodAutoscaler', {
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x' },
        maxReplicas: 3,
        metrics: [
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
          },
        ],
      },
    }),
    object('policy/v1', 'PodDisruptionBudget', { spec: { minAvailable: '50%', selector } }),
    object('v1', 'PersistentVolumeClaim', {
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    }),
    object('v1', 'ResourceQuota', { spec: { hard: { pods: '10' } } }),
  ]
}

/** Every list that a schema declares, by the names on the way; each definition once for each last two names. */
function visitLists(
  document: Json,
  schema: FieldSchema,
  names: readonly string[],
  see: (names: readonly string[], list: FieldSchema) => void,
): void {
  const fields = new Set<string>()
  for (const definition of Object.values(
    (at(document, 'components', 'schemas') ?? {}) as JsonObject,
  )) {
    for (const name of Object.keys((at(definition, 'properties') ?? {}) as JsonObject))
      fields.add(name)
  }
  const visit = (current: FieldSchema, path: readonly string[]): void => {
    if (path.length > 9) return
    for (const name of fields) {
      if (!current.hasField(name)) continue
      const below = current.getChildSchema(name)
      if (below.kind === 'list') see([...path, name], below)
      visit(below.kind === 'list' ? below.getItemSchema() : below, [...path, name])
    }
  }
  visit(schema, names)
}
