/** Custom kinds for the forms of secrets, and objects of which an API server quotes a secret as it refuses them. */
import { createHash } from 'node:crypto'
import type { JsonObject } from '@backporch/kyaml/json'
import { formatDocument } from '../../src/record/write-document.ts'
import type { World } from './world.ts'

interface Kind {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
}

/** The custom kinds of test/hostile/credential-forms.ts. */
export const CANARY_KINDS: readonly Kind[] = [
  { group: 'example.com', version: 'v1', kind: 'App', plural: 'apps' },
  {
    group: 'addons.cluster.x-k8s.io',
    version: 'v1beta1',
    kind: 'ClusterResourceSet',
    plural: 'clusterresourcesets',
  },
  { group: 'kubernetes.crossplane.io', version: 'v1alpha2', kind: 'Object', plural: 'objects' },
  { group: 'bitnami.com', version: 'v1alpha1', kind: 'SealedSecret', plural: 'sealedsecrets' },
  {
    group: 'external-secrets.io',
    version: 'v1',
    kind: 'ExternalSecret',
    plural: 'externalsecrets',
  },
  { group: 'external-secrets.io', version: 'v1alpha1', kind: 'PushSecret', plural: 'pushsecrets' },
]

/** They take any fields, and say which of them are passwords. @param pin pattern of `spec.pin` */
export function definitions(pin = '.*'): readonly JsonObject[] {
  const password = { type: 'string', format: 'password' }
  const users = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    items: {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string' }, color: password },
    },
  }
  const properties = { color: password, users, pin: { ...password, pattern: pin } }
  const spec = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties }
  return CANARY_KINDS.map(({ group, version, kind, plural }) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test' },
    },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase() },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
        },
      ],
    },
  }))
}

export interface Quoted {
  readonly inGit: readonly JsonObject[]
  readonly needles: ReadonlyMap<string, string>
  /** Makes the server refuse what git says. */
  afterSync(world: World): Promise<void>
}

/** What git says is no longer allowed: a selector cannot change, and a pattern became narrower. The server's answers quote the values. */
export function quotedByTheServer(namespace: string, seed: string): Quoted {
  const needle = (name: string): string =>
    `q${createHash('sha256').update(`${name} ${seed}`).digest('hex').slice(0, 15)}`
  const [before, after, pin] = [needle('before'), needle('after'), needle('pin')]
  const deployment = (password: string): JsonObject => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'refused', namespace },
    spec: {
      selector: { matchLabels: { password } },
      template: {
        metadata: { labels: { password } },
        spec: { containers: [{ name: 'app', image: 'example.com/app:1' }] },
      },
    },
  })
  const app = (value: string): JsonObject => ({
    apiVersion: 'example.com/v1',
    kind: 'App',
    metadata: { name: 'refused', namespace },
    spec: { pin: value },
  })
  const apply = (world: World, object: JsonObject): Promise<string> =>
    world.pipe(
      formatDocument(object),
      'apply',
      '--server-side',
      '--force-conflicts',
      '--field-manager=hand',
      '-f',
      '-',
    )
  return {
    inGit: [deployment(before), app(pin)],
    needles: new Map([
      ['a selector that git has', before],
      ['a selector that the cluster has', after],
      ['a value that a pattern forbids', pin],
    ]),
    afterSync: async (world) => {
      await world.kubectl('delete', 'deployment/refused', '-n', namespace)
      await world.pipe(
        formatDocument(deployment(after)),
        'create',
        '--field-manager=hand',
        '-f',
        '-',
      )
      await world.pipe(formatDocument(app('1234')), 'replace', '--field-manager=hand', '-f', '-')
      for (const object of definitions('^[0-9]*$').slice(0, 1)) await apply(world, object)
    },
  }
}
