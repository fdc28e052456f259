/** Configs for the functions that make objects of Config Connector. Their objects are in the package: the config itself is one, and is not read. */
import { BESIDE_HIERARCHY, BESIDE_SERVICE_SET } from './beside-objects.ts'
import { type FunctionConfig, type FunctionConfigs, file, map } from './config-entries.ts'

const services = (metadata: string, spec: string): FunctionConfig =>
  file(
    `apiVersion: blueprints.cloud.google.com/v1alpha1\nkind: ProjectServiceSet\nmetadata: ${metadata}\nspec: ${spec}\n`,
  )
const DNS = '{services: [dns.googleapis.com]}'

const hierarchy = (apiVersion: string, spec: string, metadata = '{name: web}'): FunctionConfig =>
  file(`apiVersion: ${apiVersion}\nkind: ResourceHierarchy\nmetadata: ${metadata}\nspec: ${spec}\n`)
const V1 = 'cft.dev/v1alpha1'
const V2 = 'cft.dev/v1alpha2'
const V3 = 'blueprints.cloud.google.com/v1alpha3'
const versions = (spec: string, metadata?: string): readonly FunctionConfig[] =>
  [V2, V3].map((version) => hierarchy(version, spec, metadata))
const ROOT = 'parentRef: {external: "1"}'

export const GOOGLE_CONFIGS: { readonly [name: string]: FunctionConfigs } = {
  'enable-gcp-services': {
    working: [
      {},
      map({ services: 'dns.googleapis.com' }),
      services('{name: web}', DNS),
      services(
        '\n  name: web\n  annotations:\n    owner: value # why',
        '\n  projectID: "80"\n  services:\n  - dns.googleapis.com',
      ),
      services(
        '{name: web, annotations: {config.kubernetes.io/local-config: "false", a: "80", b: on}}',
        DNS,
      ),
      services(
        '{name: web, annotations: {n: 80, empty: "", nothing: , text: |\n  two\n  lines\n}}',
        DNS,
      ),
      services(
        '{name: web, namespace: "dev", labels: {app: web}}',
        '{services: [a.b.c, "d.e.f.g"], projectID: 80}',
      ),
      services('{name: "web"}', '{services: [dns.googleapis.com, dns.example.com]}'),
      services('{name: web}', '{services: [dns.googleapis.com], projectID: on, other: {a: b}}'),
      services('{name: set}', '{services: [compute.googleapis.com], projectID: ~}'),
      services('{name: set, namespace: dev}', '{services: [1.2.3, redis.googleapis.com]}'),
      services('{name: a/b}', DNS),
      services('{name: ..}', DNS),
      services(
        '{namespace: dev, annotations: &a {x: y}, labels: *a, name: web}',
        '{services: [&s dns.googleapis.com], projectID: *s}',
      ),
      services(
        '{name: "12", annotations: {}}',
        '{services: ["8.8.8", true.x.y, "-.x.y", "a b.c.d", "é.x.y"]}',
      ),
      services(
        '{name: web, annotations: {config.k8s.io/id: "7", x: "a: b", y: "#"}}',
        '{services: [.., "...", "#.a.b"]}',
      ),
      services('{name: web, annotations: {blueprints.cloud.google.com/ownerReference: x}}', DNS),
      services(
        '{name: web, annotations: {blueprints.cloud.google.com/ownerReference: blueprints.cloud.google.com/ProjectServiceSet/web}}',
        DNS,
      ),
      file(
        `apiVersion: blueprints.cloud.google.com/v1alpha1\nkind: ProjectServiceSetList\nmetadata: {name: web}\n`,
      ),
      file(
        `apiVersion: blueprints.cloud.google.com/v1alpha2\nkind: ProjectServiceSet\nmetadata: {name: web}\nspec: ${DNS}\n`,
      ),
    ],
    wrong: [
      ...[
        '{}',
        '~',
        '[]',
        'a',
        '{services: }',
        '{services: []}',
        '{services: dns.googleapis.com}',
        '{services: {a: b}}',
      ].map((spec) => services('{name: web}', spec)),
      ...[
        '{services: [dns]}',
        '{services: [a.b.c, a.b]}',
        '{services: [~]}',
        '{services: [[a.b.c]]}',
        '{services: [a.b.c], projectID: []}',
      ].map((spec) => services('{name: web}', spec)),
      ...['labels: {a: {b: c}}', 'annotations: {a: [b]}', 'labels: a'].map((more) =>
        services(`{name: web, ${more}}`, DNS),
      ),
      services('{name: web}', '{services: [a.b.c], services: [d.e.f]}'),
      services('{name: web}', '{<<: {services: [a.b.c]}}'),
      services('{name: web}', '{services: [!!binary aGk=, a.b.c]}'),
    ],
    beside: BESIDE_SERVICE_SET,
  },
  'generate-folders': {
    working: [
      {},
      map({ organization: '1' }),
      ...versions(`{${ROOT}, config: [Dev, {Prod: [Team_1, "Team 'Two'", é]}]}`),
      ...versions(
        '{parentRef: {kind: Folder, external: 7}, config: [{a: [{b: [{c: [d]}]}]}]}',
        '{name: web, namespace: dev, labels: {app: web}}',
      ),
      ...versions(
        '{parentRef: {kind: Organization, external: A_b}, config: [dev, on, "12"]}',
        '{name: web, annotations: {a: "1", b: "x: y", 7: on}}',
      ),
      ...versions(
        `{${ROOT}, subtrees: {one: [x, {y: [z]}], two: [{w: {$subtree: one}}]}, config: [{a: {$subtree: two}}, {b: {$subtree: one}}]}`,
      ),
      ...versions(
        `{${ROOT}, config: [7, true, ~, {a: 7}, {b: text, c: [d]}, {9: [x], 1: [y]}, [x, y], {e: []}]}`,
      ),
      ...versions(
        `{${ROOT}, config: []}`,
        '{name: web, annotations: {config.kubernetes.io/local-config: "true", config.k8s.io/function: x}}',
      ),
      ...versions(
        `\n  ${ROOT} # root\n  config: # folders\n  - web # one\n  - dev:\n    - prod # two`,
        '\n  name: web # hierarchy\n  namespace: dev # where',
      ),
      hierarchy(
        V1,
        '{organization: 12, layers: [env, team], config: {env: [Dev, Prod], team: ["Team One", 7, true]}}',
      ),
      hierarchy(
        V1,
        '{organization: "A b", layers: [env], config: {env: [dev, dev], other: [x]}}',
        '{name: web, namespace: "dev", annotations: {a: b}}',
      ),
      hierarchy(V1, '{layers: [], config: {}}'),
      hierarchy('cft.dev/v1', '{}'),
    ],
    wrong: [
      ...[
        '{}',
        '~',
        '{config: [a]}',
        '{parentRef: {}, config: [a]}',
        '{parentRef: ~, config: [a]}',
        `{${ROOT}}`,
        `{${ROOT}, config: {a: b}}`,
      ].flatMap((spec) => versions(spec)),
      ...['{a: ~}', '{a: {}}', '{a: {$subtree: none}}', '{}', '[]'].map((folder) =>
        hierarchy(V3, `{${ROOT}, config: [${folder}]}`),
      ),
      hierarchy(V3, '{parentRef: {kind: Project, external: a}, config: [a]}'),
      hierarchy(V3, '{parentRef: {kind: ~, external: a}, config: [a]}'),
      hierarchy(V3, `{${ROOT}, subtrees: {two: [{w: {$subtree: one}}], one: [x]}, config: [a]}`),
      hierarchy(V3, `{${ROOT}, config: [a], config: [b]}`),
      hierarchy(V3, `{${ROOT}, config: [!!set {a, b}]}`),
      hierarchy(V3, `{${ROOT}, config: [2020-01-02]}`),
      hierarchy(V3, '{parentRef: {external: 2020-01-02}, config: [a]}'),
      hierarchy(V1, '{organization: 1, layers: [env], config: {}}'),
      hierarchy(V1, '{organization: 1, config: {}}'),
      hierarchy(V1, '{organization: 1, layers: [env], config: {env: ~}}'),
    ],
    beside: BESIDE_HIERARCHY,
  },
}
