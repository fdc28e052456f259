/** A repository whose Kustomization builds a HelmRelease with a chart of the repository, and a recording without any resource of Flux. */
import type { ClusterReader, DeployedRelease } from '@backporch/cluster/cluster'
import { appliedBy } from '../fakes/live-object.ts'
import type { MemoryCluster } from '../fakes/memory-cluster.ts'
import { SyncedWorld } from '../fakes/synced-world.ts'
import { yaml } from '../fakes/turn-world.ts'

export const APPS = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec:
  interval: 10m
  sourceRef: {kind: GitRepository, name: flux-system}
  path: ./apps/production
  postBuild:
    substitute:
      tag: "1.27" # as released
`
export const RELEASE = `# the shop
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: web
  namespace: shop
spec:
  interval: 1h
  releaseName: shop
  chart:
    spec:
      chart: ./charts/web
      sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}
  valuesFrom:
  - kind: ConfigMap
    name: web-values
  values:
    replicas: 1
    image:
      tag: \${tag}
`
export const VALUES = `apiVersion: v1
kind: ConfigMap
metadata:
  name: web-values
  namespace: shop
data:
  values.yaml: |
    color: blue # as agreed
`
export const FILES = {
  'clusters/prod/apps.yaml': APPS,
  'apps/base/kustomization.yaml': 'resources:\n- release.yaml\n- values.yaml\n',
  'apps/base/release.yaml': RELEASE,
  'apps/base/values.yaml': VALUES,
  'apps/production/kustomization.yaml': 'resources:\n- ../base\npatches:\n- path: release.yaml\n',
  'apps/production/release.yaml': `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: shop}
spec:
  values:
    replicas: 3 # in production
`,
  'charts/web/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.2.3\n',
  'charts/web/values.yaml':
    'replicas: 1\ncolor: red\nimage:\n  repository: example.com/web # everywhere\n  tag: "1.0"\n',
  'charts/web/files/motto.txt': 'first of all\nlast of all\n',
  'charts/web/crds/crd.yaml':
    'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: shops.example.com}\nspec: {group: example.com}\n',
  'charts/web/templates/hook.yaml':
    'apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: migrate\n  annotations: {"helm.sh/hook": pre-upgrade}\nspec: {}\n',
  'charts/web/templates/motto.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-motto\ndata:\n  motto: |\n    {{- .Files.Get "files/motto.txt" | nindent 4 }}\n',
  'charts/web/templates/deployment.yaml': `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-web
spec:
  replicas: {{ .Values.replicas }}
  minReadySeconds: 5
  template:
    spec:
      containers:
      - name: app
        image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
        env:
        - name: COLOR
          value: {{ .Values.color | quote }}
`,
}
const ORIGIN = 'labels: {helm.toolkit.fluxcd.io/name: web, helm.toolkit.fluxcd.io/namespace: shop}'
export const MOTTO = `apiVersion: v1
kind: ConfigMap
metadata: {name: shop-motto, namespace: shop, ${ORIGIN}}
data: {motto: "first of all\\nlast of all\\n"}
`
export const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: shop-web, namespace: shop, ${ORIGIN}}
spec:
  replicas: 3
  minReadySeconds: 5
  template:
    spec:
      containers:
      - {name: app, image: "example.com/web:1.27", env: [{name: COLOR, value: blue}]}
`
export const STORED: DeployedRelease = {
  ...{
    namespace: 'shop',
    name: 'shop',
    revision: 1,
    status: 'deployed',
    chartTitle: 'web 1.2.3',
    chart: undefined,
  },
  values: { color: 'blue', replicas: 3, image: { tag: 1.27 } },
  manifest: DEPLOYMENT,
}

export class DeclaredReleaseWorld extends SyncedWorld {
  /** Counts in place of the cluster in memory. */
  recording: ClusterReader | undefined

  override get ports() {
    return { ...super.ports, cluster: (this.recording ?? this.cluster) as MemoryCluster }
  }

  constructor(helm: string, files: { readonly [path: string]: string } = {}) {
    super({ ...FILES, ...files }, ['kubectl', helm])
    const identify = this.cluster.identify.bind(this.cluster)
    this.cluster.identify = async () => ({ ...(await identify()), recorded: true })
    // The recording has nothing of Flux.
    this.cluster.unreadable.add('helm.toolkit.fluxcd.io/HelmRelease/shop/web')
    this.cluster.put(appliedBy('kustomize-controller', yaml(VALUES)))
    for (const text of [DEPLOYMENT, MOTTO])
      this.cluster.put(appliedBy('helm-controller', yaml(text)))
  }

  async notes(): Promise<readonly string[]> {
    const { view } = await this.scan()
    return view.problems
      .filter(({ cause }) => cause === 'source-not-compared')
      .map(({ subject, text }) => `${subject}: ${text}`)
  }
}

/** What is adopted of the Deployment, and the one line of a file that changes. */
export const ADOPTIONS = [
  [
    'a value of the overlay',
    'spec.replicas',
    4,
    'apps/production/release.yaml',
    'replicas: 3 #',
    'replicas: 4 #',
  ],
  [
    'a variable',
    'spec.template.spec.containers[name=app].image',
    'example.com/web:1.28',
    'clusters/prod/apps.yaml',
    '"1.27" #',
    '"1.28" #',
  ],
  [
    'a value of a ConfigMap',
    'spec.template.spec.containers[name=app].env[name=COLOR].value',
    'green',
    'apps/base/values.yaml',
    'color: blue #',
    'color: green #',
  ],
] as const
