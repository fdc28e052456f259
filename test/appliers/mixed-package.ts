/** A small package of everything that appliers and servers treat in their own way; each call is of kinds and names of its own. */

/** YAML documents. @param namespace of its objects; its cluster-scoped objects and its kind are named after it */
export function mixedPackage(namespace: string): string {
  const group = `${namespace}.example.com`
  const meta = (name: string): string => `metadata:\n  name: ${name}\n  namespace: ${namespace}\n`
  return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: gadgets.${group}
spec:
  group: ${group}
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer}
              policy: {type: string, default: Soft}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: view-${namespace}
aggregationRule:
  clusterRoleSelectors:
  - matchLabels:
      aggregate-to-view-${namespace}: "true"
rules: []
---
apiVersion: apps/v1
kind: Deployment
${meta('web')}  labels:
    app: web
spec:
  replicas: 2
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: app
        image: example.com/shop/web:1.4.2
        ports:
        - containerPort: 8080
        env:
        - name: LOG_LEVEL
          value: info
---
apiVersion: v1
kind: Service
${meta('web')}spec:
  selector: {app: web}
  ports:
  - name: http
    port: 80
    targetPort: 8080
---
apiVersion: v1
kind: ConfigMap
${meta('settings')}data:
  timeout: "30"
---
apiVersion: v1
kind: Secret
${meta('token')}stringData:
  token: ${SECRET}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
${meta('web')}spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: web
  minReplicas: 2
  maxReplicas: 5
  metrics:
  - type: Resource
    resource:
      name: cpu
      target: {type: Utilization, averageUtilization: 80}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: checks-${namespace}
  annotations:
    cert-manager.io/inject-ca-from: ${namespace}/checks
webhooks:
- name: gadgets.checks.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  rules:
  - apiGroups: [nothing.${group}]
    apiVersions: [v1]
    operations: [CREATE]
    resources: [nothings]
  clientConfig:
    service:
      name: web
      namespace: ${namespace}
---
apiVersion: ${group}/v1
kind: Gadget
${meta('one')}spec:
  size: 3
`
}

/** What its Secret holds. */
const SECRET = 'a-token-of-the-mixed-package'
