import { configMap, mutated, type RenderCase, text } from '../render-case.ts'

const usual = mutated(
  '{exec: set-namespace, configMap: {namespace: shop}}',
  '{exec: set-labels, configMap: {team: shop}}',
  '{exec: ensure-name-substring, configMap: {prepend: shop-}}',
)

/** Kinds that functions treat in their own ways. */
export const kinds: readonly RenderCase[] = [
  {
    name: 'kinds-without-a-namespace',
    about: 'Objects that say no namespace: namespaced, cluster-scoped and unknown kinds.',
    files: {
      Kptfile: usual,
      'a.yaml': text`
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: settings
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRole
        metadata:
          name: reader
        rules:
        - apiGroups: [""]
          resources: ["pods"]
          verbs: ["get"]
        ---
        apiVersion: v1
        kind: PersistentVolume
        metadata:
          name: disk
        spec:
          capacity: {storage: 1Gi}
        ---
        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata:
          name: fast
        provisioner: example.com/fast
        ---
        apiVersion: example.com/v1
        kind: Thing
        metadata:
          name: thing
      `,
    },
  },
  {
    name: 'kinds-custom-resources',
    about: 'A CustomResourceDefinition and objects of it, with and without a namespace.',
    files: {
      Kptfile: usual,
      'crd.yaml': text`
        apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata:
          name: things.example.com
        spec:
          group: example.com
          scope: Namespaced
          names: {kind: Thing, plural: things}
          versions:
            - name: v1
              served: true
              storage: true
              schema:
                openAPIV3Schema:
                  type: object
                  x-kubernetes-preserve-unknown-fields: true
          conversion:
            strategy: Webhook
            webhook:
              conversionReviewVersions: ["v1"]
              clientConfig:
                service:
                  name: hook
                  namespace: old
      `,
      'things.yaml':
        'apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: one\n  namespace: old\nspec:\n  selector: {app: web}\n  template:\n    metadata:\n      labels: {app: web}\n---\napiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: two\n',
    },
  },
  {
    name: 'kinds-apiservice-and-webhooks',
    about: 'Objects that name a Service in another namespace.',
    files: {
      Kptfile: usual,
      'a.yaml': text`
        apiVersion: apiregistration.k8s.io/v1
        kind: APIService
        metadata:
          name: v1.example.com
        spec:
          group: example.com
          version: v1
          groupPriorityMinimum: 100
          versionPriority: 100
          service:
            name: api
            namespace: old
        ---
        apiVersion: admissionregistration.k8s.io/v1
        kind: ValidatingWebhookConfiguration
        metadata:
          name: checks
        webhooks:
        - name: check.example.com
          clientConfig:
            service: {name: hook, namespace: old}
          sideEffects: None
          admissionReviewVersions: ["v1"]
        ---
        apiVersion: v1
        kind: Service
        metadata:
          name: hook
          namespace: old
        spec:
          ports: [{port: 443}]
      `,
    },
  },
  {
    name: 'kinds-depends-on',
    about: 'depends-on annotations follow the namespace and the name.',
    files: {
      Kptfile: usual,
      'a.yaml': `${configMap('first', '  namespace: old\n')}---\n${configMap('second', '  namespace: old\n  annotations:\n    config.kubernetes.io/depends-on: /namespaces/old/ConfigMap/first # first of all\n')}`,
    },
  },
  {
    name: 'kinds-pod-templates',
    about: 'Labels and annotations in every kind that has a pod template.',
    files: {
      Kptfile: mutated(
        '{exec: set-labels, configMap: {app: new, added: "yes"}}',
        '{exec: set-annotations, configMap: {note: x}}',
        '{exec: set-image, configMap: {name: nginx, newTag: "9"}}',
      ),
      'a.yaml': [
        ['apps/v1', 'DaemonSet'],
        ['apps/v1', 'ReplicaSet'],
        ['apps/v1', 'StatefulSet'],
        ['batch/v1', 'Job'],
      ]
        .map(
          ([version, kind]) =>
            `apiVersion: ${version}\nkind: ${kind}\nmetadata:\n  name: one\nspec:\n  selector:\n    matchLabels:\n      app: one\n  template:\n    metadata:\n      labels:\n        app: one\n    spec:\n      containers:\n      - name: one\n        image: nginx # here\n`,
        )
        .join('---\n'),
      'b.yaml': text`
        apiVersion: v1
        kind: Pod
        metadata:
          name: pod
        spec:
          containers:
          - {name: one, image: "nginx:1"}
        ---
        apiVersion: policy/v1
        kind: PodDisruptionBudget
        metadata:
          name: budget
        spec:
          minAvailable: 1
          selector:
            matchLabels:
              app: one
        ---
        apiVersion: v1
        kind: ReplicationController
        metadata:
          name: old-style
        spec:
          template:
            spec:
              containers: []
        ---
        apiVersion: apps/v1
        kind: Deployment
        metadata:
          name: spread
        spec:
          template:
            spec:
              topologySpreadConstraints:
              - maxSkew: 1
                topologyKey: zone
                whenUnsatisfiable: DoNotSchedule
                labelSelector:
                  matchLabels: {app: one}
              affinity:
                podAntiAffinity:
                  requiredDuringSchedulingIgnoredDuringExecution:
                  - topologyKey: host
                    labelSelector:
                      matchLabels: {app: one}
      `,
    },
  },
  {
    name: 'kinds-duplicate-keys-and-nulls',
    about: 'Keys that stand twice, null maps and lists where functions want to write.',
    files: {
      Kptfile: mutated(
        '{exec: set-labels, configMap: {a: b}}',
        '{exec: set-annotations, configMap: {c: d}}',
      ),
      'a.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: nulls\n  annotations: ~\ndata: null\ndata: ~\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: empties\n  labels: {}\n  annotations: {}\ndata: {}\n',
    },
  },
]
