/** fluxcd/kustomize-controller#734, kubecfg#179: `ports:` with nothing behind it, and its kin of empty, null, `{}` and `[]`. */
import { type ReportCase, tell } from '../lab.ts'

export const reported: ReportCase = {
  right:
    'empty and null fields in six kinds are quiet, server-side and client-side; two edits are two lines',
  before: 'right',
  async run(lab) {
    await lab.files({ 'empty.yaml': EMPTY(lab.namespace) })
    await lab.serverSide()
    lab.checkQuiet('server-side', await lab.diff())
    await lab.kubectl('delete', '-f', lab.path('empty.yaml'))
    await lab.clientSide()
    lab.checkQuiet('client-side', await lab.diff())
    await lab.patch('configmap/empty', { data: { a: 'b' } }, { type: 'merge' })
    await lab.patch('networkpolicy/open', { spec: { egress: [{}] } }, { type: 'merge' })
    const diff = await lab.diff()
    const isTold =
      /ConfigMap\/empty data/.test(diff.lines.join()) &&
      /NetworkPolicy\/open spec\.egress/.test(diff.lines.join())
    lab.check('two edits', isTold && diff.lines.length === 2, tell(diff))
  },
}

const EMPTY = (namespace: string): string => `apiVersion: v1
kind: Service
metadata:
  name: peer
  namespace: ${namespace}
  labels:
  annotations:
spec:
  clusterIP: None
  ports:   # nothing
  selector:
    app: peer
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: ${namespace}, annotations: {}, labels: null}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: null}
    spec:
      affinity: {nodeAffinity: null}
      nodeSelector: {}
      tolerations: []
      imagePullSecrets: []
      securityContext: {}
      volumes: []
      initContainers: null
      containers:
      - name: web
        image: registry.example.com/web:1
        env:
        envFrom:
        args: []
        command: null
        ports: []
        resources: {limits: {}, requests: {}}
        securityContext: {}
        volumeMounts: null
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: open, namespace: ${namespace}}
spec: {podSelector: {}, ingress: [{}], egress: [], policyTypes: [Ingress, Egress]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: empty, namespace: ${namespace}}
data:
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: app, namespace: ${namespace}}
secrets: []
imagePullSecrets:
automountServiceAccountToken: null
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: none, namespace: ${namespace}}
rules: []
`
