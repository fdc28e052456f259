/** Objects that several cases need. */
import { waitUntil } from '../waiting/wait-until.ts'
import type { Lab } from './lab.ts'

export function configMap(namespace: string, data: string, name = 'c'): string {
  return `apiVersion: v1
kind: ConfigMap
metadata: {name: ${name}, namespace: ${namespace}}
data: {${data}}
`
}

interface Parts {
  /** Lines of the spec of the Pod beside the container. */
  readonly pod?: string
  /** More of the container, as in a flow map. */
  readonly container?: string
  readonly image?: string
}

/** A Deployment `web` of no replicas with one container `web`. */
export function deployment(
  namespace: string,
  { pod, container, image = 'registry.example.com/web:1' }: Parts = {},
): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: ${namespace}}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
${pod === undefined ? '' : `      ${pod}\n`}      containers:
      - {name: web, image: "${image}"${container === undefined ? '' : `, ${container}`}}
`
}

/** A custom kind with these properties of its spec; it is served when this returns. */
export async function createKind(
  lab: Lab,
  group: string,
  kind: string,
  properties: object,
): Promise<void> {
  await lab.pipe(definition(group, kind, properties), 'create', '-f', '-')
  await lab.kubectl(
    'wait',
    '--for=condition=Established',
    `crd/${kind.toLowerCase()}s.${group}`,
    '--timeout=4m',
  )
  await served(lab, group, kind)
}

/** The server has published what the kind looks like, which takes a moment longer than its first request. */
export async function served(lab: Lab, group: string, kind: string): Promise<void> {
  await waitUntil(`${kind} is served`, async () =>
    (await lab.kubectl('api-resources', `--api-group=${group}`)).includes(kind),
  )
  await waitUntil(`${kind} is published`, async () =>
    (await lab.kubectl('get', '--raw', '/openapi/v3')).includes(`"apis/${group}/v1"`),
  )
}

export function definition(group: string, kind: string, properties: object): string {
  const singular = kind.toLowerCase()
  const schema = {
    openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } },
  }
  return JSON.stringify({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${singular}s.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: `${singular}s`, singular, kind, listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  })
}
