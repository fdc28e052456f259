/** A package full of what an API server rewrites, fills in, converts and merges by key, and one hand edit for each of its objects. */
import { randomBytes } from 'node:crypto'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { waitUntil } from '../waiting/wait-until.ts'
import { kptfile } from './packages.ts'
import { createDefinition } from './shop-package.ts'
import type { Files } from './world.ts'

/** A custom resource of two versions, stored as v1. */
export interface GadgetKind {
  readonly group: string
}

const OPEN = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const INT_OR_STRING = {
  'x-kubernetes-int-or-string': true,
  anyOf: [{ type: 'integer' }, { type: 'string' }],
}

export async function createGadgetKind(plane: ControlPlane): Promise<GadgetKind> {
  const group = `desired-${randomBytes(4).toString('hex')}.example.com`
  const text = { type: 'string' }
  const part = {
    type: 'object',
    properties: {
      name: text,
      mode: { type: 'string', default: 'Soft' },
      limits: {
        type: 'object',
        default: {},
        properties: { share: { type: 'integer', default: 3 } },
      },
    },
  }
  const port = {
    type: 'object',
    required: ['number'],
    properties: {
      number: { type: 'integer' },
      protocol: { type: 'string', default: 'TCP' },
      weight: { type: 'integer', default: 1 },
    },
  }
  const spec = {
    type: 'object',
    properties: {
      size: { type: 'integer' },
      policy: { type: 'string', default: 'Soft' },
      nested: {
        type: 'object',
        default: {},
        properties: { depth: { type: 'integer', default: 2 } },
      },
      memory: INT_OR_STRING,
      share: INT_OR_STRING,
      parts: { type: 'array', items: part },
      ports: {
        type: 'array',
        items: port,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['number', 'protocol'],
      },
      zones: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
      open: OPEN,
      pod: { ...OPEN, 'x-kubernetes-embedded-resource': true },
    },
  }
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
  await createDefinition(plane, {
    metadata: { name: `gadgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'gadgets', kind: 'Gadget' },
      conversion: { strategy: 'None' },
      versions: [
        { name: 'v1', served: true, storage: true, schema },
        { name: 'v1alpha1', served: true, storage: false, schema },
      ],
    },
  })
  await untilPublished(plane, group, ['v1', 'v1alpha1'])
  return { group }
}

/** A kind is served a while before the server publishes its schema. */
export async function untilPublished(
  plane: ControlPlane,
  group: string,
  versions: readonly string[],
): Promise<void> {
  await waitUntil(`the server publishes the schema of ${group}`, async () => {
    // The server calls it plain text.
    const { body } = await plane.request<string>('GET', '/openapi/v3')
    return versions.every((version) => body.includes(`"apis/${group}/${version}"`))
  })
}

/** Every manifest stands in `all.yaml`. */
export function desiredPackage(folder: string, namespace: string, { group }: GadgetKind): Files {
  const meta = (name: string): string => `metadata:\n  name: ${name}\n  namespace: ${namespace}\n`
  const objects = [
    `apiVersion: v1
kind: Secret
${meta('both')}data: {key: b2xk, other: ZA==}
stringData: {key: new, token: "Ünïcode"}
`,
    `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: ${namespace}, creationTimestamp: null}
spec:
  replicas: 2
  paused: false
  strategy: {}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, creationTimestamp: null}
    spec:
      hostNetwork: false
      tolerations: []
      volumes:
      - {name: cache, emptyDir: {sizeLimit: 1024Mi}}
      - {name: tokens, projected: {sources: [{serviceAccountToken: {path: token}}]}}
      containers:
      - name: app
        image: example.com/app:1
        env:
        - {name: NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
        - {name: NOTHING, value: ""}
        ports: [{containerPort: 53}, {containerPort: 53, protocol: UDP}]
        livenessProbe: {httpGet: {path: /, port: 53}}
        resources: {requests: {cpu: 1000m, memory: 0.5Gi}, limits: {cpu: "1.5"}}
status: {}
`,
    `apiVersion: v1
kind: Service
${meta('web')}spec: {selector: {app: web}, ports: [{port: 53, targetPort: 53, name: tcp}, {port: 53, targetPort: dns, protocol: UDP, name: udp}]}
`,
    `apiVersion: apps/v1
kind: StatefulSet
${meta('store')}spec:
  serviceName: store
  selector: {matchLabels: {app: store}}
  template:
    metadata: {labels: {app: store}}
    spec: {containers: [{name: app, image: example.com/store:1}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1024Mi}}}
`,
    `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
${meta('dns')}spec: {podSelector: {}, policyTypes: [Ingress], ingress: [{ports: [{port: 53}]}]}
`,
    `apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
${meta('view')}roleRef: {kind: ClusterRole, name: view}
subjects: [{kind: Group, name: readers}, {kind: ServiceAccount, name: app, namespace: ${namespace}}]
`,
    `apiVersion: autoscaling/v1
kind: HorizontalPodAutoscaler
${meta('web')}spec: {minReplicas: 2, maxReplicas: 5, targetCPUUtilizationPercentage: 60, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
`,
    `apiVersion: v1
kind: ResourceQuota
${meta('team')}spec: {hard: {requests.cpu: 4000m, requests.memory: 2048Mi, pods: 10}}
`,
    `apiVersion: ${group}/v1alpha1
kind: Gadget
${meta('old')}spec:
  size: 1
  memory: 1024Mi
  share: 50
  parts: [{name: a}, {name: b, mode: Hard}]
  ports: [{number: 1}, {number: 1, protocol: UDP}]
  zones: [a, b]
  open: {any: {thing: [1, {x: y}]}}
  pod: {apiVersion: v1, kind: Pod, metadata: {name: inner}, spec: {x: 1}}
`,
  ]
  return {
    [`${folder}/Kptfile`]: kptfile(folder.slice(folder.lastIndexOf('/') + 1)),
    [`${folder}/all.yaml`]: objects.join('---\n'),
  }
}

/** What the syncer applied before git moved from v2 to v1 of the group. */
export function hpaOfOtherVersion(namespace: string): string {
  return `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: ${namespace}}
spec:
  minReplicas: 2
  maxReplicas: 5
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
`
}

export interface HandEdit {
  /** For kubectl, without the namespace. */
  readonly how: (kind: GadgetKind) => readonly string[]
  /** Object, change, field and manager as the report has them. */
  readonly line: string
}

const patch = (
  what: string,
  type: 'merge' | 'json' | 'strategic',
  body: string,
): HandEdit['how'] => {
  return ({ group }) => [
    'patch',
    what.replace('GADGET', `gadgets.${group}/old`),
    `--type=${type}`,
    `--patch=${body}`,
  ]
}

export const HAND_EDITS: readonly HandEdit[] = [
  {
    how: patch('secret/both', 'merge', '{"data":{"key":"b2xk"}}'),
    line: 'Secret/both modified data.key kubectl-patch',
  },
  {
    how: patch(
      'deployment/web',
      'strategic',
      '{"spec":{"template":{"spec":{"containers":[{"name":"app","resources":{"requests":{"cpu":"999m"}}}]}}}}',
    ),
    line: 'Deployment/web modified spec.template.spec.containers[name=app].resources.requests.cpu kubectl-patch',
  },
  {
    how: patch(
      'service/web',
      'json',
      '[{"op":"replace","path":"/spec/ports/1/targetPort","value":54}]',
    ),
    line: 'Service/web modified spec.ports[port=53,protocol=UDP].targetPort kubectl-patch',
  },
  {
    how: patch('statefulset/store', 'merge', '{"spec":{"replicas":3}}'),
    line: 'StatefulSet/store added spec.replicas kubectl-patch',
  },
  {
    how: patch(
      'networkpolicy/dns',
      'json',
      '[{"op":"replace","path":"/spec/ingress/0/ports/0/protocol","value":"UDP"}]',
    ),
    line: 'NetworkPolicy/dns modified spec.ingress kubectl-patch',
  },
  {
    how: patch('rolebinding/view', 'json', '[{"op":"remove","path":"/subjects/1"}]'),
    line: 'RoleBinding/view modified subjects kubectl-patch',
  },
  {
    how: patch(
      'hpa/web',
      'json',
      '[{"op":"replace","path":"/spec/metrics/0/resource/target/averageUtilization","value":90}]',
    ),
    line: 'HorizontalPodAutoscaler/web modified spec.targetCPUUtilizationPercentage kubectl-patch',
  },
  {
    how: patch('resourcequota/team', 'merge', '{"spec":{"hard":{"requests.memory":"4Gi"}}}'),
    line: 'ResourceQuota/team modified spec.hard["requests.memory"] kubectl-patch',
  },
  {
    how: patch('GADGET', 'json', '[{"op":"replace","path":"/spec/share","value":"50"}]'),
    line: 'Gadget/old modified spec.share kubectl-patch',
  },
]

/** What an edit of one more field of the same objects adds, each a line of its own. */
export const MORE_EDITS: readonly HandEdit[] = [
  {
    how: patch('GADGET', 'json', '[{"op":"replace","path":"/spec/ports/1/weight","value":9}]'),
    line: 'Gadget/old added spec.ports[number=1,protocol=UDP].weight kubectl-patch',
  },
]

/** Objects of which one field each may not change once it is set; `next` changes exactly these. */
export function fixedPackage(folder: string, namespace: string, next: boolean): Files {
  const [name, size] = next ? ['two', '2Gi'] : ['one', '1Gi']
  const meta = (of: string): string => `metadata: {name: ${of}, namespace: ${namespace}}\n`
  const pod = `metadata: {labels: {app: ${name}}}, spec: {restartPolicy: RESTART, containers: [{name: app, image: "example.com/app:${name}"}]}`
  const objects = [
    `apiVersion: apps/v1\nkind: Deployment\n${meta('fixed')}spec: {selector: {matchLabels: {app: ${name}}}, template: {${pod.replace('RESTART', 'Always')}}}\n`,
    `apiVersion: batch/v1\nkind: Job\n${meta('fixed')}spec: {suspend: true, template: {${pod.replace('RESTART', 'Never')}}}\n`,
    `apiVersion: v1\nkind: Service\n${meta('fixed')}spec: {${next ? 'clusterIP: 10.96.77.77, ' : ''}ports: [{port: 80}]}\n`,
    `apiVersion: apps/v1
kind: StatefulSet
${meta('fixed')}spec:
  serviceName: fixed
  selector: {matchLabels: {app: fixed}}
  template: {metadata: {labels: {app: fixed}}, spec: {containers: [{name: app, image: example.com/app:1}]}}
  volumeClaimTemplates:
  - {metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: ${size}}}}}
`,
    `apiVersion: v1\nkind: ConfigMap\n${meta('fixed')}immutable: true\ndata: {key: ${name}}\n`,
    `apiVersion: v1\nkind: Secret\n${meta('fixed')}immutable: true\nstringData: {key: value-${name}}\n`,
    `apiVersion: v1\nkind: ConfigMap\n${meta('free')}data: {key: ${name}}\n`,
  ]
  return { [`${folder}/Kptfile`]: kptfile('fixed'), [`${folder}/all.yaml`]: objects.join('---\n') }
}

/** Objects with one field each that no server knows; without them where `typo` is false. */
export function misspeltPackage(
  folder: string,
  namespace: string,
  { group }: GadgetKind,
  typo: boolean,
): Files {
  const meta = (of: string): string => `metadata: {name: ${of}, namespace: ${namespace}}\n`
  const deployment = `apiVersion: apps/v1
kind: Deployment
${meta('misspelt')}spec:
${typo ? '  replica: 3\n' : ''}  selector: {matchLabels: {app: misspelt}}
  template:
    metadata: {labels: {app: misspelt}}
    spec: {containers: [{name: app, image: example.com/app:1${typo ? ', imagePulPolicy: Never' : ''}}]}
`
  const gadget = `apiVersion: ${group}/v1\nkind: Gadget\n${meta('misspelt')}spec: {size: 1${typo ? ', colour: red' : ''}, open: {any: thing}}\n`
  return {
    [`${folder}/Kptfile`]: kptfile(folder.slice(folder.lastIndexOf('/') + 1)),
    [`${folder}/all.yaml`]: `${deployment}---\n${gadget}`,
  }
}
