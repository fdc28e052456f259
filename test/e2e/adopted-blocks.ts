/** Hand edits that remove a block or put another one in its place, each with the manifest that a person would write for it. */
export interface BlockEdit {
  /** Unique: the name of the object. */
  readonly name: string
  /** As kubectl names it. */
  readonly kind: string
  readonly manifest: string
  /** A JSON patch. */
  readonly patch: readonly object[]
  /** A part of the manifest and what takes its place; the first one is unique in the manifest. */
  readonly from: string
  readonly to: string
}

const POD = '/spec/template/spec'
const CONTAINER = `${POD}/containers/0`

function remove(path: string): object {
  return { op: 'remove', path }
}

function replace(path: string, value: unknown): object {
  return { op: 'replace', path, value }
}

function add(path: string, value: unknown): object {
  return { op: 'add', path, value }
}

function indent(text: string, spaces: number): string {
  return text.replace(/^(?=.)/gm, ' '.repeat(spaces))
}

/** A workload without pods. @param pod and @param container lines below the pod and its container, not indented */
function workload(
  kind: 'Deployment' | 'StatefulSet' | 'DaemonSet',
  name: string,
  parts: { readonly spec?: string; readonly pod?: string; readonly container?: string },
): string {
  const replicas =
    kind === 'DaemonSet'
      ? ''
      : `  replicas: 0\n${kind === 'StatefulSet' ? `  serviceName: ${name}\n` : ''}`
  return `apiVersion: apps/v1
kind: ${kind}
metadata:
  name: ${name}
spec:
${replicas}${indent(parts.spec ?? '', 2)}  selector:
    matchLabels:
      app: ${name}
  template:
    metadata:
      labels:
        app: ${name}
    spec:
      nodeSelector:
        disk: none # on no node
${indent(parts.pod ?? '', 6)}      containers:
        - name: app
          image: example.com/app:1
${indent(parts.container ?? '', 10)}`
}

function edited(
  kind: 'Deployment' | 'StatefulSet' | 'DaemonSet',
  name: string,
  part: 'spec' | 'pod' | 'container',
  [text, to]: readonly [string, string],
  ...patch: readonly object[]
): BlockEdit {
  const spaces = part === 'spec' ? 2 : part === 'pod' ? 6 : 10
  const [own, after] = [indent(text, spaces), indent(to, spaces)]
  return {
    name,
    kind: kind.toLowerCase(),
    manifest: workload(kind, name, { [part]: text }),
    patch,
    from: own,
    to: after,
  }
}

const PROBE = 'probe:\n  httpGet:\n    path: /up\n    port: 8080\n  periodSeconds: 5\n'
const named = (probe: string, text = PROBE): string => text.replace('probe', probe)

const WORKLOADS: readonly BlockEdit[] = [
  edited(
    'Deployment',
    'readiness',
    'container',
    [named('readinessProbe'), ''],
    remove(`${CONTAINER}/readinessProbe`),
  ),
  edited(
    'Deployment',
    'liveness-exec',
    'container',
    ['livenessProbe:\n  exec:\n    command:\n      - "true"\n', ''],
    remove(`${CONTAINER}/livenessProbe`),
  ),
  edited(
    'Deployment',
    'handler',
    'container',
    [named('livenessProbe'), 'livenessProbe:\n  periodSeconds: 5\n  tcpSocket:\n    port: 80\n'],
    replace(`${CONTAINER}/livenessProbe`, { periodSeconds: 5, tcpSocket: { port: 80 } }),
  ),
  edited(
    'Deployment',
    'pre-stop',
    'container',
    ['lifecycle:\n  preStop:\n    exec:\n      command: [sleep, "5"]\n', ''],
    remove(`${CONTAINER}/lifecycle`),
  ),
  edited(
    'Deployment',
    'one-hook',
    'container',
    [
      'lifecycle:\n  postStart:\n    exec:\n      command: [date]\n  preStop:\n    exec:\n      command: [sleep, "5"]\n',
      'lifecycle:\n  postStart:\n    exec:\n      command: [date]\n',
    ],
    remove(`${CONTAINER}/lifecycle/preStop`),
  ),
  edited(
    'Deployment',
    'recreate',
    'spec',
    [
      'strategy:\n  type: RollingUpdate\n  rollingUpdate:\n    maxSurge: 2\n    maxUnavailable: 0\n',
      'strategy:\n  type: Recreate\n',
    ],
    replace('/spec/strategy', { type: 'Recreate' }),
  ),
  edited(
    'Deployment',
    'recreate-by-type',
    'spec',
    ['strategy:\n  type: RollingUpdate\n', 'strategy:\n  type: Recreate\n'],
    replace('/spec/strategy', { type: 'Recreate' }),
  ),
  edited(
    'Deployment',
    'limits',
    'container',
    [
      'resources:\n  requests:\n    cpu: 10m\n  limits:\n    cpu: "1"\n    memory: 64Mi\n',
      'resources:\n  requests:\n    cpu: 10m\n',
    ],
    remove(`${CONTAINER}/resources/limits`),
  ),
  edited(
    'Deployment',
    'env',
    'container',
    ['env:\n  - name: A\n    value: a\n  - name: B\n    value: b\n', ''],
    remove(`${CONTAINER}/env`),
  ),
  edited(
    'Deployment',
    'value-from',
    'container',
    [
      'env:\n  - name: A\n    value: a\n',
      'env:\n  - name: A\n    valueFrom:\n      fieldRef:\n        fieldPath: metadata.name\n',
    ],
    replace(`${CONTAINER}/env/0`, {
      name: 'A',
      valueFrom: { fieldRef: { fieldPath: 'metadata.name' } },
    }),
  ),
  edited(
    'Deployment',
    'security',
    'container',
    ['securityContext:\n  runAsNonRoot: true\n  capabilities:\n    drop: [ALL]\n', ''],
    remove(`${CONTAINER}/securityContext`),
  ),
  edited(
    'Deployment',
    'affinity',
    'pod',
    [
      'affinity:\n  podAntiAffinity:\n    requiredDuringSchedulingIgnoredDuringExecution:\n      - topologyKey: zone\n        labelSelector:\n          matchLabels:\n            app: affinity\n',
      '',
    ],
    remove(`${POD}/affinity`),
  ),
  edited(
    'Deployment',
    'tolerations',
    'pod',
    ['tolerations:\n  - key: batch\n    operator: Exists\n', ''],
    remove(`${POD}/tolerations`),
  ),
  edited(
    'Deployment',
    'volume-source',
    'pod',
    [
      'volumes:\n  - name: data\n    emptyDir: {}\n',
      'volumes:\n  - name: data\n    configMap:\n      name: data\n',
    ],
    replace(`${POD}/volumes/0`, { name: 'data', configMap: { name: 'data' } }),
  ),
  edited(
    'Deployment',
    'volumes',
    'pod',
    ['volumes:\n  - name: data\n    emptyDir:\n      medium: Memory\n', ''],
    remove(`${POD}/volumes`),
  ),
  edited(
    'StatefulSet',
    'on-delete',
    'spec',
    [
      'updateStrategy:\n  type: RollingUpdate\n  rollingUpdate:\n    partition: 1\n',
      'updateStrategy:\n  type: OnDelete\n',
    ],
    replace('/spec/updateStrategy', { type: 'OnDelete' }),
  ),
  edited(
    'StatefulSet',
    'startup-grpc',
    'container',
    ['startupProbe:\n  grpc:\n    port: 9000\n', ''],
    remove(`${CONTAINER}/startupProbe`),
  ),
  edited(
    'DaemonSet',
    'daemons',
    'spec',
    [
      'updateStrategy:\n  type: RollingUpdate\n  rollingUpdate:\n    maxUnavailable: 2\n',
      'updateStrategy:\n  type: OnDelete\n',
    ],
    replace('/spec/updateStrategy', { type: 'OnDelete' }),
  ),
  edited(
    'DaemonSet',
    'env-from',
    'container',
    ['envFrom:\n  - configMapRef:\n      name: env\n', ''],
    remove(`${CONTAINER}/envFrom`),
  ),
]

const OTHERS: readonly BlockEdit[] = [
  {
    name: 'nightly',
    kind: 'cronjob',
    manifest: `apiVersion: batch/v1
kind: CronJob
metadata:
  name: nightly
spec:
  schedule: 0 3 * * *
  suspend: true
  jobTemplate:
    spec:
      podFailurePolicy:
        rules:
          - action: Ignore
            onPodConditions:
              - type: DisruptionTarget
      template:
        spec:
          restartPolicy: Never
          containers:
            - name: app
              image: example.com/app:1
`,
    patch: [remove('/spec/jobTemplate/spec/podFailurePolicy')],
    from: '      podFailurePolicy:\n        rules:\n          - action: Ignore\n            onPodConditions:\n              - type: DisruptionTarget\n',
    to: '',
  },
  {
    name: 'balanced',
    kind: 'service',
    manifest: `apiVersion: v1
kind: Service
metadata:
  name: balanced
spec:
  type: LoadBalancer
  externalTrafficPolicy: Local
  selector:
    app: web
  ports:
    - port: 80
`,
    patch: [replace('/spec/type', 'ClusterIP'), remove('/spec/externalTrafficPolicy')],
    from: '  type: LoadBalancer\n  externalTrafficPolicy: Local\n',
    to: '  type: ClusterIP\n',
  },
  {
    name: 'sticky',
    kind: 'service',
    manifest: `apiVersion: v1
kind: Service
metadata:
  name: sticky
spec:
  sessionAffinity: ClientIP
  sessionAffinityConfig:
    clientIP:
      timeoutSeconds: 60
  ports:
    - port: 80
`,
    patch: [replace('/spec/sessionAffinity', 'None'), remove('/spec/sessionAffinityConfig')],
    from: '  sessionAffinity: ClientIP\n  sessionAffinityConfig:\n    clientIP:\n      timeoutSeconds: 60\n',
    to: '  sessionAffinity: None\n',
  },
  {
    name: 'site',
    kind: 'ingress',
    manifest: `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: site
spec:
  tls:
    - hosts: [site.example.com]
      secretName: site
  defaultBackend:
    service:
      name: web
      port:
        number: 80
`,
    patch: [remove('/spec/tls'), replace('/spec/defaultBackend/service/port', { name: 'http' })],
    from: '  tls:\n    - hosts: [site.example.com]\n      secretName: site\n  defaultBackend:\n    service:\n      name: web\n      port:\n        number: 80\n',
    to: '  defaultBackend:\n    service:\n      name: web\n      port:\n        name: http\n',
  },
  {
    name: 'walls',
    kind: 'networkpolicy',
    manifest: `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: walls
spec:
  podSelector:
    matchLabels:
      app: web
  policyTypes: [Ingress]
  ingress:
    - from:
        - podSelector: {}
`,
    patch: [remove('/spec/ingress'), replace('/spec/podSelector', {})],
    from: '  podSelector:\n    matchLabels:\n      app: web\n  policyTypes: [Ingress]\n  ingress:\n    - from:\n        - podSelector: {}\n',
    to: '  podSelector: {}\n  policyTypes: [Ingress]\n',
  },
  {
    name: 'scaler',
    kind: 'horizontalpodautoscaler',
    manifest: `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: scaler
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: nothing
  maxReplicas: 3
  behavior:
    scaleDown:
      stabilizationWindowSeconds: 60
`,
    patch: [remove('/spec/behavior')],
    from: '  behavior:\n    scaleDown:\n      stabilizationWindowSeconds: 60\n',
    to: '',
  },
  {
    name: 'budget',
    kind: 'poddisruptionbudget',
    manifest: `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: budget
spec:
  minAvailable: 1
  selector:
    matchLabels:
      app: web
`,
    patch: [remove('/spec/minAvailable'), add('/spec/maxUnavailable', 1)],
    from: '  minAvailable: 1\n  selector:\n    matchLabels:\n      app: web\n',
    to: '  selector:\n    matchLabels:\n      app: web\n  maxUnavailable: 1\n',
  },
  {
    name: 'settings',
    kind: 'configmap',
    manifest:
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  labels:\n    team: a\ndata:\n  color: blue\n  size: large\n',
    patch: [remove('/data'), remove('/metadata/labels')],
    from: '  labels:\n    team: a\ndata:\n  color: blue\n  size: large\n',
    to: '',
  },
  {
    name: 'robot',
    kind: 'serviceaccount',
    manifest:
      'apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: robot\nimagePullSecrets:\n  - name: registry\n',
    patch: [remove('/imagePullSecrets')],
    from: 'imagePullSecrets:\n  - name: registry\n',
    to: '',
  },
  {
    name: 'readers',
    kind: 'rolebinding',
    manifest:
      'apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata:\n  name: readers\nroleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: ClusterRole\n  name: view\nsubjects:\n  - kind: Group\n    apiGroup: rbac.authorization.k8s.io\n    name: people\n',
    patch: [remove('/subjects')],
    from: 'subjects:\n  - kind: Group\n    apiGroup: rbac.authorization.k8s.io\n    name: people\n',
    to: '',
  },
  {
    name: 'quota',
    kind: 'resourcequota',
    manifest:
      'apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: quota\nspec:\n  hard:\n    pods: "9"\n',
    patch: [remove('/spec/hard')],
    from: 'spec:\n  hard:\n    pods: "9"\n',
    to: 'spec: {}\n',
  },
]

export const BLOCK_EDITS: readonly BlockEdit[] = [...WORKLOADS, ...OTHERS]
