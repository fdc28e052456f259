/** A package of the commonest objects there are, with nothing in them but what they need, and one hand edit of each. */
import { kptfile } from './packages.ts'
import type { Files, World } from './world.ts'

export function barePackage(namespace: string): Files {
  return {
    'apps/bare/Kptfile': kptfile('bare'),
    'apps/bare/objects.yaml': bareObjects(namespace),
  }
}

export function bareObjects(namespace: string): string {
  return `apiVersion: v1
kind: Namespace
metadata:
  name: ${namespace}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: web
  namespace: ${namespace}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: web
  namespace: ${namespace}
data:
  timeout: "30"
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: ${namespace}
spec:
  replicas: 2
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      serviceAccountName: web
      containers:
      - name: app
        image: example.com/web:1
        ports: [{containerPort: 8080}]
`
}

interface BareEdit {
  readonly how: (namespace: string) => readonly string[]
  /** The line, less its writer. */
  readonly line: string
  readonly manager: string
}

const PULL_SECRET = '{"imagePullSecrets":[{"name":"mine"}]}'

/** One after the other, each of another object or field. */
export const BARE_EDITS: readonly BareEdit[] = [
  {
    how: (namespace) => ['label', 'namespace', namespace, 'team=shop'],
    line: 'Namespace added metadata.labels.team',
    manager: 'kubectl-label',
  },
  {
    how: (namespace) => ['annotate', 'namespace', namespace, 'example.com/note=x'],
    line: 'Namespace added metadata.annotations["example.com/note"]',
    manager: 'kubectl-annotate',
  },
  {
    how: (namespace) => ['patch', 'serviceaccount/web', '-n', namespace, '-p', PULL_SECRET],
    line: 'ServiceAccount added imagePullSecrets',
    manager: 'kubectl-patch',
  },
  {
    how: (namespace) => [
      'patch',
      'configmap/web',
      '-n',
      namespace,
      '-p',
      '{"data":{"timeout":"31"}}',
    ],
    line: 'ConfigMap modified data.timeout',
    manager: 'kubectl-patch',
  },
  {
    how: (namespace) => ['scale', 'deployment/web', '-n', namespace, '--replicas=5'],
    line: 'Deployment modified spec.replicas',
    manager: 'kubectl',
  },
  {
    how: (namespace) => ['annotate', 'deployment/web', '-n', namespace, 'example.com/note=x'],
    line: 'Deployment added metadata.annotations["example.com/note"]',
    manager: 'kubectl-annotate',
  },
]

/** `kubectl edit` of the Deployment's image. */
export const EDITED_LINE = 'Deployment modified spec.template.spec.containers[name=app].image'

export async function editAll(world: World, namespace: string): Promise<void> {
  for (const { how } of BARE_EDITS) await world.kubectl(...how(namespace))
  // The annotation of a client-side apply holds the image too, on a line that goes on.
  await world.edit('web:1$', 'web:2', 'deployment/web', '-n', namespace)
}

export const BARE_LINES: readonly string[] = [
  ...BARE_EDITS.map(({ line }) => line),
  EDITED_LINE,
].sort()
