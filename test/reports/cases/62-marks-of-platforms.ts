/** infra-deployments#13004, argo-cd#4628, #14666: what OpenShift, Rancher, GKE and EKS write into metadata by themselves. */
import { type Lab, type ReportCase, tell } from '../lab.ts'

type Mark = readonly [manager: string, object: string, patch: object]

const SCC = 'openshift.io/sa.scc'
const PSS = 'pod-security.kubernetes.io'
const secret = [{ name: 'app-dockercfg-x7k2p' }]
const metadata = (parts: {
  labels?: object
  annotations?: object
  finalizers?: readonly string[]
}): object => ({ metadata: parts })

const marksOf = (namespace: string): Readonly<Record<string, readonly Mark[]>> => ({
  'OpenShift, namespace': [
    [
      'cluster-policy-controller',
      `namespace/${namespace}`,
      metadata({
        annotations: {
          [`${SCC}.mcs`]: 's0:c26,c5',
          [`${SCC}.supplemental-groups`]: '1000660000/10000',
          [`${SCC}.uid-range`]: '1000660000/10000',
        },
      }),
    ],
    [
      'pod-security-admission-label-synchronization-controller',
      `namespace/${namespace}`,
      metadata({
        labels: {
          [`${PSS}/warn`]: 'restricted',
          [`${PSS}/warn-version`]: 'latest',
          [`${PSS}/audit`]: 'restricted',
          [`${PSS}/audit-version`]: 'latest',
        },
      }),
    ],
  ],
  'OpenShift, service account': [
    [
      'openshift-controller-manager',
      'serviceaccount/app',
      {
        ...metadata({
          annotations: { 'openshift.io/internal-registry-pull-secret-ref': 'app-dockercfg-x7k2p' },
        }),
        imagePullSecrets: secret,
        secrets: secret,
      },
    ],
  ],
  Rancher: [
    [
      'rancher',
      `namespace/${namespace}`,
      metadata({
        annotations: {
          'cattle.io/status': '{"Conditions":[]}',
          'field.cattle.io/projectId': 'c-m-abc:p-xyz',
          'lifecycle.cattle.io/create.namespace-auth': 'true',
        },
        labels: { 'field.cattle.io/projectId': 'p-xyz' },
        finalizers: ['controller.cattle.io/namespace-auth'],
      }),
    ],
    [
      'agent',
      'deployment/web',
      metadata({ annotations: { 'field.cattle.io/publicEndpoints': '[{"port":80}]' } }),
    ],
  ],
  GKE: [
    [
      'glbc',
      'service/web',
      metadata({ annotations: { 'cloud.google.com/neg-status': '{"zones":["europe-west1-b"]}' } }),
    ],
    [
      'glbc',
      'ingress/web',
      metadata({
        annotations: {
          'ingress.kubernetes.io/backends': '{}',
          'ingress.kubernetes.io/url-map': 'k8s2-um-x',
          'ingress.kubernetes.io/forwarding-rule': 'k8s2-fr-x',
          'ingress.kubernetes.io/target-proxy': 'k8s2-tp-x',
        },
        finalizers: ['networking.gke.io/ingress-finalizer-V2'],
      }),
    ],
  ],
  EKS: [
    ['controller', 'service/web', metadata({ finalizers: ['service.k8s.aws/resources'] })],
    [
      'controller',
      'ingress/web',
      metadata({
        finalizers: ['networking.gke.io/ingress-finalizer-V2', 'ingress.k8s.aws/resources'],
      }),
    ],
  ],
})

export const reported: ReportCase = {
  right: 'what five platforms write into metadata is quiet or low; what a person annotates is told',
  before: 'OpenShift 8 lines, 4 critical; Rancher 6; GKE 1',
  async run(lab) {
    const namespace = `${lab.namespace}-p`
    await lab.files({ 'all.yaml': OBJECTS(namespace) })
    await lab.serverSide()
    lab.checkQuiet('before', await lab.diff())
    for (const [platform, marks] of Object.entries(marksOf(namespace))) {
      for (const [manager, object, patch] of marks)
        await lab.patch(object, patch, { type: 'merge', manager, namespace })
      await expectQuietOrLow(lab, platform)
    }
    await lab.kubectl('annotate', 'service/web', 'owner=jo', `--namespace=${namespace}`)
    const diff = await lab.diff()
    lab.check(
      'a person',
      diff.lines.some((line) => line.includes('owner')),
      tell(diff),
    )
    await lab.patch('ingress/web', metadata({ finalizers: [] }), { type: 'merge', namespace })
    await lab.patch('service/web', metadata({ finalizers: [] }), { type: 'merge', namespace })
    await lab.patch(`namespace/${namespace}`, metadata({ finalizers: [] }), {
      type: 'merge',
      namespace,
    })
    await lab.kubectl('delete', 'namespace', namespace, '--wait=false')
  },
}

async function expectQuietOrLow(lab: Lab, platform: string): Promise<void> {
  const diff = await lab.diff()
  const changes = (diff.list?.items ?? []).flatMap(({ spec }) => spec.changes)
  const isLow =
    diff.list !== undefined &&
    diff.list.incomplete.length === 0 &&
    changes.every(({ risk }) => risk === 'low')
  lab.check(
    platform,
    isLow,
    diff.lines.length === 0 ? 'quiet' : `${changes.map(({ risk }) => risk)} · ${tell(diff)}`,
  )
}

const OBJECTS = (namespace: string): string => `apiVersion: v1
kind: Namespace
metadata: {name: ${namespace}, labels: {team: a}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: app, namespace: ${namespace}, labels: {team: a}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: ${namespace}, annotations: {cloud.google.com/neg: '{"ingress": true}'}}
spec: {ports: [{port: 80}], selector: {a: b}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: ${namespace}, labels: {team: a}}
spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: ${namespace}}
spec: {replicas: 0, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: "i:1"}]}}}
`
