/**
 * Objects that are written oddly and have fields that functions change: what a package may hold, and what nobody thinks of. The texts share
 * few names (`web`, `dev`, `nginx:1.0`, `value`, `80`), so that the configs of all functions match some of them.
 */
import { ODD_OTHER_DOCUMENTS } from './odd-other-documents.ts'

/** YAML documents, each with one object. */
export const ODD_DOCUMENTS: readonly string[] = [
  `apiVersion: v1
kind: ConfigMap
metadata:
  name: web
  namespace: dev
data:
  plain: value
  quoted: "80"
  single: 'value'
  number: 80
  switch: on
  empty: ""
  nothing:
`,
  `apiVersion: v1
kind: ConfigMap
metadata: {name: "flow", namespace: 'dev', labels: {app: web}}
data: {a: 'x', plain: "value", list: "[a, b]"}
`,
  `# about the object
apiVersion: v1
kind: ConfigMap
metadata: # its name
  name: text # kpt-set: \${name}
  # its namespace
  namespace: "dev" # kpt-set: \${namespace}
  annotations:
    owner: value
data:
  block: |
    value 1
    value 2
  folded: >-
    value
    more
  kept: |+
    dev

  script: |
    #!/bin/sh
    echo nginx:1.0 web
# behind it
`,
  `apiVersion: v1
kind: Namespace
metadata:
  name: dev
`,
  `apiVersion: v1
kind: Namespace
metadata:
  name: other
  labels:
    app: web
  annotations:
    config.kubernetes.io/depends-on: /Namespace/dev
`,
  `apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: dev
  annotations: {}
spec:
  selector: {app: web}
  ports:
    - name: http
      port: 80 # kpt-set: \${port}
      targetPort: "80"
`,
  `apiVersion: v1
kind: Service
metadata:
  name: headless
spec:
  clusterIP: None
  selector:
    app: 'web'
  ports:
  - port: 8080
    protocol: TCP
`,
  `apiVersion: v1
kind: ServiceAccount
metadata:
  name: sa
  namespace: dev
`,
  `apiVersion: v1
kind: ServiceAccount
metadata:
  name: default
`,
  `apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: rb
  namespace: dev
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
subjects:
- kind: ServiceAccount
  name: sa
  namespace: dev
- kind: ServiceAccount
  name: default
  namespace: other
- kind: User
  name: web
  apiGroup: rbac.authorization.k8s.io
`,
  `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: crb
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: cr
subjects:
  - kind: ServiceAccount
    name: "sa"
    namespace: "dev"
  - kind: ServiceAccount
    name: default
    namespace: default
  - kind: Group
    name: dev
`,
  `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: cr
rules:
- apiGroups: ['']
  resources: [configmaps, secrets]
  resourceNames: [web, cfg]
  verbs: ["get"]
`,
  `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: r
  namespace: dev
rules: []
`,
  `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: dev
  labels:
    app: web
spec:
  replicas: 3 # kpt-set: \${replicas}
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      initContainers:
      - name: init
        image: nginx:1.0
      containers:
      - name: web
        image: nginx:1.0 # kpt-set: \${image}:\${tag}
        env:
        - name: MODE
          value: value
        - name: FROM
          valueFrom:
            configMapKeyRef: {name: web, key: plain}
      - name: web-proxy
        image: reg/proxy:1.0
`,
  `apiVersion: apps/v1
kind: Deployment
metadata:
  name: bare
spec:
  template:
    spec:
      containers:
        - name: nginx
          image: "nginx"
        - name: other
          image: nginx@sha256:1111111111111111111111111111111111111111111111111111111111111111
        - name: port
          image: localhost:5000/nginx:1.0
        - name: library
          image: docker.io/library/nginx:1.0
        - image: nginx:1.0-alpine
          name: unnamed
        - name: none
`,
  `apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: db
  namespace: dev
spec:
  serviceName: web
  selector: {matchLabels: {app: web, tier: db}}
  template:
    metadata: {labels: {app: web, tier: db}, annotations: {owner: value}}
    spec:
      serviceAccountName: sa
      containers:
        - {name: db, image: 'nginx:1.0'}
      volumes:
        - name: cfg
          configMap: {name: web}
        - name: secret
          secret: {secretName: web}
  volumeClaimTemplates:
    - metadata:
        name: data
        labels: {app: web}
      spec: {storageClassName: value}
    - metadata: {name: more}
`,
  `apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: agent
  annotations:
    owner: value # who
spec:
  selector:
    matchLabels: {app: agent}
    matchExpressions:
      - {key: app, operator: In, values: [web, agent]}
  template:
    metadata:
      labels:
        app: agent
    spec:
      hostNetwork: yes
      containers:
        - name: agent
          image: nginx:1.0
      affinity:
        podAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - labelSelector:
                matchLabels:
                  app: web
              topologyKey: zone
`,
  `apiVersion: batch/v1
kind: Job
metadata:
  name: once
  namespace: dev
spec:
  template:
    spec:
      initContainers:
      - name: i
        image: nginx:1.0
      containers:
      - name: web
        image: nginx:1.0
      restartPolicy: Never
`,
  `apiVersion: batch/v1
kind: CronJob
metadata:
  name: nightly
  namespace: dev
spec:
  schedule: "0 2 * * *"
  jobTemplate:
    metadata:
      labels: {app: web}
    spec:
      template:
        metadata:
          annotations:
            owner: value
        spec:
          containers:
          - name: web
            image: nginx:1.0
            args: [value, 'dev', "80"]
`,
  `apiVersion: v1
kind: Pod
metadata:
  name: pod
  labels: {}
spec:
  containers:
  - name: web
    image: nginx:1.0
  ephemeralContainers:
  - name: debug
    image: nginx:1.0
`,
  `apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata:
  name: web
spec:
  replicas: 3
  selector:
    matchLabels: {app: web}
  template:
    spec:
      initContainers:
      - name: i
        image: nginx:1.0
      containers:
      - name: web
        image: nginx:1.0
`,
  ...ODD_OTHER_DOCUMENTS,
]

/** Files that kpt reads as kustomizations, by their text; none has to be complete. */
export const ODD_KUSTOMIZATIONS: readonly string[] = [
  `resources:
- one.yaml
`,
  `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- one.yaml
`,
  `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
metadata:
  name: web
  annotations:
    config.kubernetes.io/local-config: "true"
namespace: dev
commonLabels: {app: web}
images:
- name: nginx
  newTag: "1.0"
`,
]
