/** Packages and objects by size, for benchmarks. The same options give the same bytes. */
export interface GenerateOptions {
  readonly objects: number
  readonly objectsPerPackage: number
  readonly seed: number
}

/** A Kubernetes object as JSON. */
export interface BenchObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly [key: string]: unknown
  }
  readonly [key: string]: unknown
}

export interface BenchPackage {
  /** From the root of the repository. */
  readonly path: string
  readonly namespace: string
  readonly objects: readonly BenchObject[]
}

/** Percent; the rest are ConfigMaps. */
const MIX = { Deployment: 10, Service: 8, ServiceAccount: 5, Widget: 5, Secret: 2 } as const

export const WIDGETS = {
  group: 'bench.backporch.dev',
  version: 'v1',
  plural: 'widgets',
  kind: 'Widget',
} as const

/** Objects of every kind are spread evenly over the packages. */
export function generate({ objects, objectsPerPackage, seed }: GenerateOptions): BenchPackage[] {
  const random = randomFrom(seed)
  const count = Math.ceil(objects / objectsPerPackage)
  return Array.from({ length: count }, (_none, index) => {
    const name = `p${String(index + 1).padStart(3, '0')}`
    const size = Math.min(objectsPerPackage, objects - index * objectsPerPackage)
    const list = Array.from({ length: size }, (_nothing, position) =>
      makeObject(kindAt(index * objectsPerPackage + position), `bench-${name}`, position, random),
    )
    return { path: `apps/${name}`, namespace: `bench-${name}`, objects: list }
  })
}

/** Files of the repository by path: a Kptfile and an inventory per package, one manifest per object. */
export function repositoryFiles(packages: readonly BenchPackage[]): Record<string, string> {
  const files: Record<string, string> = {}
  for (const { path, namespace, objects } of packages) {
    const name = path.slice(path.lastIndexOf('/') + 1)
    files[`${path}/Kptfile`] = `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: ${name}\n`
    files[`${path}/resourcegroup.yaml`] =
      `apiVersion: kpt.dev/v1alpha1\nkind: ResourceGroup\nmetadata:\n  name: ${name}\n  namespace: ${namespace}\n  labels:\n    cli-utils.sigs.k8s.io/inventory-id: bench-${name}\n`
    for (const object of objects) {
      // JSON is YAML, and every tool reads it at the same cost.
      files[`${path}/manifests/${object.kind.toLowerCase()}-${object.metadata.name}.yaml`] =
        `${JSON.stringify(object, null, 2)}\n`
    }
  }
  return files
}

/** The same position in every hundred has the same kind, so small runs have all kinds too. */
function kindAt(index: number): keyof typeof MIX | 'ConfigMap' {
  const position = (index * 37) % 100
  let above = 0
  for (const [kind, share] of Object.entries(MIX)) {
    above += share
    if (position < above) return kind as keyof typeof MIX
  }
  return 'ConfigMap'
}

function makeObject(
  kind: keyof typeof MIX | 'ConfigMap',
  namespace: string,
  index: number,
  random: Random,
): BenchObject {
  const name = `${kind.toLowerCase()}-${String(index).padStart(4, '0')}`
  const metadata = {
    name,
    namespace,
    labels: { 'app.kubernetes.io/name': name, tier: random.pick(['front', 'back', 'data']) },
  }
  switch (kind) {
    case 'ConfigMap':
      return { apiVersion: 'v1', kind, metadata, data: random.entries(8, 120) }
    case 'Secret':
      return {
        apiVersion: 'v1',
        kind,
        metadata,
        type: 'Opaque',
        data: { key: Buffer.from(random.text(24)).toString('base64') },
      }
    case 'ServiceAccount':
      return { apiVersion: 'v1', kind, metadata, automountServiceAccountToken: false }
    case 'Service':
      return {
        apiVersion: 'v1',
        kind,
        metadata,
        spec: { selector: { app: name }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
      }
    case 'Widget':
      return {
        apiVersion: `${WIDGETS.group}/${WIDGETS.version}`,
        kind,
        metadata,
        spec: { size: random.below(9) + 1 },
      }
    case 'Deployment':
      return { apiVersion: 'apps/v1', kind, metadata, spec: deploymentSpec(name, random) }
  }
}

function deploymentSpec(name: string, random: Random): unknown {
  const container = (own: string): unknown => ({
    name: own,
    image: `registry.example/${own}:1.${random.below(20)}.${random.below(20)}`,
    env: Object.entries(random.entries(3, 12)).map(([key, value]) => ({
      name: key.toUpperCase(),
      value,
    })),
    ports: [{ containerPort: 8080 + random.below(100), name: own }],
    // The server writes 0.5 as 500m, so the applied and the live text differ.
    resources: {
      requests: { cpu: random.pick(['100m', '250m', '0.5']), memory: '64Mi' },
      limits: { memory: '128Mi' },
    },
  })
  return {
    replicas: random.below(3) + 1,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [container('app'), container('proxy')] },
    },
  }
}

interface Random {
  below(limit: number): number
  pick<Item>(items: readonly Item[]): Item
  text(length: number): string
  entries(count: number, length: number): Record<string, string>
}

/** xorshift32 (Marsaglia 2003): small, and the same on every machine. */
function randomFrom(seed: number): Random {
  let state = seed >>> 0 || 1
  const below = (limit: number): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % limit
  }
  const text = (length: number): string =>
    Array.from({ length }, () => 'abcdefghijklmnopqrstuvwxyz0123456789'[below(36)]).join('')
  return {
    below,
    text,
    pick: (items) => items[below(items.length)] as (typeof items)[number],
    entries: (count, length) =>
      Object.fromEntries(
        Array.from({ length: count }, (_none, index) => [`key${index}`, text(length)]),
      ),
  }
}

/** The definition of the custom resource, with defaults, like most definitions. */
export const WIDGET_DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${WIDGETS.plural}.${WIDGETS.group}` },
  spec: {
    group: WIDGETS.group,
    scope: 'Namespaced',
    names: {
      kind: WIDGETS.kind,
      listKind: 'WidgetList',
      plural: WIDGETS.plural,
      singular: 'widget',
    },
    versions: [
      {
        name: WIDGETS.version,
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  size: { type: 'integer' },
                  colour: { type: 'string', default: 'blue' },
                  layers: { type: 'integer', default: 2 },
                },
              },
            },
          },
        },
      },
    ],
  },
} as const
