/** Configs for the functions that make objects of Config Connector. Their objects are in the package: the config itself is one, and is not read. */
import { BESIDE_SERVICE_SET } from './beside-objects.ts'
import { type FunctionConfig, type FunctionConfigs, file, map } from './config-entries.ts'

const services = (metadata: string, spec: string): FunctionConfig =>
  file(`apiVersion: blueprints.cloud.google.com/v1alpha1\nkind: ProjectServiceSet\nmetadata: ${metadata}\nspec: ${spec}\n`)
const DNS = '{services: [dns.googleapis.com]}'

export const GOOGLE_CONFIGS: { readonly [name: string]: FunctionConfigs } = {
  'enable-gcp-services': {
    working: [
      {},
      map({ services: 'dns.googleapis.com' }),
      services('{name: web}', DNS),
      services('\n  name: web\n  annotations:\n    owner: value # why', '\n  projectID: "80"\n  services:\n  - dns.googleapis.com'),
      services('{name: web, annotations: {config.kubernetes.io/local-config: "false", a: "80", b: on}}', DNS),
      services('{name: web, annotations: {n: 80, empty: "", nothing: , text: |\n  two\n  lines\n}}', DNS),
      services('{name: web, namespace: "dev", labels: {app: web}}', '{services: [a.b.c, "d.e.f.g"], projectID: 80}'),
      services('{name: "web"}', '{services: [dns.googleapis.com, dns.example.com]}'),
      services('{name: web}', '{services: [dns.googleapis.com], projectID: on, other: {a: b}}'),
      services('{name: set}', '{services: [compute.googleapis.com], projectID: ~}'),
      services('{name: set, namespace: dev}', '{services: [1.2.3, redis.googleapis.com]}'),
      services('{name: a/b}', DNS),
      services('{name: ..}', DNS),
      services('{namespace: dev, annotations: &a {x: y}, labels: *a, name: web}', '{services: [&s dns.googleapis.com], projectID: *s}'),
      services('{name: "12", annotations: {}}', '{services: ["8.8.8", true.x.y, "-.x.y", "a b.c.d", "é.x.y"]}'),
      services('{name: web, annotations: {config.k8s.io/id: "7", x: "a: b", y: "#"}}', '{services: [.., "...", "#.a.b"]}'),
      services('{name: web, annotations: {blueprints.cloud.google.com/ownerReference: x}}', DNS),
      services(
        '{name: web, annotations: {blueprints.cloud.google.com/ownerReference: blueprints.cloud.google.com/ProjectServiceSet/web}}',
        DNS,
      ),
      file(`apiVersion: blueprints.cloud.google.com/v1alpha1\nkind: ProjectServiceSetList\nmetadata: {name: web}\n`),
      file(`apiVersion: blueprints.cloud.google.com/v1alpha2\nkind: ProjectServiceSet\nmetadata: {name: web}\nspec: ${DNS}\n`),
    ],
    wrong: [
      ...['{}', '~', '[]', 'a', '{services: }', '{services: []}', '{services: dns.googleapis.com}', '{services: {a: b}}'].map((spec) =>
        services('{name: web}', spec),
      ),
      ...[
        '{services: [dns]}',
        '{services: [a.b.c, a.b]}',
        '{services: [~]}',
        '{services: [[a.b.c]]}',
        '{services: [a.b.c], projectID: []}',
      ].map((spec) => services('{name: web}', spec)),
      ...['labels: {a: {b: c}}', 'annotations: {a: [b]}', 'labels: a'].map((more) => services(`{name: web, ${more}}`, DNS)),
      services('{name: web}', '{services: [a.b.c], services: [d.e.f]}'),
      services('{name: web}', '{<<: {services: [a.b.c]}}'),
      services('{name: web}', '{services: [!!binary aGk=, a.b.c]}'),
    ],
    beside: BESIDE_SERVICE_SET,
  },
}
