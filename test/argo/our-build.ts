/** What Backporch compares with a cluster for a case: from the Applications of the cluster to objects in their namespaces. */
import type { ServedKind } from '@backporch/cluster/cluster'
import { Failure, Failures } from '@backporch/kyaml/failure'
import { formatCanonicalJson, type Json, parseJson } from '@backporch/kyaml/json'
import { addPackageBuilds, PackageBuilds } from '../../src/adapters/functions/package-builds.ts'
import { loadPackage } from '../../src/reconcile/observe/load-package.ts'
import { readLiveSides } from '../../src/reconcile/observe/read-live-sides.ts'
import { readRepository } from '../../src/reconcile/repository/repository-view.ts'
import {
  addSources,
  listSourceNotes,
} from '../../src/reconcile/repository/sources/discover-sources.ts'
import { InProcessRenderer } from '../fakes/in-process-renderer.ts'
import { MemoryCluster } from '../fakes/memory-cluster.ts'
import { MemoryRepository } from '../fakes/memory-repository.ts'
import {
  API_VERSIONS,
  type ArgoCase,
  applicationOf,
  CLUSTER_SCOPED,
  KUBE_VERSION,
  REPOSITORY,
} from './argo-case.ts'

/** Objects in the order of their texts, with sorted keys; or why there are none. */
export type BuiltSide = { readonly objects: readonly Json[] } | { readonly error: string }

class CaseRepository extends MemoryRepository {
  override readonly remote = REPOSITORY

  constructor({ files, links = {} }: ArgoCase) {
    super()
    for (const path of Object.keys(links)) this.links.add(path)
    this.commitByHand('main', { 'README.md': '', ...files, ...links })
  }
}

class CaseCluster extends MemoryCluster {
  private readonly of: ArgoCase

  constructor(of: ArgoCase) {
    super()
    this.of = of
  }

  override async identify() {
    const { kubeVersion = KUBE_VERSION, apiVersions = API_VERSIONS } = this.of
    return { ...(await super.identify()), version: kubeVersion, apiVersions }
  }

  override async findServedKind(apiVersion: string, kind: string): Promise<ServedKind> {
    const { schema } = await super.findServedKind(apiVersion, kind)
    const group = apiVersion.includes('/') ? apiVersion.replace(/\/.*/, '') : ''
    return { namespaced: !CLUSTER_SCOPED.includes(`${group}/${kind}`), schema }
  }
}

/** @param programs that may run, as of `--allow-render` */
export async function ourBuild(
  each: ArgoCase,
  programs: readonly string[] = ['kubectl'],
): Promise<BuiltSide> {
  const { signal } = new AbortController()
  const renderer = addPackageBuilds(
    new InProcessRenderer(),
    new PackageBuilds({ allowed: programs, environment: process.env }),
  )
  const cluster = new CaseCluster(each)
  cluster.put(applicationOf(each))
  try {
    const bare = await readRepository(new CaseRepository(each), 'main', signal)
    const view = await addSources(bare, [cluster], renderer, signal)
    const [note] = listSourceNotes(view)
    if (view.packages.length === 0 || note !== undefined)
      return { error: note?.text ?? 'there is no unit' }
    const objects: Json[] = []
    for (const found of view.packages) {
      const { desired } = await loadPackage(view, found, { cluster: 'prod', renderer }, signal)
      const [answer] = await readLiveSides(cluster, 'default', [{ desired }], signal)
      for (const { resource } of answer?.side.resources ?? []) objects.push(resource.object)
    }
    return sorted(objects)
  } catch (thrown) {
    if (thrown instanceof Failures)
      return { error: thrown.failures.map(({ message }) => message).join('; ') }
    if (thrown instanceof Failure) return { error: thrown.message }
    throw thrown
  }
}

export function sorted(objects: readonly Json[]): BuiltSide {
  return {
    objects: objects
      .map((object) => formatCanonicalJson(object))
      .sort()
      .map((text) => parseJson(text)),
  }
}
