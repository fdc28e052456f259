/** Hand edits of a release of the chart `storefront`, and what Adopt makes of each; the guide about Helm has them as a table. */
import type { Json } from '@backporch/kyaml/json'
import { REFUSED_EDITS } from './refused-edits.ts'

export interface HandEdit {
  readonly name: string
  /** Key of the object. */
  readonly object: string
  /** By field; undefined removes it. */
  readonly edits?: Readonly<Record<string, Json | undefined>>
  /** What the server sets by itself beside the edits. */
  readonly allocated?: Readonly<Record<string, Json>>
  /** Whether the object is deleted. */
  readonly gone?: true
  readonly outcome:
    | {
        /** The file of values unless it is given. */
        readonly file?: string
        readonly lines: readonly string[]
      }
    | { readonly refused: { readonly where: string; readonly why: string } }
  /** Runs of Helm at most, with the one of the files as they are. */
  readonly builds: number
}

const ADOPTED_EDITS: readonly HandEdit[] = [
  {
    name: 'image tag',
    object: 'apps/Deployment/shop/shop-storefront',
    edits: { 'spec.template.spec.containers[name=web].image': 'example.com/shop/web:1.5.0' },
    outcome: { lines: ['-  tag: "1.4.3" # as released', '+  tag: "1.5.0" # as released'] },
    builds: 2,
  },
  {
    name: 'image repository and tag together',
    object: 'apps/Deployment/shop/shop-storefront',
    edits: { 'spec.template.spec.containers[name=web].image': 'example.com/mirror/web:1.5.0' },
    outcome: {
      lines: [
        '-  tag: "1.4.3" # as released',
        '+  tag: "1.5.0" # as released',
        '+  repository: example.com/mirror/web',
      ],
    },
    builds: 3,
  },
  {
    name: 'replicas',
    object: 'apps/StatefulSet/shop/shop-storefront-search',
    edits: { 'spec.replicas': 5 },
    outcome: { lines: ['+search:', '+  replicas: 5'] },
    builds: 2,
  },
  {
    name: 'environment variable in a list',
    object: 'apps/Deployment/shop/shop-storefront',
    edits: { 'spec.template.spec.containers[name=web].env[name=REGION].value': 'us' },
    outcome: { lines: ['-    value: eu # of the data', '+    value: us # of the data'] },
    builds: 2,
  },
  {
    name: 'environment variable of a map, through `range`',
    object: 'apps/Deployment/shop/shop-storefront',
    edits: { 'spec.template.spec.containers[name=web].env[name=COLOR].value': 'red' },
    outcome: { lines: ['-  COLOR: green', '+  COLOR: red'] },
    builds: 2,
  },
  {
    name: 'environment variable in capitals (`upper`)',
    object: 'apps/Deployment/shop/shop-storefront',
    edits: { 'spec.template.spec.containers[name=web].env[name=LOG_LEVEL].value': 'DEBUG' },
    outcome: { lines: ['+logLevel: debug'] },
    builds: 2,
  },
  {
    name: 'new environment variable',
    object: 'apps/Deployment/shop/shop-storefront',
    edits: {
      'spec.template.spec.containers[name=web].env[name=EXTRA]': { name: 'EXTRA', value: 'x' },
    },
    outcome: { lines: ['+  - name: EXTRA', '+    value: x'] },
    builds: 3,
  },
  {
    name: 'environment variable in a list as deep as its key',
    object: 'apps/StatefulSet/shop/shop-storefront-search',
    edits: { 'spec.template.spec.containers[name=search].env[name=HEAP].value': '2g' },
    outcome: { lines: ['-    value: 1g # half of the node', '+    value: 2g # half of the node'] },
    builds: 2,
  },
  {
    name: 'new environment variable in such a list',
    object: 'apps/StatefulSet/shop/shop-storefront-search',
    edits: {
      'spec.template.spec.containers[name=search].env[name=EXTRA]': { name: 'EXTRA', value: 'x' },
    },
    outcome: { lines: ['+  - name: EXTRA', '+    value: x'] },
    builds: 3,
  },
  {
    name: 'new resource limit',
    object: 'apps/Deployment/shop/shop-storefront',
    edits: { 'spec.template.spec.containers[name=web].resources.limits.memory': '256Mi' },
    outcome: { lines: ['+  limits:', '+    memory: 256Mi'] },
    builds: 2,
  },
  {
    name: 'new annotation of the pods',
    object: 'apps/Deployment/shop/shop-storefront',
    edits: { 'spec.template.metadata.annotations["example.com/page"]': 'shop' },
    outcome: { lines: ['+  example.com/page: shop'] },
    builds: 2,
  },
  {
    name: 'key of a node selector removed',
    object: 'apps/Deployment/shop/shop-storefront',
    edits: { 'spec.template.spec.nodeSelector.zone': undefined },
    outcome: { lines: ['-  zone: a'] },
    builds: 2,
  },
  {
    name: 'whole node selector removed',
    object: 'apps/Deployment/shop/shop-storefront',
    edits: { 'spec.template.spec.nodeSelector': undefined },
    outcome: { lines: ['-nodeSelector:', '-  disk: ssd', '-  zone: a'] },
    builds: 4,
  },
  {
    name: 'rolling update that becomes Recreate',
    object: 'apps/Deployment/shop/shop-storefront',
    edits: { 'spec.strategy.type': 'Recreate', 'spec.strategy.rollingUpdate': undefined },
    outcome: { lines: ['+strategy:', '+  type: Recreate', '+  rollingUpdate: null'] },
    builds: 6,
  },
  {
    name: 'TLS of an Ingress removed',
    object: 'networking.k8s.io/Ingress/shop/shop-storefront',
    edits: { 'spec.tls': undefined },
    outcome: {
      lines: [
        '-  tls:',
        '-    - hosts: [shop.example.com, store.example.com]',
        '-      secretName: shop-tls',
        '+  tls: []',
      ],
    },
    builds: 4,
  },
  {
    name: 'new toleration',
    object: 'apps/Deployment/shop/shop-storefront',
    edits: {
      'spec.template.spec.tolerations': [
        { key: 'shop', operator: 'Exists' },
        { key: 'spot', operator: 'Exists' },
      ],
    },
    outcome: { lines: ['+  - key: spot', '+    operator: Exists'] },
    builds: 2,
  },
  {
    name: 'new argument, through `range`',
    object: 'apps/Deployment/shop/shop-storefront',
    edits: {
      'spec.template.spec.containers[name=web].args': ['serve', '--port=8080', '--verbose'],
    },
    outcome: { lines: ['+args:', '+  - serve', '+  - --port=8080', '+  - --verbose'] },
    builds: 2,
  },
  {
    name: 'Service port',
    object: '/Service/shop/shop-storefront-metrics',
    edits: {
      'spec.ports[port=9090,protocol=TCP]': undefined,
      'spec.ports[port=9100,protocol=TCP]': {
        port: 9100,
        targetPort: 9090,
        protocol: 'TCP',
        name: 'metrics',
      },
    },
    outcome: { lines: ['+metrics:', '+  port: 9100'] },
    builds: 2,
  },
  {
    name: 'Service port with a node port of the server',
    object: '/Service/shop/shop-storefront-metrics',
    edits: {
      'spec.ports[port=9090,protocol=TCP]': undefined,
      'spec.ports[port=9100,protocol=TCP]': {
        port: 9100,
        targetPort: 9090,
        protocol: 'TCP',
        name: 'metrics',
      },
    },
    allocated: { 'spec.ports[port=9100,protocol=TCP].nodePort': 30910 },
    outcome: { lines: ['+metrics:', '+  port: 9100'] },
    builds: 2,
  },
  {
    name: 'Service type',
    object: '/Service/shop/shop-storefront',
    edits: { 'spec.type': 'LoadBalancer' },
    outcome: { lines: ['+service:', '+  type: LoadBalancer'] },
    builds: 2,
  },
  {
    name: 'Ingress host, through `range`',
    object: 'networking.k8s.io/Ingress/shop/shop-storefront',
    edits: { 'spec.rules[0].host': 'new.example.com' },
    outcome: {
      lines: [
        '-    - host: shop.example.com # the old name',
        '+    - host: new.example.com # the old name',
      ],
    },
    builds: 2,
  },
  {
    name: 'name of a TLS Secret',
    object: 'networking.k8s.io/Ingress/shop/shop-storefront',
    edits: { 'spec.tls[0].secretName': 'other-tls' },
    outcome: { lines: ['-      secretName: shop-tls', '+      secretName: other-tls'] },
    builds: 2,
  },
  {
    name: 'ConfigMap entry from a value',
    object: '/ConfigMap/shop/shop-storefront-shared',
    edits: { 'data.region': 'us-east' },
    outcome: { lines: ['+sharedConfig:', '+  region: us-east'] },
    builds: 2,
  },
  {
    name: 'ConfigMap entry that `join` writes',
    object: '/ConfigMap/shop/shop-storefront-shared',
    edits: { 'data.origins': 'https://shop.example.com,https://store.example.com' },
    outcome: {
      lines: [
        '+config:',
        '+  origins:',
        '+    - https://shop.example.com',
        '+    - https://store.example.com',
      ],
    },
    builds: 2,
  },
  {
    name: 'ConfigMap entry with `tpl`: what its template reads',
    object: '/ConfigMap/shop/shop-storefront-shared',
    edits: { 'data.banner': 'Welcome to Our Shop' },
    outcome: { lines: ['+config:', '+  shopName: Our Shop'] },
    builds: 2,
  },
  {
    name: 'ConfigMap entry with `tpl`: its own words',
    object: '/ConfigMap/shop/shop-storefront-shared',
    edits: { 'data.banner': 'Hello from The Shop' },
    outcome: { lines: ['+config:', '+  banner: Hello from {{ .Values.config.shopName }}'] },
    builds: 2,
  },
  {
    name: 'new ConfigMap entry, through `range`',
    object: '/ConfigMap/shop/shop-storefront-shared',
    edits: { 'data.more': 'x' },
    outcome: { lines: ['+config:', '+  extra:', '+    more: x'] },
    builds: 2,
  },
  {
    name: 'ConfigMap entry from a file (`.Files`)',
    object: '/ConfigMap/shop/shop-storefront-files',
    edits: { 'data["limits.conf"]': '# Limits of the front end.\nmax_items = 80\ntimeout = 30s\n' },
    outcome: {
      file: 'charts/storefront/files/limits.conf',
      lines: ['-max_items = 50', '+max_items = 80'],
    },
    builds: 2,
  },
  {
    name: 'ConfigMap entry from a file with `tpl`',
    object: '/ConfigMap/shop/shop-storefront-files',
    edits: { 'data["routes.conf"]': 'upstream shop-storefront\ntimeout 30s\nretries 5' },
    outcome: { file: 'charts/storefront/files/routes.tpl', lines: ['-retries 3', '+retries 5'] },
    builds: 2,
  },
  {
    name: 'one of the values that `printf` joins',
    object: 'apps/Deployment/shop/shop-storefront-worker',
    edits: { 'spec.template.spec.containers[name=worker].env[name=QUEUE].value': 'shop.invoices' },
    outcome: { lines: ['+worker:', '+  queue: invoices'] },
    builds: 2,
  },
  {
    name: 'value of a subchart',
    object: 'apps/Deployment/shop/shop-cache',
    edits: { 'spec.replicas': 2 },
    outcome: { lines: ['+cache:', '+  replicas: 2'] },
    builds: 2,
  },
  {
    name: 'argument of a subchart',
    object: 'apps/Deployment/shop/shop-cache',
    edits: { 'spec.template.spec.containers[name=cache].args': ['--maxmemory', '128mb'] },
    outcome: { lines: ['+cache:', '+  maxMemory: 128mb'] },
    builds: 2,
  },
  {
    name: 'global value',
    object: 'apps/Deployment/shop/shop-storefront-worker',
    edits: { 'spec.template.spec.containers[name=worker].env[name=TZ].value': 'Europe/Rome' },
    outcome: { lines: ['+  timeZone: Europe/Rome'] },
    builds: 2,
  },
  {
    name: 'text that `ternary` chooses',
    object: 'batch/CronJob/shop/shop-storefront-report',
    edits: { 'spec.jobTemplate.spec.template.spec.restartPolicy': 'Never' },
    outcome: { lines: ['+alwaysRestart: false'] },
    builds: 2,
  },
  {
    name: 'boolean',
    object: 'batch/CronJob/shop/shop-storefront-report',
    edits: { 'spec.suspend': true },
    outcome: { lines: ['+report:', '+  suspend: true'] },
    builds: 2,
  },
  {
    name: 'schedule',
    object: 'batch/CronJob/shop/shop-storefront-report',
    edits: { 'spec.schedule': '0 5 * * *' },
    outcome: { lines: ['+report:', '+  schedule: 0 5 * * *'] },
    builds: 2,
  },
  {
    name: 'maximum of a HorizontalPodAutoscaler',
    object: 'autoscaling/HorizontalPodAutoscaler/shop/shop-storefront',
    edits: { 'spec.maxReplicas': 20 },
    outcome: {
      lines: [
        '-  maxReplicas: 10 # what the nodes hold',
        '+  maxReplicas: 20 # what the nodes hold',
      ],
    },
    builds: 2,
  },
  {
    name: 'number that becomes a percentage',
    object: 'policy/PodDisruptionBudget/shop/shop-storefront',
    edits: { 'spec.minAvailable': '50%' },
    outcome: { lines: ['+pdb:', '+  minAvailable: 50%'] },
    builds: 2,
  },
  {
    name: 'path of a probe',
    object: 'apps/Deployment/shop/shop-storefront',
    edits: { 'spec.template.spec.containers[name=web].livenessProbe.httpGet.path': '/livez' },
    outcome: { lines: ['+probes:', '+  liveness:', '+    path: /livez'] },
    builds: 2,
  },
  {
    name: 'key removed that a default of the chart sets',
    object: 'apps/Deployment/shop/shop-storefront',
    edits: { 'spec.template.spec.containers[name=web].securityContext.runAsNonRoot': undefined },
    outcome: { lines: ['+securityContext:', '+  runAsNonRoot: null'] },
    builds: 2,
  },
  {
    name: 'annotation removed',
    object: 'apps/Deployment/shop/shop-storefront',
    edits: { 'spec.template.metadata.annotations.team': undefined },
    outcome: { lines: ['-podAnnotations:', '-  team: shop # who is asked', '+podAnnotations: {}'] },
    builds: 2,
  },
  {
    name: 'object deleted that a switch enables',
    object: '/ResourceQuota/shop/shop-storefront',
    gone: true,
    outcome: { lines: ['+quota:', '+  enabled: false'] },
    builds: 2,
  },
  {
    name: 'object deleted that is in a list of values',
    object: '/ConfigMap/shop/notes',
    gone: true,
    outcome: {
      lines: [
        '-extraObjects:',
        '-  - apiVersion: v1',
        '-    kind: ConfigMap',
        '-    metadata:',
        '-      name: notes',
        '-    data:',
        "-      owner: '{{ .Release.Name }}'",
        '-      text: by hand',
        '+extraObjects: []',
      ],
    },
    builds: 2,
  },
  {
    name: 'field of an object in a list of values',
    object: '/ConfigMap/shop/notes',
    edits: { 'data.text': 'by nobody' },
    outcome: { lines: ['-      text: by hand', '+      text: by nobody'] },
    builds: 2,
  },
  {
    name: 'item of a list that is printed on the line of its key',
    object: 'apps/DaemonSet/shop/shop-storefront-agent',
    edits: { 'spec.template.spec.tolerations': [{ operator: 'Exists', effect: 'NoSchedule' }] },
    outcome: {
      lines: ['+agent:', '+  tolerations:', '+    - operator: Exists', '+      effect: NoSchedule'],
    },
    builds: 2,
  },
]

export const HAND_EDITS: readonly HandEdit[] = [...ADOPTED_EDITS, ...REFUSED_EDITS]
