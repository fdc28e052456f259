/** Odd objects of other kinds than workloads, for `odd-documents.ts`. */
export const ODD_OTHER_DOCUMENTS: readonly string[] = [
  `apiVersion: example.com/v1
kind: Widget
metadata:
  name: widget
  namespace: dev
spec:
  image: nginx:1.0
  containers:
  - image: nginx:1.0
  namespace: dev
  size: 80
  factor: 1.50
  mode: 017
  items: [value, dev, 'web'] # kpt-set: \${list}
  wide:
    # kpt-set: \${list}
    - value
    - dev
  blank: ~
`,
  `apiVersion: example.com/v1
kind: Widget
metadata:
  name: without-namespace
spec:
  items: # kpt-set: \${list}
  - value
  - "dev"
  pattern: web-value-80 # kpt-set: \${name}-\${value}-\${port}
  quoted: "80" # kpt-set: \${port}
  old: 80 # {"$kpt-set":"port"}
  partial: prefix-value # kpt-set: prefix-\${value}
  unknown: value # kpt-set: \${unknown}
`,
  `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: foos.example.com
spec:
  group: example.com
  names: {kind: Foo, plural: foos}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, default: {image: nginx:1.0}}}
`,
  `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  names:
    kind: Widget
    plural: widgets
  scope: Namespaced
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig:
        service:
          name: web
          namespace: dev
          path: /convert
`,
  `apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata:
  name: v1.example.com
spec:
  group: example.com
  version: v1
  groupPriorityMinimum: 100
  versionPriority: 100
  service:
    name: web
    namespace: "dev"
`,
  `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: hook
webhooks:
- name: hook.example.com
  clientConfig:
    service:
      name: web
      namespace: dev
  admissionReviewVersions: [v1]
  sideEffects: None
`,
  `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: allow
  namespace: dev
spec:
  podSelector:
    matchLabels: {app: web}
  ingress:
  - from:
    - podSelector: {matchLabels: {app: web}}
    - namespaceSelector: {matchLabels: {name: dev}}
  egress:
  - to:
    - podSelector:
        matchLabels:
          app: db
`,
  `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: web
  namespace: dev
  annotations:
    kubernetes.io/ingress.class: "nginx"
    config.kubernetes.io/depends-on: /namespaces/dev/Service/web
spec:
  rules:
  - host: value.example.com # kpt-set: \${value}.example.com
    http:
      paths:
      - path: /
        backend: {service: {name: web, port: {number: 80}}}
`,
  `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: pdb
  namespace: default
spec:
  minAvailable: 50%
  selector:
    matchLabels:
      app: web
`,
  `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: web
  namespace: dev
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 1
  maxReplicas: 3
`,
  `apiVersion: v1
kind: Secret
metadata:
  name: x
  namespace: dev
  annotations:
    internal.kpt.dev/upstream-identifier: '|Secret|default|SECRET'
type: Opaque
stringData:
  key: value
`,
  `apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  namespace: dev
  annotations:
    internal.kpt.dev/upstream-identifier: '|ConfigMap|dev|a'
data: {}
`,
  `apiVersion: v1
kind: ConfigMap
metadata:
  name: b
  namespace: other
  annotations:
    internal.kpt.dev/upstream-identifier: '|ConfigMap|other|b'
    config.kubernetes.io/depends-on: /namespaces/dev/ConfigMap/a,apps/namespaces/dev/Deployment/web
`,
  `apiVersion: v1
kind: ConfigMap
metadata:
  name: local
  annotations:
    config.kubernetes.io/local-config: "true"
data:
  namespace: dev
`,
  `apiVersion: v1
kind: ConfigMap
metadata:
  name: not-local
  namespace: ""
  annotations:
    config.kubernetes.io/local-config: "false"
data: {value: "value"}
`,
  `apiVersion: v1
kind: ConfigMap
metadata:
  name: alias
  labels: &l
    app: web
  annotations: *l
`,
  `apiVersion: v1
kind: ConfigMap
metadata:
  name: anchor
  namespace: &n dev
data:
  one: *n
  two: &v value
  three: *v
`,
  `apiVersion: v1
kind: ConfigMap
metadata:
  name: nothing
  namespace:
  labels:
  annotations:
data:
`,
  `apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: data
  namespace: dev
spec:
  accessModes:
    - ReadWriteOnce
  resources:
    requests: {storage: 1Gi}
  selector: {matchLabels: {app: web}}
`,
  `kind: ConfigMap
data:
  order: value
metadata:
  namespace: dev
  name: reversed
apiVersion: v1
`,
  `apiVersion: v1
kind: List
metadata:
  name: list
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: inner, namespace: dev}
  data: {plain: value}
`,
  `apiVersion: v1
kind: ResourceQuota
metadata:
  name: quota
  namespace: dev
spec:
  hard:
    pods: 10 # kpt-set: \${pods}
    cpu: "2"
    requests.memory: 1Gi
`,
  `apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: fast
  namespace: dev
provisioner: example.com/value
parameters:
  type: "80"
`,
  `apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: rs
  namespace: dev
spec:
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web, tier: front}
    spec:
      topologySpreadConstraints:
        - labelSelector: {matchLabels: {app: web}}
          maxSkew: 1
      containers: []
`,
  `apiVersion: example.com/v1
kind: Odd
metadata:
  name: odd
spec:
  "80": value
  a.b/c: dev
  empty-list: []
  empty-map: {}
  nested: [[value, dev], [80]]
  list:
    - name: value
      value: dev
    - value
    -
  multi: "value
    dev"
  unicode: "v\\u00e4lue ✓"
  long: this is a long text with the word value in it that goes on behind the column at which writers of YAML like to break a line into two
`,
  `apiVersion: v1
kind: ReplicationController
metadata:
  name: rc
  namespace: dev
spec:
  selector:
    app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - name: web
        image: reg.example.com/team/nginx:v1@sha256:2222222222222222222222222222222222222222222222222222222222222222
`,
]
