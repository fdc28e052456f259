import { configMap, mutated, type RenderCase, text } from '../render-case.ts'

const deployment = text`
  apiVersion: apps/v1
  kind: Deployment
  metadata:
    name: web
    namespace: old
    labels:
      app: web
  spec:
    replicas: 3
    selector:
      matchLabels:
        app: web
    template:
      metadata:
        labels:
          app: web
        annotations:
          note: "1"
      spec:
        initContainers:
        - name: init
          image: nginx:1.0
        containers:
        - name: web
          image: nginx:1.0 # the server
          ports:
          - containerPort: 80
        - name: side
          image: registry.example.com/side@sha256:0000000000000000000000000000000000000000000000000000000000000000
        serviceAccountName: web
        volumes:
        - name: config
          configMap:
            name: web-config
`
const service = text`
  apiVersion: v1
  kind: Service
  metadata:
    name: web
    namespace: old
  spec:
    selector:
      app: web
    ports:
    - port: 80
      targetPort: 80
`
const access = text`
  apiVersion: v1
  kind: Namespace
  metadata:
    name: old
  ---
  apiVersion: v1
  kind: ServiceAccount
  metadata:
    name: web
    namespace: old
  ---
  apiVersion: rbac.authorization.k8s.io/v1
  kind: RoleBinding
  metadata:
    name: web
    namespace: old
  roleRef:
    apiGroup: rbac.authorization.k8s.io
    kind: Role
    name: web
  subjects:
  - kind: ServiceAccount
    name: web
    namespace: old
  ---
  apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRoleBinding
  metadata:
    name: web
  roleRef:
    apiGroup: rbac.authorization.k8s.io
    kind: ClusterRole
    name: view
  subjects:
  - kind: ServiceAccount
    name: web
    namespace: old
  - kind: User
    name: somebody
`
const more = text`
  apiVersion: batch/v1
  kind: CronJob
  metadata:
    name: nightly
    namespace: old
  spec:
    schedule: "0 3 * * *"
    jobTemplate:
      spec:
        template:
          spec:
            containers:
            - name: job
              image: nginx:1.0
            restartPolicy: Never
  ---
  apiVersion: apps/v1
  kind: StatefulSet
  metadata:
    name: db
    namespace: old
  spec:
    serviceName: db
    selector:
      matchLabels:
        app: db
    template:
      metadata:
        labels:
          app: db
      spec:
        containers:
        - name: db
          image: postgres:16
    volumeClaimTemplates:
    - metadata:
        name: data
      spec:
        accessModes: ["ReadWriteOnce"]
  ---
  apiVersion: networking.k8s.io/v1
  kind: NetworkPolicy
  metadata:
    name: web
    namespace: old
  spec:
    podSelector:
      matchLabels:
        app: web
    ingress:
    - from:
      - podSelector:
          matchLabels:
            app: db
  ---
  apiVersion: v1
  kind: ConfigMap
  metadata:
    name: web-config
    namespace: old
  data:
    image: nginx:1.0
`

const tree = {
  'deployment.yaml': deployment,
  'service.yaml': service,
  'access.yaml': access,
  'more.yaml': more,
}

/** Each function alone over the same small application. */
export const singleFunctions: readonly RenderCase[] = [
  {
    name: 'one-set-namespace',
    about: 'set-namespace over everything.',
    files: { Kptfile: mutated('{exec: set-namespace, configMap: {namespace: shop}}'), ...tree },
  },
  {
    name: 'one-set-namespace-package-context',
    about: 'set-namespace from package-context.yaml, as blueprints have it.',
    files: {
      Kptfile: mutated('{exec: set-namespace, configPath: package-context.yaml}'),
      'package-context.yaml': text`
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: kptfile.kpt.dev
          annotations:
            config.kubernetes.io/local-config: "true"
        data:
          name: shop
      `,
      ...tree,
    },
  },
  {
    name: 'one-set-labels',
    about: 'set-labels over everything.',
    files: { Kptfile: mutated('{exec: set-labels, configMap: {app: shop, tier: front}}'), ...tree },
  },
  {
    name: 'one-set-labels-own-kind',
    about: 'set-labels with its own kind of config.',
    files: {
      Kptfile: mutated('{exec: set-labels, configPath: labels.yaml}'),
      'labels.yaml': text`
        apiVersion: fn.kpt.dev/v1alpha1
        kind: SetLabels
        metadata:
          name: labels
          annotations:
            config.kubernetes.io/local-config: "true"
        labels:
          team: one # remark
      `,
      ...tree,
    },
  },
  {
    name: 'one-set-annotations',
    about: 'set-annotations over everything.',
    files: {
      Kptfile: mutated('{exec: set-annotations, configMap: {owner: team-a, note: "2"}}'),
      ...tree,
    },
  },
  {
    name: 'one-set-annotations-own-kind',
    about: 'set-annotations with its own kind of config and another place.',
    files: {
      Kptfile: mutated('{exec: set-annotations, configPath: annotations.yaml}'),
      'annotations.yaml': text`
        apiVersion: fn.kpt.dev/v1alpha1
        kind: SetAnnotations
        metadata:
          name: annotations
          annotations:
            config.kubernetes.io/local-config: "true"
        annotations:
          owner: team-a
        additionalAnnotationFields:
        - path: spec/notes
          kind: Thing
          create: true
      `,
      'thing.yaml': 'apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: thing\nspec: {}\n',
      ...tree,
    },
  },
  {
    name: 'one-set-image',
    about: 'set-image by name, with a new name and tag.',
    files: {
      Kptfile: mutated(
        '{exec: set-image, configMap: {name: nginx, newName: registry.example.com/nginx, newTag: "1.27"}}',
      ),
      ...tree,
    },
  },
  {
    name: 'one-set-image-digest',
    about: 'set-image with a digest.',
    files: {
      Kptfile: mutated(
        '{exec: set-image, configMap: {name: nginx, digest: "sha256:1111111111111111111111111111111111111111111111111111111111111111"}}',
      ),
      ...tree,
    },
  },
  {
    name: 'one-apply-setters',
    about: 'apply-setters: whole values, parts of values, lists, and a setter that nobody names.',
    files: {
      Kptfile: mutated(
        '{exec: apply-setters, configMap: {name: shop, tag: "1.27", replicas: "5", envs: "[dev, prod]"}}',
      ),
      'a.yaml': text`
        apiVersion: apps/v1
        kind: Deployment
        metadata:
          name: web-deploy # kpt-set: \${name}-deploy
          annotations:
            environments: x # kpt-set: \${unknown}
        spec:
          replicas: 3 # kpt-set: \${replicas}
          template:
            spec:
              containers:
              - name: web # kpt-set: \${name}
                image: nginx:1.0 # kpt-set: nginx:\${tag}
                args: # kpt-set: \${envs}
                - one
                - two
      `,
    },
  },
  {
    name: 'one-create-setters',
    about: 'create-setters writes the comments that apply-setters reads.',
    files: {
      Kptfile: mutated(
        '{exec: create-setters, configMap: {app: web, tag: "1.0", ns: old, ports: "[80]"}}',
      ),
      ...tree,
    },
  },
  {
    name: 'one-search-replace',
    about: 'search-replace by value everywhere.',
    files: {
      Kptfile: mutated(
        '{exec: search-replace, configMap: {by-value: "nginx:1.0", put-value: "nginx:1.27"}}',
      ),
      ...tree,
    },
  },
  {
    name: 'one-search-replace-path',
    about: 'search-replace by path and by expression, with a comment put beside.',
    files: {
      Kptfile: mutated(
        `{exec: search-replace, configMap: {by-path: "metadata.name", by-value-regex: "(we)b", put-value: "\${1}bsite"}}`,
        `{exec: search-replace, configMap: {by-path: "spec.template.spec.containers[*].image", put-comment: "kpt-set: \${image}"}}`,
        '{exec: search-replace, configMap: {by-path: "spec.replicas", put-value: "7"}}',
      ),
      ...tree,
    },
  },
  {
    name: 'one-ensure-name-substring',
    about: 'ensure-name-substring puts a prefix before every name and follows the references.',
    files: {
      Kptfile: mutated('{exec: ensure-name-substring, configMap: {prepend: prod-}}'),
      ...tree,
    },
  },
  {
    name: 'one-ensure-name-substring-append',
    about: 'The same behind the names.',
    files: { Kptfile: mutated('{exec: ensure-name-substring, configMap: {append: -v2}}'), ...tree },
  },
  {
    name: 'one-upsert-resource-there',
    about: 'upsert-resource replaces an object that is there.',
    files: {
      Kptfile: mutated('{exec: upsert-resource, configPath: wanted.yaml}'),
      '.krmignore': 'nothing\n',
      'wanted.yaml':
        'apiVersion: v1\nkind: Service\nmetadata:\n  name: web # wanted\n  namespace: old\n  annotations:\n    config.kubernetes.io/local-config: "true"\nspec:\n  # only this\n  ports: [{port: 8080}]\n',
      ...tree,
    },
  },
  {
    name: 'one-apply-replacements',
    about: 'apply-replacements copies a value, a part of one, and into a list.',
    files: {
      Kptfile: mutated('{exec: apply-replacements, configPath: replacements.yaml}'),
      'replacements.yaml': text`
        apiVersion: fn.kpt.dev/v1alpha1
        kind: ApplyReplacements
        metadata:
          name: replacements
          annotations:
            config.kubernetes.io/local-config: "true"
        replacements:
        - source:
            kind: ConfigMap
            name: web-config
            fieldPath: data.image
          targets:
          - select:
              kind: Deployment
            fieldPaths:
            - spec.template.spec.containers.[name=side].image
        - source:
            kind: ConfigMap
            name: web-config
            fieldPath: data.image
            options:
              delimiter: ':'
              index: 1
          targets:
          - select:
              kind: StatefulSet
            fieldPaths:
            - spec.template.spec.containers.0.image
            options:
              delimiter: ':'
              index: 1
          - select:
              kind: Deployment
            fieldPaths:
            - metadata.labels.version
            options:
              create: true
      `,
      ...tree,
    },
  },
  {
    name: 'one-kubeconform',
    about: 'kubeconform finds nothing wrong.',
    files: { Kptfile: mutated('{exec: kubeconform}'), 'service.yaml': service },
  },
  {
    name: 'one-without-a-target',
    about: 'Functions that find nothing to change only format.',
    files: {
      Kptfile: mutated(
        '{exec: set-image, configMap: {name: other, newTag: "2"}}',
        '{exec: apply-setters, configMap: {nobody: asks}}',
        '{exec: search-replace, configMap: {by-value: nowhere, put-value: x}}',
      ),
      'a.yaml': configMap('a', 'data: {a:   b}\n'),
    },
  },
]
