/** Packages of the acceptance tests, as people write them: comments, quotes, several documents in a file. */
import type { Files } from './world.ts'

export function kptfile(name: string, more = ''): string {
  return `apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: ${name}
  annotations:
    config.kubernetes.io/local-config: "true"
info:
  description: ${name}
${more}`
}

/** A small package: one Deployment and one ConfigMap. */
export function webPackage(namespace: string, folder = 'apps/web'): Files {
  return {
    [`${folder}/Kptfile`]: kptfile('web'),
    [`${folder}/deployment.yaml`]: `# The shop's front end.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: ${namespace}
  labels: {app: web, team: "shop"}
spec:
  replicas: 3   # two zones and a spare
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      # the server
      - name: app
        image: "example.com/shop/web:1.4.2"
        env:
        - name: LOG_LEVEL
          value: info
        - {name: CURRENCY, value: EUR}
        resources:
          requests: {cpu: 100m, memory: 64Mi}
      - name: proxy
        image: example.com/proxy:2
`,
    [`${folder}/config.yaml`]: `apiVersion: v1
kind: ConfigMap
metadata:
  name: web
  namespace: ${namespace}
  annotations:
    example.com/contact: shop@example.com
data:
  timeout: "30"  # seconds
  theme: 'light'
`,
  }
}

/** Drift is proposed in the scan that sees it, however much of it there is. */
const AT_ONCE =
  '\ndetect: {minAge: 0s, settle: 0s}\nlimits: {prHourlyLimit: 0, prConcurrentLimit: 0, stormThreshold: 0, stormShare: 0, digest: off}'

/** A policy in `.drift/policy.yaml`. */
export function policy(spec: string): Files {
  const indented = `${spec.trim()}${spec.includes('detect:') ? '' : AT_ONCE}`
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n')
  return {
    '.drift/policy.yaml': `apiVersion: backporch.dev/v1alpha1
kind: DriftPolicy
metadata:
  name: default
spec:
${indented}
`,
  }
}
