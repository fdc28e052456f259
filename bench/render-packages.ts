/**
 * Creates packages with a pipeline as teams write them, with comments, setters and scripts in
 * ConfigMaps. The same number and seed give the same bytes.
 */

/** Objects in each package. */
export const OBJECTS_PER_PACKAGE = 12

export interface PackageTree {
  readonly name: string
  /** Text by path in the package. */
  readonly files: { readonly [path: string]: string }
}

/** The parts that differ between packages. */
interface Service {
  readonly name: string
  readonly team: string
  readonly tag: string
  readonly replicas: number
  readonly port: number
  readonly pick: (end: number) => number
}

/** @param functions as the pipeline names them, in their order; what they are configured with goes by their names */
export function renderPackages(
  count: number,
  seed: number,
  functions: readonly string[] = ['apply-setters', 'set-namespace', 'set-labels'],
): PackageTree[] {
  return Array.from({ length: count }, (_none, index) => {
    const pick = randomFrom(seed * 1_000_003 + index)
    const service: Service = {
      name: `${WORDS[pick(WORDS.length)]}-${String(index + 1).padStart(4, '0')}`,
      team: `team-${pick(40)}`,
      tag: `${1 + pick(4)}.${pick(30)}.${pick(10)}`,
      replicas: 2 + pick(9),
      port: 8000 + pick(100),
      pick,
    }
    return {
      name: service.name,
      files: { Kptfile: kptfile(service, functions), ...manifests(service) },
    }
  })
}

const WORDS = [
  'billing',
  'catalog',
  'checkout',
  'gateway',
  'ledger',
  'mailer',
  'orders',
  'search',
  'stock',
  'users',
]

function randomFrom(seed: number): (end: number) => number {
  let state = seed >>> 0
  return (end) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end
  }
}

function kptfile({ name, team, tag, replicas }: Service, functions: readonly string[]): string {
  const configs: { readonly [name: string]: string } = {
    'apply-setters': `      configMap:
        app: ${name}
        host: ${name}.example.com
        image-tag: ${tag}
        replicas: "${replicas}"
`,
    'set-namespace': `      configMap:
        namespace: ${team}
`,
    'set-labels': `      configMap:
        app.kubernetes.io/part-of: shop
        team: ${team}
`,
  }
  return `apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: ${name}
  annotations:
    config.kubernetes.io/local-config: "true"
info:
  description: The ${name} service of ${team}
pipeline:
  mutators:
${functions.map((each) => `    - exec: ${each}\n${configs[each] ?? ''}`).join('')}`
}

function manifests(service: Service): { readonly [path: string]: string } {
  return {
    'config/limits.yaml': limits(service),
    'config/settings.yaml': settings(service),
    'deployment.yaml': deployment(service),
    'jobs/cleanup.yaml': cleanup(service),
    'network/ingress.yaml': ingress(service),
    'network/policy.yaml': networkPolicy(service),
    'network/service.yaml': serviceObject(service),
    'rbac.yaml': `${serviceAccount(service)}---\n${role(service)}---\n${roleBinding(service)}`,
    'scaling.yaml': `${autoscaler(service)}---\n${disruptionBudget(service)}`,
  }
}

function times(count: number, line: (index: number) => string): string {
  return Array.from({ length: count }, (_none, position) => line(position)).join('')
}

function deployment({ name, tag, replicas, port, pick }: Service): string {
  return `# The service itself.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name} # kpt-set: \${app}
  labels:
    app: ${name} # kpt-set: \${app}
spec:
  replicas: ${replicas === 2 ? 3 : 2} # kpt-set: \${replicas}
  selector:
    matchLabels:
      app: ${name} # kpt-set: \${app}
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxSurge: 25%
      maxUnavailable: 0
  template:
    metadata:
      labels:
        app: ${name} # kpt-set: \${app}
      annotations:
        prometheus.io/scrape: "true"
        prometheus.io/port: "${port}"
    spec:
      serviceAccountName: ${name}
      securityContext:
        runAsNonRoot: true
        runAsUser: ${1000 + pick(50)}
      containers:
        - name: app
          image: registry.example.com/shop/${name}:0.${pick(9)} # kpt-set: registry.example.com/shop/\${app}:\${image-tag}
          args: ["--port=${port}", "--log-level=info"]
          env:
            - name: VERSION
              value: "${tag}" # kpt-set: \${image-tag}
${times(2 + pick(5), (index) => `            - name: OPTION_${index}\n              value: value-${pick(1000)}\n`)}\
            - name: PASSWORD
              valueFrom:
                secretKeyRef:
                  name: ${name}-db
                  key: password
          ports:
            - name: http
              containerPort: ${port}
          # Slow to start: it reads all of its tables first.
          readinessProbe:
            httpGet:
              path: /ready
              port: http
            initialDelaySeconds: ${5 + pick(20)}
          resources:
            requests:
              cpu: ${100 + 10 * pick(20)}m
              memory: ${128 + pick(4) * 64}Mi
            limits:
              memory: ${512 + pick(4) * 128}Mi
          volumeMounts:
            - name: settings
              mountPath: /etc/${name}
      volumes:
        - name: settings
          configMap:
            name: ${name}-settings
`
}

function serviceObject({ name, port }: Service): string {
  return `apiVersion: v1
kind: Service
metadata:
  name: ${name} # kpt-set: \${app}
spec:
  selector:
    app: ${name} # kpt-set: \${app}
  ports:
    - name: http
      port: 80
      targetPort: http
    - name: metrics
      port: ${port + 1000}
      protocol: TCP
`
}

function settings({ name, port, pick }: Service): string {
  return `apiVersion: v1
kind: ConfigMap
metadata:
  name: ${name}-settings # kpt-set: \${app}-settings
data:
  host: ${name}.internal # kpt-set: \${host}
  application.properties: |
    server.port=${port}
    cache.size=${pick(5000)}

    # Read by the start script.
${times(3 + pick(6), (index) => `    feature.number-${index}=${pick(2) === 0 ? 'on' : 'off'}\n`)}  start.sh: |-
    #!/bin/sh
    exec /app/server --config /etc/${name}/application.properties
`
}

function limits({ name, pick }: Service): string {
  return `apiVersion: v1
kind: ConfigMap
metadata:
  name: ${name}-limits
  labels:
    app: ${name} # kpt-set: \${app}
data:
${times(4 + pick(6), (index) => `  limit-${index}: "${pick(10_000)}"\n`)}`
}

function serviceAccount({ name }: Service): string {
  return `apiVersion: v1
kind: ServiceAccount
metadata:
  name: ${name}
automountServiceAccountToken: false
`
}

function role({ name }: Service): string {
  return `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: ${name}
rules:
  - apiGroups: [""]
    resources: ["configmaps", "endpoints"]
    verbs: ["get", "list", "watch"]
  - apiGroups: ["coordination.k8s.io"]
    resources: ["leases"]
    verbs: ["get", "update"]
`
}

function roleBinding({ name }: Service): string {
  return `apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: ${name}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: ${name}
subjects:
  - kind: ServiceAccount
    name: ${name}
`
}

function autoscaler({ name, replicas, pick }: Service): string {
  return `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: ${name}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: ${name} # kpt-set: \${app}
  minReplicas: ${replicas} # kpt-set: \${replicas}
  maxReplicas: ${replicas + 4 + pick(10)}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target:
          type: Utilization
          averageUtilization: ${60 + pick(30)}
`
}

function disruptionBudget({ name }: Service): string {
  return `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: ${name}
spec:
  minAvailable: 1
  selector:
    matchLabels:
      app: ${name} # kpt-set: \${app}
`
}

function ingress({ name }: Service): string {
  return `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: ${name}
  annotations:
    nginx.ingress.kubernetes.io/proxy-body-size: 8m
spec:
  ingressClassName: nginx
  rules:
    - host: ${name}.example.org # kpt-set: \${host}
      http:
        paths:
          - path: /
            pathType: Prefix
            backend:
              service:
                name: ${name} # kpt-set: \${app}
                port:
                  name: http
  tls:
    - hosts:
        - ${name}.example.org # kpt-set: \${host}
      secretName: ${name}-tls
`
}

function networkPolicy({ name, pick }: Service): string {
  return `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: ${name}
spec:
  podSelector:
    matchLabels:
      app: ${name} # kpt-set: \${app}
  policyTypes: [Ingress]
  ingress:
${times(1 + pick(3), () => `    - from:\n        - podSelector:\n            matchLabels:\n              app: ${WORDS[pick(WORDS.length)]}\n`)}`
}

function cleanup({ name, tag, pick }: Service): string {
  return `apiVersion: batch/v1
kind: CronJob
metadata:
  name: ${name}-cleanup # kpt-set: \${app}-cleanup
spec:
  schedule: "${pick(60)} ${pick(24)} * * *"
  concurrencyPolicy: Forbid
  jobTemplate:
    spec:
      backoffLimit: 2
      template:
        spec:
          restartPolicy: Never
          containers:
            - name: cleanup
              image: registry.example.com/shop/${name}:${tag} # kpt-set: registry.example.com/shop/\${app}:\${image-tag}
              command:
                - /app/cleanup
                - --older-than
                - ${1 + pick(30)}d
`
}
