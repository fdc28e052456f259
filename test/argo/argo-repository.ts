/**
 * A repository as Argo CD's documentation lays it out ("Cluster Bootstrapping", "Multiple Sources for an Application"): an app of apps, and
 * Applications with a folder of manifests, a kustomization, a chart, and a chart with its values beside it. No file of it is a Kptfile.
 */
import { type FileTexts, NAMESPACE } from './argo-case.ts'

/** The app of apps. */
export const ROOT = 'apps'

/** @param url of this repository, as Argo CD reads it */
export function argoRepository(url: string): FileTexts {
  return {
    'README.md': '# What runs in our cluster\n',
    ...applications(url),
    ...PLATFORM,
    ...SHOP,
    ...API,
    ...WORKER,
  }
}

/** What a person applies once: from then on the cluster follows the repository. */
export function bootstrapOf(files: FileTexts): string {
  return files[`applications/${ROOT}.yaml`] ?? ''
}

/** The kind, as small as an API server takes it: group, version, names and scope are Argo CD's, and the status is no subresource. The schema is open. */
export const DEFINITION = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: applications.argoproj.io
spec:
  group: argoproj.io
  scope: Namespaced
  names: {plural: applications, singular: application, kind: Application, listKind: ApplicationList}
  versions:
  - name: v1alpha1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

function applications(url: string): FileTexts {
  const application = (
    name: string,
    namespace: string,
    spec: string,
  ): string => `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: ${name}
  namespace: ${NAMESPACE}
spec:
  project: default
  destination:
    server: https://kubernetes.default.svc
    namespace: ${namespace}
${spec}`
  const source = `  source:\n    repoURL: ${url}\n    targetRevision: main\n`
  return {
    [`applications/${ROOT}.yaml`]: application(
      ROOT,
      NAMESPACE,
      `${source}    path: applications\n`,
    ),
    'applications/platform.yaml': application(
      'platform',
      'default',
      `${source}    path: platform
    directory:
      recurse: true
      exclude: '*.draft.yaml'
  syncPolicy:
    automated:
      prune: true # nothing of it is precious
    syncOptions:
    - ServerSideApply=true
`,
    ),
    'applications/shop.yaml': application(
      'shop',
      'shop',
      `${source}    path: shop/production
    kustomize:
      commonAnnotations:
        team: shop
      images:
      - example.com/shop/web:1.4.2 # as released on Monday
      replicas:
      - name: web
        count: 3 # two zones and a spare
      patches:
      - target:
          kind: Deployment
          name: web
        patch: |
          apiVersion: apps/v1
          kind: Deployment
          metadata:
            name: web
          spec:
            template:
              spec:
                containers:
                - name: app
                  env:
                  - name: LOG_LEVEL
                    value: info
`,
    ),
    'applications/shop-api.yaml': application(
      'shop-api',
      'api',
      `${source}    path: charts/api
    helm:
      releaseName: api
      valueFiles:
      - values-production.yaml
      valuesObject:
        logLevel: info # debug is expensive
        resources:
          memory: 128Mi
      parameters:
      - name: image.tag
        value: 2.0.1 # as released on Tuesday
        forceString: true
`,
    ),
    'applications/shop-worker.yaml': application(
      'shop-worker',
      'jobs',
      `  sources:
  - repoURL: ${url}
    targetRevision: main
    path: charts/worker
    helm:
      releaseName: nightly
      valueFiles:
      - $values/environments/production/worker.yaml
  - repoURL: ${url}
    targetRevision: main
    ref: values
  - repoURL: ${url}
    targetRevision: main
    path: environments/production/manifests
`,
    ),
  }
}

const PLATFORM: FileTexts = {
  'platform/namespaces.yaml': ['shop', 'api', 'jobs']
    .map((name) => `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ${name}\n`)
    .join('---\n'),
  'platform/rbac/reader.yaml': `apiVersion: v1
kind: ServiceAccount
metadata:
  name: reader
automountServiceAccountToken: false # it asks for a token of its own
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: reader
rules:
- apiGroups: [networking.k8s.io]
  resources: [ingresses]
  verbs: [get, list, watch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: reader
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: reader
subjects:
- kind: ServiceAccount
  name: reader
  namespace: default
`,
  'platform/network/policy.yaml': `# Nobody talks to the shop but the load balancer.
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: shop
  namespace: shop
spec:
  podSelector: {}
  policyTypes: [Ingress]
  ingress:
  - from:
    - ipBlock:
        cidr: 10.0.0.0/16
`,
  'platform/limits/quota.yaml': `apiVersion: v1
kind: ResourceQuota
metadata:
  name: jobs
  namespace: jobs
spec:
  hard:
    pods: "20" # more do not fit
`,
  'platform/limits/quota.draft.yaml': `apiVersion: v1
kind: ResourceQuota
metadata:
  name: jobs
  namespace: jobs
spec:
  hard:
    pods: "100"
`,
}

const SHOP: FileTexts = {
  'shop/base/kustomization.yaml': `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- deployment.yaml
- service.yaml
- config.yaml
`,
  'shop/base/deployment.yaml': `# The shop's front end.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - name: app
        image: example.com/shop/web
        env:
        - name: LOG_LEVEL
          value: warn
        resources:
          requests: {cpu: 100m, memory: 64Mi}
`,
  'shop/base/service.yaml': `apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  selector:
    app: web
  ports:
  - name: http
    port: 80
    targetPort: 8080
`,
  'shop/base/config.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: web
data:
  url: https://shop.example.com
  theme: 'light' # as the designers want it
`,
  'shop/production/kustomization.yaml': `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- ../base
patches:
- path: web-memory.yaml
`,
  'shop/production/web-memory.yaml': `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      containers:
      - name: app
        resources:
          limits:
            memory: 128Mi # twice what it needs
`,
}

const API: FileTexts = {
  'charts/api/Chart.yaml': 'apiVersion: v2\nname: api\nversion: 0.3.0\nappVersion: "2.0"\n',
  'charts/api/values.yaml': `replicas: 1
logLevel: warn
image:
  repository: example.com/shop/api
  tag: latest
service:
  port: 80
resources:
  memory: 64Mi
`,
  'charts/api/values-production.yaml': `replicas: 2 # one for each zone
service:
  port: 8080
`,
  'charts/api/templates/_helpers.tpl': `{{- define "api.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
`,
  'charts/api/templates/deployment.yaml': `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
  labels:
    {{- include "api.labels" . | nindent 4 }}
spec:
  replicas: {{ .Values.replicas }}
  selector:
    matchLabels:
      {{- include "api.labels" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "api.labels" . | nindent 8 }}
    spec:
      containers:
      - name: api
        image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
        env:
        - name: LOG_LEVEL
          value: {{ .Values.logLevel | quote }}
        resources:
          limits:
            memory: {{ .Values.resources.memory }}
`,
  'charts/api/templates/service.yaml': `apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}
  namespace: {{ .Release.Namespace }}
spec:
  selector:
    {{- include "api.labels" . | nindent 4 }}
  ports:
  - port: {{ .Values.service.port }}
    targetPort: 8080
`,
  'charts/api/templates/budget.yaml': `{{- if .Capabilities.APIVersions.Has "policy/v1/PodDisruptionBudget" }}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .Release.Name }}
spec:
  minAvailable: 1
  selector:
    matchLabels:
      {{- include "api.labels" . | nindent 6 }}
{{- end }}
`,
}

const WORKER: FileTexts = {
  'charts/worker/Chart.yaml': 'apiVersion: v2\nname: worker\nversion: 0.1.0\n',
  'charts/worker/values.yaml':
    'schedule: "0 4 * * *"\nsuspend: false\nimage: example.com/shop/worker:1.0\n',
  'charts/worker/templates/cronjob.yaml': `apiVersion: batch/v1
kind: CronJob
metadata:
  name: {{ .Release.Name }}-worker
spec:
  schedule: {{ .Values.schedule | quote }}
  suspend: {{ .Values.suspend }}
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
          - name: worker
            image: {{ .Values.image }}
`,
  'environments/production/worker.yaml': `# Values of the chart.
schedule: "30 2 * * *" # after the backup
`,
  'environments/production/manifests/limits.yaml': `apiVersion: v1
kind: LimitRange
metadata:
  name: worker
spec:
  limits:
  - type: Container
    default:
      memory: 256Mi
`,
  'environments/production/manifests/mail.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: mail
data:
  to: ops@example.com
`,
}
