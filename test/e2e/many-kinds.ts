/** Objects of the built-in kinds as people write them, and a custom one. */
import { createHash } from 'node:crypto'
import { retryWhile } from '../waiting/wait-until.ts'
import type { World } from './world.ts'

/** The definition first, and everything until the server serves its kind. */
export async function applyAll(
  world: World,
  manifests: string,
  flags: readonly string[],
): Promise<void> {
  const apply = () => world.pipe(manifests, 'apply', ...flags, '-f', '-')
  const isUnserved = (thrown: unknown): boolean =>
    thrown instanceof Error && thrown.message.includes('no matches for kind')
  await retryWhile('the server serves its kind', apply, isUnserved)
}

export function objectsOfManyKinds(namespace: string): string {
  // Of its own for each test: a server gives an address and a port once.
  const [first = 0, second = 0] = createHash('sha256').update(namespace).digest()
  const [address, port] = [
    `10.96.${128 + (first % 64)}.${second}`,
    30_000 + second * 8 + (first % 8),
  ]
  return `apiVersion: v1
kind: Namespace
metadata: {name: ${namespace}-ns}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: sa, namespace: ${namespace}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: cm, namespace: ${namespace}}
data: {a: b}
---
apiVersion: v1
kind: Secret
metadata: {name: secret, namespace: ${namespace}}
stringData: {a: b}
---
apiVersion: v1
kind: Secret
metadata: {name: token, namespace: ${namespace}, annotations: {kubernetes.io/service-account.name: sa}}
type: kubernetes.io/service-account-token
---
apiVersion: v1
kind: Service
metadata: {name: svc, namespace: ${namespace}}
spec: {selector: {a: b}, ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: svcnp, namespace: ${namespace}}
spec: {type: NodePort, clusterIP: ${address}, selector: {a: b}, ports: [{name: a, port: 80, nodePort: ${port}}, {name: b, port: 81}]}
---
apiVersion: v1
kind: Service
metadata: {name: headless, namespace: ${namespace}}
spec: {clusterIP: None, selector: {a: b}, ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: lb, namespace: ${namespace}}
spec: {type: LoadBalancer, externalTrafficPolicy: Local, selector: {a: b}, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: ${namespace}}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      containers:
      - {name: a, image: x, resources: {limits: {cpu: 1000m, memory: 1024Mi}}, livenessProbe: {httpGet: {path: /, port: 80}}}
      volumes: [{name: v, configMap: {name: cm}}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: s, namespace: ${namespace}}
spec:
  serviceName: svc
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {containers: [{name: a, image: x}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: ds, namespace: ${namespace}}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {containers: [{name: a, image: x}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: ${namespace}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: x}]}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: cj, namespace: ${namespace}}
spec: {schedule: "* * * * *", suspend: true, jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: x}]}}}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: pvc, namespace: ${namespace}}
spec: {accessModes: [ReadWriteOnce], storageClassName: "", resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: ${namespace}-pv}
spec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, hostPath: {path: /tmp/x}, claimRef: {name: pvc, namespace: ${namespace}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: r, namespace: ${namespace}}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: rb, namespace: ${namespace}}
roleRef: {kind: Role, name: r, apiGroup: rbac.authorization.k8s.io}
subjects: [{kind: User, name: x},{kind: ServiceAccount, name: sa, namespace: ${namespace}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: "${namespace}:cr"}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: i, namespace: ${namespace}}
spec: {rules: [{host: a.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: svc, port: {number: 80}}}}]}}]}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: h, namespace: ${namespace}}
spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: p, namespace: ${namespace}}
spec: {minAvailable: 1, selector: {matchLabels: {a: b}}}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: netpol, namespace: ${namespace}}
spec: {podSelector: {}, ingress: [{ports: [{port: 80}]}]}
---
apiVersion: v1
kind: Pod
metadata: {name: pod, namespace: ${namespace}}
spec: {containers: [{name: a, image: x}]}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: q, namespace: ${namespace}}
spec: {hard: {pods: "10"}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: l, namespace: ${namespace}}
spec: {limits: [{type: Container, default: {cpu: 500m}}]}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: ${namespace}-pc}
value: 10
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: ${namespace}-sc}
provisioner: x
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: ${namespace}-vwc}
webhooks: [{name: a.example.com, admissionReviewVersions: [v1], sideEffects: None, failurePolicy: Ignore, clientConfig: {service: {name: a, namespace: ${namespace}}}, rules: [{apiGroups: [x.io], apiVersions: [v1], operations: [CREATE], resources: [things]}]}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.${namespace}.example.com}
spec:
  group: ${namespace}.example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer, default: 3}, color: {type: string}}}}}}
---
apiVersion: ${namespace}.example.com/v1
kind: Widget
metadata: {name: w, namespace: ${namespace}}
spec: {color: red}
`
}
