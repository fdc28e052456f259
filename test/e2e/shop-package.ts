/** The package that gets the 25 hand edits, and one full of what a server rewrites and defaults, which gets none. */
import { randomBytes } from 'node:crypto'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { kptfile } from './packages.ts'
import type { Files } from './world.ts'

/** A custom resource with list-map keys and defaults; a group of its own, because it is cluster-scoped. */
export interface CustomKind {
  readonly group: string
  readonly apiVersion: string
}

export async function createWidgetKind(plane: ControlPlane): Promise<CustomKind> {
  const group = `e2e-${randomBytes(4).toString('hex')}.example.com`
  const endpoint = {
    type: 'object',
    required: ['name', 'protocol'],
    properties: {
      name: { type: 'string' },
      protocol: { type: 'string', default: 'TCP' },
      port: { type: 'integer' },
      weight: { type: 'integer', default: 10 },
    },
  }
  const spec = {
    type: 'object',
    properties: {
      size: { type: 'integer' },
      policy: { type: 'string', default: 'Soft' },
      endpoints: {
        type: 'array',
        items: endpoint,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name', 'protocol'],
      },
      zones: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    },
  }
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
  await createDefinition(plane, {
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  })
  return { group, apiVersion: `${group}/v1` }
}

/** As `kpt live install-resource-group` has it, in what counts here. On a shared plane somebody else may have made it. */
export async function createResourceGroupKind(plane: ControlPlane): Promise<void> {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: open, status: open } } }
  await createDefinition(plane, {
    metadata: { name: 'resourcegroups.kpt.dev' },
    spec: {
      group: 'kpt.dev',
      scope: 'Namespaced',
      names: {
        plural: 'resourcegroups',
        singular: 'resourcegroup',
        kind: 'ResourceGroup',
        listKind: 'ResourceGroupList',
      },
      versions: [
        { name: 'v1alpha1', served: true, storage: true, schema, subresources: { status: {} } },
      ],
    },
  })
}

export async function createDefinition(
  plane: ControlPlane,
  definition: { readonly metadata: { readonly name: string }; readonly spec: object },
): Promise<void> {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const body = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    ...definition,
  }
  const created = await plane.request('POST', path, { body })
  if (created.status !== 201 && created.status !== 409)
    throw new Error(JSON.stringify(created.body))
  const wait = [
    'wait',
    '--for=condition=Established',
    `crd/${definition.metadata.name}`,
    '--timeout=4m',
  ]
  await plane.kubectl(wait)
}

export const INVENTORY_ID = 'shop-inventory-7f3a'

/** Sixteen objects of fourteen kinds. */
export function shopPackage(namespace: string, widget: CustomKind): Files {
  const meta = (name: string): string => `metadata:\n  name: ${name}\n  namespace: ${namespace}\n`
  return {
    'apps/shop/Kptfile': kptfile('shop'),
    'apps/shop/resourcegroup.yaml': `apiVersion: kpt.dev/v1alpha1
kind: ResourceGroup
${meta('shop')}  labels:
    cli-utils.sigs.k8s.io/inventory-id: ${INVENTORY_ID}
`,
    'apps/shop/web.yaml': `apiVersion: apps/v1
kind: Deployment
${meta('web')}  labels:
    app: web
    team: shop
  annotations:
    example.com/contact: shop@example.com
spec:
  replicas: 3
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: app
        image: example.com/shop/web:1.4.2
        env:
        - name: LOG_LEVEL
          value: info
        - name: FEATURE_BASKET
          value: "on"
      - name: proxy
        image: example.com/proxy:2
---
apiVersion: v1
kind: Service
${meta('web')}spec:
  selector: {app: web}
  ports:
  - name: http
    port: 80
    targetPort: 8080
`,
    'apps/shop/api.yaml': `apiVersion: apps/v1
kind: Deployment
${meta('api')}spec:
  replicas: 2
  selector:
    matchLabels: {app: api}
  template:
    metadata:
      labels: {app: api}
    spec:
      containers:
      - name: api
        image: example.com/shop/api:3
        ports:
        - containerPort: 8080
        resources:
          limits: {memory: 256Mi}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
${meta('api')}spec:
  minAvailable: 1
  selector:
    matchLabels: {app: api}
`,
    'apps/shop/config.yaml': `apiVersion: v1
kind: ConfigMap
${meta('settings')}data:
  timeout: "30"
  app.properties: |
    theme=light
    basket=on
---
apiVersion: v1
kind: ConfigMap
${meta('limits')}data:
  burst: "100"
  rate: "10"
---
apiVersion: v1
kind: ConfigMap
${meta('doomed')}data:
  answer: "42"
`,
    'apps/shop/secret.yaml': `apiVersion: v1
kind: Secret
${meta('database')}type: Opaque
stringData:
  username: shop
  password: git-side-of-the-secret
`,
    'apps/shop/rbac.yaml': `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
${meta('reader')}rules:
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get]
---
apiVersion: v1
kind: ServiceAccount
${meta('reader')}`,
    'apps/shop/database.yaml': `apiVersion: apps/v1
kind: StatefulSet
${meta('database')}spec:
  serviceName: database
  replicas: 1
  selector:
    matchLabels: {app: database}
  template:
    metadata:
      labels: {app: database}
    spec:
      containers:
      - name: db
        image: example.com/postgres:17
`,
    'apps/shop/jobs.yaml': `apiVersion: batch/v1
kind: CronJob
${meta('cleanup')}spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
          - name: cleanup
            image: example.com/cleanup:1
`,
    'apps/shop/network.yaml': `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
${meta('api')}spec:
  podSelector:
    matchLabels: {app: api}
  policyTypes: [Ingress]
  ingress:
  - from:
    - podSelector:
        matchLabels: {app: web}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
${meta('web')}spec:
  rules:
  - host: shop.example.com
    http:
      paths:
      - path: /
        pathType: Prefix
        backend:
          service: {name: web, port: {number: 80}}
`,
    'apps/shop/widget.yaml': `apiVersion: ${widget.apiVersion}
kind: Widget
${meta('gear')}spec:
  size: 3
  endpoints:
  - name: main
    port: 8443
  - name: main
    protocol: UDP
    port: 9443
  zones: [a, b]
`,
  }
}

/** Nobody touches it: every line of a diff of it is a false one. Full of values that the server rewrites, defaults or drops. */
export function calmPackage(namespace: string, widget: CustomKind): Files {
  const meta = (name: string): string => `metadata:\n  name: ${name}\n  namespace: ${namespace}\n`
  return {
    'apps/calm/Kptfile': kptfile('calm'),
    'apps/calm/deployment.yaml': `apiVersion: apps/v1
kind: Deployment
${meta('calm')}  creationTimestamp: null
  labels: {}
  annotations:
    example.com/empty: ""
spec:
  selector:
    matchLabels: {app: calm}
  strategy: {}
  template:
    metadata:
      creationTimestamp: null
      labels: {app: calm}
    spec:
      securityContext: {}
      containers:
      - name: app
        image: example.com/calm
        args: []
        env:
        - name: EMPTY
          value: ""
        - name: NAME
          valueFrom: {fieldRef: {fieldPath: metadata.name}}
        ports:
        - containerPort: 53
        - containerPort: 53
          protocol: UDP
        resources:
          limits: {cpu: 1000m, memory: 1024Mi}
          requests: {cpu: "0.5", memory: 1073741824}
        livenessProbe:
          httpGet: {path: /, port: 53}
        volumeMounts:
        - {name: scratch, mountPath: /tmp}
        - {name: config, mountPath: /etc/calm}
      volumes:
      - {name: scratch, emptyDir: {}}
      - name: config
        projected:
          sources:
          - configMap: {name: calm}
status: {}
`,
    'apps/calm/rest.yaml': `apiVersion: v1
kind: Service
${meta('calm')}spec:
  selector: {app: calm}
  ports:
  - {name: dns, port: 53, protocol: UDP}
  - {name: dns-tcp, port: 53}
---
apiVersion: v1
kind: ConfigMap
${meta('calm')}binaryData:
  blob: AAEC
data:
  big: "9007199254740993"
  text: |
    a line
---
apiVersion: v1
kind: Secret
${meta('calm')}stringData:
  password: nobody-touches-this
data:
  token: YWJj
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
${meta('calm')}spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: calm}
  maxReplicas: 3
  metrics:
  - type: Resource
    resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}
---
apiVersion: v1
kind: PersistentVolumeClaim
${meta('calm')}spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1024Mi}}
---
apiVersion: apps/v1
kind: StatefulSet
${meta('calm')}spec:
  serviceName: calm
  replicas: 0
  selector: {matchLabels: {app: calm-set}}
  template:
    metadata: {labels: {app: calm-set}}
    spec:
      containers:
      - {name: db, image: "example.com/db:1"}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec:
      accessModes: [ReadWriteOnce]
      resources: {requests: {storage: 1Gi}}
---
apiVersion: ${widget.apiVersion}
kind: Widget
${meta('calm')}spec:
  size: 1
  endpoints:
  - {name: only, port: 1}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
${meta('calm')}roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: calm}
subjects:
- {kind: ServiceAccount, name: default}
`,
  }
}
