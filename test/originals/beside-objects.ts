/** Texts of the files `beside.yaml` (function-configs.ts). */

/** What replacements read and write. */
export const BESIDE = `apiVersion: v1
kind: ConfigMap
metadata:
  name: src
  namespace: dev
  labels: {app: src}
data:
  plain: value
  quoted: "80" # as text
  number: 80
  json: '{"a": {"b": "value"}}'
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: target
spec:
  replicas: 3
  template:
    spec:
      containers:
      - name: web
        image: reg/web:1.0
      - name: web-proxy
        image: reg/proxy:1.0
---
apiVersion: v1
kind: Service
metadata:
  name: target
  namespace: dev
spec:
  ports: [{port: 80}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: target
  annotations:
    kubernetes.io/ingress.class: "nginx"
spec:
  rules:
  - host: a.example.com
`

/** Resources to be replaced that are not the first of their file. */
export const BESIDE_UPSERTED = `apiVersion: v1
kind: ConfigMap
metadata: {name: first}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: second # kept
  namespace: dev
  annotations: {owner: value}
data: {a: b}
---
apiVersion: example.com/v1
kind: Widget
metadata:
  name: marked
  annotations:
    config.kubernetes.io/function: x
`

/** What a way through JSON changes. */
export const NOT_JSON = `apiVersion: example.com/v1
kind: Widget
metadata:
  name: numbers
  labels: &labels {b10: x, b9: y, B: z, _a: '1', a-b: "2", a.b: 3, aé: 4, x01: a, x1: b, x001: c, x1a: d}
  annotations: *labels
spec:
  integers: [1000000, 999999, 123456789012345678901, -1000000, 017, 0o17, 0x1F, 0b101, 1_000, 9007199254740993, -0, +5]
  floats: [1.50, 1e3, 1e21, 1.0, 0.00001, 0.0001, 1e-7, .5, 5., -1.5e+10, 1234567.5]
  times: [2020-01-02, 2020-1-2T3:04:05.120Z, 2020-01-02 03:04:05, 2020-01-02T03:04:05+02:00, "2020-01-02"]
  texts: [yes, No, on, y, "true", '12:30', 12:30:45, "1_0", "null", '~', "0x1", "1e3", "a: b", "- a", " x", "x ", "#x", <<, =, "<a>&"]
  words: [True, FALSE, Null, ~, ]
  lines: ["a\\nb", "a\\n", " a\\nb", "a \\nb", "a\\tb", "a\\n\\n", "é\\U0001F600", ""]
  tagged: [!!str 80, !!float 3, !!int "4", !!binary aGk=, ! 80]
  containers:
  initContainers: [{image: nginx}, {image: "nginx:1.0"}, {image: 80}, {image: nginx@sha256:ab}, {image: nginx:1@sha256:ab}, {image: ~}]
  template: {spec: {initContainers: [{image: a/b:5000/nginx:1}], containers: {image: nginx:1.0}}}
---
kind: Widget
metadata: {name: second, namespace: dev}
apiVersion: example.com/v2
spec:
  image: 'nginx:1.0' # image
  list: # of images
  - {name: &one nginx:1.0} # first
  - name: *one # again
    others: [nginx, *one]
  none: ~
`

/** A set of services with a namespace, and services of sets of an earlier run. */
export const BESIDE_SERVICE_SET = `# the services of a project
apiVersion: blueprints.cloud.google.com/v1alpha1
kind: ProjectServiceSet
metadata: # of the set
  name: set # its name
  namespace: dev
  annotations:
    cnrm.cloud.google.com/deletion-policy: abandon # kept
    owner: "value"
spec:
  services: # all of them
  - compute.googleapis.com # first
  - redis.googleapis.com
  projectID: project # kpt-set: \${project}
---
apiVersion: serviceusage.cnrm.cloud.google.com/v1beta1
kind: Service
metadata:
  name: set-redis
  namespace: dev
  annotations:
    blueprints.cloud.google.com/ownerReference: blueprints.cloud.google.com/ProjectServiceSet/set
spec:
  resourceID: redis.googleapis.com # an edit that goes
---
apiVersion: serviceusage.cnrm.cloud.google.com/v1beta1
kind: Service
metadata:
  name: web-dns
  annotations: {blueprints.cloud.google.com/ownerReference: 'blueprints.cloud.google.com/ProjectServiceSet/web'}
spec: {resourceID: dns.googleapis.com}
---
apiVersion: serviceusage.cnrm.cloud.google.com/v1beta1
kind: Service
metadata:
  name: foreign
  annotations:
    blueprints.cloud.google.com/ownerReference: blueprints.cloud.google.com/ProjectServiceSet/none
spec:
  resourceID: dns.googleapis.com
`

/** What has labels in many places, below lists and in odd forms. */
export const BESIDE_LABELLED = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: labelled # its name
  labels: # of the object
    app: 'web' # replaced
spec:
  replicas: 1000000
  template:
    metadata: {labels: {app: "web"}}
    spec:
      affinity:
        podAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
          - weight: 100
            podAffinityTerm:
              labelSelector: {matchLabels: {app: web}}
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - labelSelector:
              matchLabels:
                app: web
              matchExpressions: []
          - topologyKey: zone
      topologySpreadConstraints:
      - labelSelector: {matchLabels: {tier: web}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: job}
spec:
  selector: {matchLabels: {app: web}}
  template: {spec: {containers: []}}
---
apiVersion: batch/v1beta1
kind: CronJob
metadata: {name: cron}
spec: {jobTemplate: {spec: {selector: {matchLabels: {}}, template: {}}}}
---
apiVersion: example.com/v1
kind: Widget
metadata:
  name: numbers
  annotations: {a: 2020-01-02, b: "12:30"}
spec:
  selector: {app: web}
  list: [{labels: {app: web}}, {}]
  numbers: [1e3, 017, 0x1F, 1.50, -0, .5, 1234567.5, 1e21, 1e-7, 123456789012345678901, 9223372036854775808, 1_000, -9223372036854775808]
  words: [yes, on, "true", 'y', 2020-01-02, "12:30:45", "1_0", '~', "0x1", "1e3", "a: b", "- a", " x", "x ", "#x", "<<", "=", ""]
  lines: "a\\nb"
  more: ["a\\n", " a\\nb", "a\\tb", "é\\U0001F600", "a\\n\\n"]
  keys: {on: a, 12: b, b10: c, b9: d, B: e, _a: f, a-b: g, a.b: h, x01: i, x1: j}
`

/** A hierarchy of folders, one of them made by an earlier run, and what a way through JavaScript changes. */
export const BESIDE_HIERARCHY = `# the folders
apiVersion: blueprints.cloud.google.com/v1alpha3
kind: ResourceHierarchy
metadata: # of the hierarchy
  name: beside # its name
  namespace: dev
  annotations:
    cnrm.cloud.google.com/deletion-policy: abandon # kept
spec:
  parentRef:
    external: 123456789012 # kpt-set: \${organization}
  config: # all of them
  - web: # first
    - Team "One"
    - dev
  - prod
---
apiVersion: resourcemanager.cnrm.cloud.google.com/v1beta1
kind: Folder
metadata:
  name: web.dev
  namespace: dev
spec:
  displayName: dev # an edit that goes
---
apiVersion: example.com/v1
kind: Widget
metadata:
  name: values
  labels: &labels {b10: x, _a: '1', a-b: "2", a: on, é: 4, <<: {b9: y, a: z}}
  annotations: *labels
spec:
  integers: [1000000, 123456789012345678901, 017, 08, 0o17, 0x1F, 0b101, 1_000, 1_, -0, +5, 1:30, 1:70, 9007199254740993, -0x1F, 0_7]
  floats: [1.50, 1e3, 1e21, 1.0, 1e-7, .5, 5., -1.5e+10, 1234567.5, -0.0, 1.e5, 1:30.5, 1_0.5, -.5, 12e03, 1.5E-10]
  times: [2020-01-02, 2020-1-2T3:04:05.120Z, 2020-01-02 03:04:05, 2020-01-02T03:04:05+02:00, "2020-01-02", 2020-1-2]
  texts: [yes, No, y, "true", '12:30', "1_0", "null", '~', "0x1", "1e3", "a: b", "- a", " x", "x ", "#x", "a#b", "a #b", "<<", =, "<a>&", a=b]
  more: [a:b, "a,b", "{a", "a{b", "-a", a-b, "?a", "!a", a!, "'a", a'b, "%a", "@a", "|a", ">", "*a", "&a", "[", "a]", "a\\tb", "é\\U0001F600", "\\u0085", "\\uFEFFa"]
  words: [True, FALSE, Null, ~, ]
  lines: ["a\\nb", "a\\n", " a\\nb", "a \\nb", "a\\tb\\nc", "a\\n\\n", "\\n", ""]
  tagged: [!!str 80, !!float 3, !!int "4", ! 80]
  keys: {on: a, 12: b, 017: c, 1.50: d, true: e, "a: b": f, "": g, 2: h}
  empty: [[], {}, [[]], [{}]]
  nested: [[[a, b], c], d, [[], {x: {y: z}, w: [1]}], [{}, [a, b]]]
`
