/** The objects of a Helm release, from either of Helm's stores in the cluster. */
import { Failure } from '../../failure.ts'
import type { Resource } from '../../krm/resource.ts'
import type { HelmReleaseRef, Inventory } from '../../ports/cluster.ts'
import {
  decodeRevision,
  describeRevision,
  inventoryOfRelease,
  RevisionPicker,
  STORES,
  type Store,
  type StoredRelease,
} from './helm-storage.ts'
import { failureOrThrow, listObjects } from './list-objects.ts'
import type { LiveSources } from './read-live.ts'

/**
 * Reads both stores, because only Helm's user knows which is in use. A release in one of them counts also where the other one may not be read;
 * of two the one that was deployed last counts.
 * @returns undefined where neither has a revision of it
 * @throws Failure BP3003 where a store may not be read and the other one has nothing, BP3012 where a revision cannot be read, BP30xx
 */
export async function readHelmRelease(sources: LiveSources, ref: HelmReleaseRef, signal: AbortSignal): Promise<Inventory | undefined> {
  const { namespace, name } = ref.helmRelease
  const answers = await Promise.all(STORES.map((store) => readStore(sources, ref, store, signal).catch(failureOrThrow)))
  const releases = answers.flatMap((answer) => (answer === undefined || answer instanceof Failure ? [] : [answer]))
  const failure = answers.find((answer) => answer instanceof Failure)
  // A store that cannot be read may have the release.
  if (releases.length === 0 && failure !== undefined) throw failure
  const deployedAt = ({ current }: StoredRelease): number => decodeRevision(current, namespace)?.deployedAt ?? 0
  const [found] = releases.length > 1 ? releases.sort((left, right) => deployedAt(right) - deployedAt(left)) : releases
  if (found === undefined) return undefined
  const inventory = await inventoryOfRelease(ref, found, (resource) => placed(sources, resource, signal))
  if (inventory === undefined) throw notARelease(sources.api.cluster, describeRevision(namespace, name, found.current))
  return inventory
}

/** Superseded revisions do not count, and are most of the store. @throws Failure BP30xx */
async function readStore(
  { api, discovery }: LiveSources,
  { helmRelease: { namespace, name } }: HelmReleaseRef,
  store: Store,
  signal: AbortSignal,
): Promise<StoredRelease | undefined> {
  const served = await discovery.find('v1', store, signal)
  const picker = new RevisionPicker()
  const take = picker.add.bind(picker, store)
  const labelSelector = `owner=helm,name=${name},status!=superseded`
  await listObjects(api, served, { namespace, labelSelector, take, restart: () => picker.clear() }, signal)
  return picker.pick()
}

/** A kind that is gone has no objects; an object of an unknown kind keeps the namespace that Helm would use. */
async function placed({ discovery }: LiveSources, resource: Resource, signal: AbortSignal): Promise<Resource> {
  const { apiVersion, id } = resource
  const scope = await discovery.find(apiVersion, id.kind, signal).catch((thrown: unknown) => void failureOrThrow(thrown))
  return scope?.namespaced === false ? { ...resource, id: { ...id, namespace: '' } } : resource
}

function notARelease(cluster: string, release: string): Failure {
  return new Failure({
    code: 'BP3012',
    what: `the ${release} cannot be read`,
    where: `cluster ${cluster}`,
    why: 'what is stored of it is no release as Helm 3 and 4 store it',
    remedy: 'look at it with helm get manifest; where Helm can read it, report this',
    retry: 'on-change',
  })
}
