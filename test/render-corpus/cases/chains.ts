import { configMap, kptfile, mutated, type RenderCase, text } from '../render-case.ts'

const app = text`
  # The web server.
  apiVersion: apps/v1
  kind: Deployment
  metadata: # kpt-merge: /web
    name: web
    labels:
      app: web
  spec:
    replicas: 1 # kpt-set: \${replicas}
    selector:
      matchLabels:
        app: web
    template:
      metadata:
        labels:
          app: web
      spec:
        containers:
          - name: web
            image: nginx:1.0 # kpt-set: \${image}:\${tag}
            envFrom:
              - configMapRef:
                  name: settings
  ---
  apiVersion: v1
  kind: ConfigMap
  metadata: # kpt-merge: /settings
    name: settings
  data:
    LEVEL: info # kpt-set: \${level}
`
const setters = text`
  # What people set.
  apiVersion: v1
  kind: ConfigMap
  metadata:
    name: setters
    annotations:
      config.kubernetes.io/local-config: "true"
  data:
    replicas: "3"
    image: registry.example.com/nginx
    tag: "1.27"
    level: debug # for now
`

const wanted = text`
  apiVersion: v1
  kind: List
  metadata:
    name: wanted
    annotations:
      config.kubernetes.io/local-config: "true"
  items:
  - apiVersion: v1
    kind: ConfigMap
    metadata:
      name: settings
    data:
      a: new # wanted
`

/** Pipelines of several functions. */
export const chains: readonly RenderCase[] = [
  {
    name: 'chain-usual',
    about: 'Setters, namespace, labels, annotations and an image, as a package has them.',
    files: {
      Kptfile: text`
        apiVersion: kpt.dev/v1
        kind: Kptfile
        metadata:
          name: web
          annotations:
            config.kubernetes.io/local-config: "true"
        info:
          description: a web server
        pipeline:
          mutators:
            - exec: apply-setters
              configPath: setters.yaml
            - exec: set-namespace
              configMap:
                namespace: shop
            - exec: set-labels
              configMap:
                team: shop
            - exec: set-annotations
              configMap:
                owner: team-a
            - exec: set-image
              configMap:
                name: registry.example.com/nginx
                newTag: "1.28"
          validators:
            - exec: kubeconform
      `,
      'app.yaml': app,
      'setters.yaml': setters,
      'README.md': '# web\n',
    },
  },
  {
    name: 'chain-twice',
    about: 'The same function twice: the second has the last word, and what stands already stays.',
    files: {
      Kptfile: mutated(
        '{exec: set-labels, configMap: {app: one, a: b}}',
        '{exec: set-labels, configMap: {app: two}}',
        '{exec: ensure-name-substring, configMap: {prepend: x-}}',
        '{exec: ensure-name-substring, configMap: {prepend: x-}}',
        '{exec: set-namespace, configMap: {namespace: one}}',
        '{exec: set-namespace, configMap: {namespace: two}}',
      ),
      'app.yaml': app,
    },
  },
  {
    name: 'chain-order-matters',
    about: 'A rename before an upsert makes a second object, an upsert before a rename does not.',
    files: {
      Kptfile: kptfile(),
      'first/Kptfile': mutated(
        '{exec: ensure-name-substring, configMap: {append: -x}}',
        '{exec: upsert-resource, configPath: wanted.yaml}',
      ).replace('root', 'first'),
      'first/settings.yaml': configMap('settings', 'data:\n  a: old\n'),
      'first/wanted.yaml': wanted,
      'second/Kptfile': mutated(
        '{exec: upsert-resource, configPath: wanted.yaml}',
        '{exec: ensure-name-substring, configMap: {append: -x}}',
      ).replace('root', 'second'),
      'second/settings.yaml': configMap('settings', 'data:\n  a: old\n'),
      'second/wanted.yaml': wanted,
    },
  },
  {
    name: 'chain-create-then-label',
    about: 'An object that a function makes is seen by the functions after it.',
    files: {
      Kptfile: mutated(
        '{exec: corpus-create, configMap: {name: made}}',
        '{exec: set-labels, configMap: {app: web}}',
        '{exec: set-namespace, configMap: {namespace: shop}}',
        '{exec: ensure-name-substring, configMap: {prepend: x-}}',
      ),
      'app.yaml': app,
    },
  },
  {
    name: 'chain-setters-from-setters',
    about: 'create-setters and then apply-setters with other values.',
    files: {
      Kptfile: mutated(
        '{exec: create-setters, configMap: {name: web, level: info}}',
        '{exec: apply-setters, configMap: {name: site, level: warn}}',
      ),
      'a.yaml': configMap('web', 'data:\n  level: info\n  text: my-web-site\n'),
    },
  },
  {
    name: 'chain-no-op',
    about: 'Functions that change nothing leave a formatted package byte for byte.',
    files: {
      Kptfile: mutated('{exec: corpus-identity}').replace(
        '    - {exec: corpus-identity}',
        '    - exec: corpus-identity',
      ),
      'app.yaml': app,
    },
  },
  {
    name: 'chain-rendered-already',
    about: 'A package that is its own outcome.',
    files: {
      Kptfile: text`
        apiVersion: kpt.dev/v1
        kind: Kptfile
        metadata:
          name: root
        pipeline:
          mutators:
            - exec: set-labels
              configMap:
                app: web
            - exec: set-namespace
              configMap:
                namespace: shop
      `,
      'a.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a # here\n  namespace: shop\n  labels:\n    app: web\n',
    },
  },
  {
    name: 'chain-with-results',
    about: 'Functions that report and go on.',
    files: {
      Kptfile: mutated(
        '{exec: corpus-report, configMap: {message: "a remark", severity: warning}}',
        '{exec: corpus-report, configMap: {message: an error that does not fail, severity: error}}',
      ),
      'app.yaml': app,
    },
  },
]
