/** operate-first/apps#278, ClusterSecret#146, external-secrets#68: a controller copies an object with the marks of its syncer. */
import { waitUntil } from '../../waiting/wait-until.ts'
import { type Lab, type ReportCase, tell } from '../lab.ts'
import { configMap } from '../manifests.ts'

const FLUX = {
  'kustomize.toolkit.fluxcd.io/name': 'apps',
  'kustomize.toolkit.fluxcd.io/namespace': 'flux-system',
}

interface Marks {
  readonly manager: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

const marksIn = (namespace: string): Readonly<Record<string, Marks>> => ({
  'Flux labels': { manager: 'kustomize-controller', labels: FLUX },
  'Argo label': { manager: 'argocd-controller', labels: { 'app.kubernetes.io/instance': 'shop' } },
  'Argo tracking id': {
    manager: 'argocd-controller',
    annotations: { 'argocd.argoproj.io/tracking-id': `shop:/ConfigMap:${namespace}/c` },
  },
  'kpt inventory': {
    manager: 'kpt',
    annotations: { 'config.k8s.io/owning-inventory': 'inventory' },
  },
  'Config Sync': {
    manager: 'configsync',
    labels: { 'app.kubernetes.io/managed-by': 'configmanagement.gke.io' },
    annotations: {
      'configmanagement.gke.io/managed': 'enabled',
      'configsync.gke.io/manager': ':root',
      'configsync.gke.io/resource-id': `_configmap_${namespace}_c`,
      'config.k8s.io/owning-inventory': 'config-management-system_root-sync',
    },
  },
  Helm: {
    manager: 'helm',
    labels: { 'app.kubernetes.io/managed-by': 'Helm' },
    annotations: {
      'meta.helm.sh/release-name': 'shop',
      'meta.helm.sh/release-namespace': namespace,
    },
  },
  Kluctl: { manager: 'kluctl', labels: { 'kluctl.io/discriminator': 'lab' } },
})

export const reported: ReportCase = {
  right:
    'a copy that a controller made, with the marks of seven syncers, and the Endpoints of a Service are never unexpected',
  before: 'Flux, kpt, Helm, Kluctl and Endpoints: unexpected, Restore deletes them',
  async run(lab) {
    const { namespace } = lab
    await lab.files({ 'c.yaml': configMap(namespace, 'a: "1"') })
    for (const [label, { manager, labels = {}, annotations = {} }] of Object.entries(
      marksIn(namespace),
    )) {
      await lab.in('delete', 'configmap', '--all')
      const object = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'c', namespace, labels, annotations },
        data: { a: '1' },
      }
      await lab.pipe(
        JSON.stringify(object),
        'apply',
        '--server-side',
        `--field-manager=${manager}`,
        '-f',
        '-',
      )
      const copy = { ...object, metadata: { ...object.metadata, name: 'copy' } }
      await lab.pipe(JSON.stringify(copy), 'create', '--field-manager=replicator', '-f', '-')
      const diff = await lab.diff()
      const isExpected = !/unexpected/.test(diff.lines.join()) && diff.list !== undefined
      lab.check(label, isExpected, isExpected ? 'not unexpected' : tell(diff))
    }
    await lab.in('delete', 'configmap', '--all')
    await endpoints(lab)
  },
}

/** Kubernetes copies the labels of a Service to its Endpoints and EndpointSlices; the package has Endpoints of its own. */
async function endpoints(lab: Lab): Promise<void> {
  await lab.files({ 'c.yaml': services(lab.namespace, '') })
  const labels = `, labels: {${Object.entries(FLUX)
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ')}}`
  const apply = ['apply', '--server-side', '--field-manager=kustomize-controller', '-f', '-']
  await lab.pipe(services(lab.namespace, labels), ...apply)
  await waitUntil('the endpoints of the Service', async () => {
    const names = await lab.in(
      'get',
      'endpoints,endpointslices',
      '-o',
      'name',
      '-l',
      'kubernetes.io/service-name=shop',
    )
    return names.includes('endpointslice')
  })
  await waitUntil('the Endpoints of the Service', async () =>
    (await lab.in('get', 'endpoints', '-o', 'name')).includes('endpoints/shop'),
  )
  lab.checkQuiet('Endpoints of a Service', await lab.diff())
}

const services = (namespace: string, labels: string): string => `apiVersion: v1
kind: Service
metadata: {name: shop, namespace: ${namespace}${labels}}
spec: {selector: {app: x}, ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: ext, namespace: ${namespace}${labels}}
spec: {ports: [{port: 80}]}
---
apiVersion: v1
kind: Endpoints
metadata: {name: ext, namespace: ${namespace}${labels}}
subsets: [{addresses: [{ip: 192.0.2.1}], ports: [{port: 80}]}]
`
