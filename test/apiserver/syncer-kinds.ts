/** The kinds of syncers, as small as an API server takes them: group, version, names and scope are theirs, the schemas are open. */
import type { ConnectedCluster } from '@backporch/cluster/connect-cluster'
import { Failure } from '@backporch/kyaml/failure'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { retryWhile } from '../waiting/wait-until.ts'
import { create } from './live-cluster.ts'

interface SyncerKind {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
}

export const SYNCER_KINDS = {
  kustomization: {
    group: 'kustomize.toolkit.fluxcd.io',
    version: 'v1',
    kind: 'Kustomization',
    plural: 'kustomizations',
  },
  gitRepository: {
    group: 'source.toolkit.fluxcd.io',
    version: 'v1',
    kind: 'GitRepository',
    plural: 'gitrepositories',
  },
  helmRelease: {
    group: 'helm.toolkit.fluxcd.io',
    version: 'v2',
    kind: 'HelmRelease',
    plural: 'helmreleases',
  },
  application: {
    group: 'argoproj.io',
    version: 'v1alpha1',
    kind: 'Application',
    plural: 'applications',
  },
  repoSync: {
    group: 'configsync.gke.io',
    version: 'v1beta1',
    kind: 'RepoSync',
    plural: 'reposyncs',
  },
  rootSync: {
    group: 'configsync.gke.io',
    version: 'v1beta1',
    kind: 'RootSync',
    plural: 'rootsyncs',
  },
} as const satisfies { readonly [name: string]: SyncerKind }

/** Installs all of them, once on a plane that is shared, and waits until discovery has them. */
export async function installSyncerKinds(
  plane: ControlPlane,
  cluster: ConnectedCluster,
): Promise<void> {
  for (const kind of Object.values(SYNCER_KINDS)) await install(plane, kind)
  for (const { group, version, kind } of Object.values(SYNCER_KINDS)) {
    const ask = () =>
      cluster.reader.findServedKind(`${group}/${version}`, kind, new AbortController().signal)
    // A server that has just got a kind may answer for a moment as if it was elsewhere.
    await retryWhile(`${kind} is served`, ask, (thrown) => thrown instanceof Failure)
  }
}

async function install(
  plane: ControlPlane,
  { group, version, kind, plural }: SyncerKind,
): Promise<void> {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: open, status: open } } }
  const { status, body } = await plane.request(
    'POST',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    {
      body: {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: {
          name: `${plural}.${group}`,
          // The API server guards the groups of its own community.
          annotations: { 'api-approved.kubernetes.io': 'unapproved, a test' },
        },
        spec: {
          group,
          scope: 'Namespaced',
          names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
          versions: [{ name: version, served: true, storage: true, schema }],
        },
      },
    },
  )
  if (status !== 201 && status !== 409) throw new Error(JSON.stringify(body))
}

export async function createSyncer(
  plane: ControlPlane,
  { group, version, kind, plural }: SyncerKind,
  namespace: string,
  name: string,
  spec: object,
): Promise<void> {
  await create(plane, `/apis/${group}/${version}/namespaces/${namespace}/${plural}`, {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { name, namespace },
    spec,
  })
}
