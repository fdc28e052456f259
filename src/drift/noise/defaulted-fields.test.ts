import { test } from 'node:test'
import type { Json } from '@backporch/kyaml/json'
import {
  assertMutes,
  assertNotAbout,
  assertShows,
  type Edit,
} from '../../../test/fakes/noise-samples.ts'

const WEB = 'apps/v1 Deployment shop/web'
const APP = 'spec.template.spec.containers[name=app]'
const add = (of: string, at: string, live: Json, by = 'kubectl-create'): Edit => ({
  of,
  at,
  live,
  by,
})

/** Kind, path, what the server puts there, and another value. */
const ROWS: readonly (readonly [of: string, at: string, value: Json, other: Json])[] = [
  [WEB, 'spec.strategy.type', 'RollingUpdate', 'Recreate'],
  [WEB, 'spec.strategy.rollingUpdate.maxSurge', '25%', 1],
  [WEB, 'spec.template.spec.dnsPolicy', 'ClusterFirst', 'None'],
  [WEB, 'spec.template.spec.securityContext', {}, { runAsUser: 0 }],
  [WEB, `${APP}.terminationMessagePolicy`, 'File', 'FallbackToLogsOnError'],
  [WEB, `${APP}.resources`, {}, { limits: { cpu: '1' } }],
  [WEB, `${APP}.readinessProbe.periodSeconds`, 10, 1],
  [
    'batch/v1 CronJob shop/tidy',
    'spec.jobTemplate.spec.template.spec.terminationGracePeriodSeconds',
    30,
    0,
  ],
  ['apps/v1 StatefulSet shop/db', 'spec.updateStrategy.rollingUpdate.partition', 0, 3],
  ['apps/v1 DaemonSet shop/log', 'spec.updateStrategy.rollingUpdate.maxUnavailable', 1, 10],
  ['batch/v1 Job shop/once', 'spec.suspend', false, true],
  ['batch/v1 CronJob shop/tidy', 'spec.concurrencyPolicy', 'Allow', 'Forbid'],
  ['v1 Service shop/web', 'spec.type', 'ClusterIP', 'NodePort'],
  ['v1 Secret shop/web', 'type', 'Opaque', 'kubernetes.io/tls'],
  ['v1 PersistentVolumeClaim shop/data', 'spec.volumeMode', 'Filesystem', 'Block'],
  ['storage.k8s.io/v1 StorageClass fast', 'reclaimPolicy', 'Delete', 'Retain'],
  [
    'admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration check',
    'webhooks[name=a.b.c].failurePolicy',
    'Fail',
    'Ignore',
  ],
  [
    'apiextensions.k8s.io/v1 CustomResourceDefinition x.y.z',
    'spec.conversion.strategy',
    'None',
    'Webhook',
  ],
]

for (const [of, at, value, other] of ROWS) {
  test(`${at} of ${of.split(' ')[1]} is no edit with the server's default, and is one with another value`, () => {
    assertMutes('defaulted-fields', add(of, at, value))
    assertShows('defaulted-fields', add(of, at, other), {}, /^the server's default is /)
    assertNotAbout('defaulted-fields', { ...add(of, at, value), git: other })
  })
}

test('the default pull policy depends on the image, and the target port on the port', () => {
  const live = (image: string) => ({
    live: { spec: { template: { spec: { containers: [{ name: 'app', image }] } } } },
  })
  const policy = (value: string): Edit => add(WEB, `${APP}.imagePullPolicy`, value)
  for (const image of ['nginx', 'nginx:latest', 'localhost:5000/nginx']) {
    assertMutes('defaulted-fields', policy('Always'), live(image))
    assertShows('defaulted-fields', policy('IfNotPresent'), live(image))
  }
  for (const image of [
    'nginx:1.27',
    'nginx@sha256:0000',
    'localhost:5000/nginx:latest@sha256:0000',
  ]) {
    assertMutes('defaulted-fields', policy('IfNotPresent'), live(image))
    assertShows('defaulted-fields', policy('Always'), live(image))
  }
  const service = { live: { spec: { ports: [{ port: 80, protocol: 'TCP' }] } } }
  assertMutes(
    'defaulted-fields',
    add('v1 Service shop/web', 'spec.ports[port=80,protocol=TCP].targetPort', 80),
    service,
  )
  assertShows(
    'defaulted-fields',
    add('v1 Service shop/web', 'spec.ports[port=80,protocol=TCP].targetPort', 81),
    service,
  )
})

test('a replica count never counts as a default on an existing object', () => {
  assertNotAbout('defaulted-fields', add(WEB, 'spec.replicas', 1))
  assertNotAbout('defaulted-fields', add('v1 ConfigMap shop/web', 'data.dnsPolicy', 'ClusterFirst'))
  assertNotAbout('defaulted-fields', add(WEB, `${APP}.env[name=A]`, { name: 'A' }))
})
