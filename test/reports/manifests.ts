/** Objects that several cases need. */

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
export function deployment(namespace: string, { pod, container, image = 'registry.example.com/web:1' }: Parts = {}): string {
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
