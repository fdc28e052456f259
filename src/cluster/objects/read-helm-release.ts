import { Failure } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import { getLabels, type Resource } from '@backporch/kyaml/resource'
import type { HelmReleaseRef, Inventory } from '../ports/cluster.ts'
import {
  buildReleaseInventory,
  decodeRevision,
  describeRevision,
  RevisionPicker,
  STORES,
  type Store,
  type StoredRelease,
} from './helm-storage.ts'
import { listObjects, requireFailure } from './list-objects.ts'
import type { LiveSources } from './read-live.ts'

/**
 * Reads both stores, because only Helm's user knows which is in use. A release in one counts even
 * if the other is unreadable; of two, the last deployed one. @returns in the order of the
 * questions: undefined without a revision; Failure BP3003 if a store may not be read and the other
 * has nothing, BP3012 if a revision cannot be read, BP30xx
 */
export async function readHelmReleases(
  sources: LiveSources,
  questions: readonly HelmReleaseRef[],
  signal: AbortSignal,
): Promise<readonly (Inventory | Failure | undefined)[]> {
  const namespaces = Map.groupBy(questions, ({ helmRelease }) => helmRelease.namespace)
  const stores = new Map(
    [...namespaces].map(([namespace, own]) => {
      const names = [...new Set(own.map(({ helmRelease }) => helmRelease.name))].filter((name) =>
        RELEASE_NAME.test(name),
      )
      return [
        namespace,
        STORES.map((store) =>
          readStore(sources, { namespace, names }, store, signal).catch(requireFailure),
        ),
      ] as const
    }),
  )
  return Promise.all(
    questions.map(async (question) =>
      readRelease(
        sources,
        question,
        await Promise.all(stores.get(question.helmRelease.namespace) ?? []),
        signal,
      ).catch(requireFailure),
    ),
  )
}

/** helm `pkg/chartutil/validate_name.go`. A wrong name must not spoil the list of the others. */
const RELEASE_NAME = /^[a-z0-9](?:[-.a-z0-9]{0,51}[a-z0-9])?$/

type StoredReleases = ReadonlyMap<string, StoredRelease>

async function readRelease(
  sources: LiveSources,
  ref: HelmReleaseRef,
  answers: readonly (StoredReleases | Failure)[],
  signal: AbortSignal,
): Promise<Inventory | undefined> {
  const { namespace, name } = ref.helmRelease
  const releases = answers.flatMap((answer) =>
    answer instanceof Failure ? [] : (answer.get(name) ?? []),
  )
  const failure = answers.find((answer) => answer instanceof Failure)
  if (releases.length === 0 && failure !== undefined) throw failure
  const deployedAt = ({ current }: StoredRelease): number =>
    decodeRevision(current, namespace)?.deployedAt ?? 0
  const [found] =
    releases.length > 1
      ? releases.sort((left, right) => deployedAt(right) - deployedAt(left))
      : releases
  if (found === undefined) return undefined
  const inventory = await buildReleaseInventory(ref, found, (resource) =>
    placeResource(sources, resource, signal),
  )
  if (inventory === undefined)
    throw createNotReleaseFailure(
      sources.api.cluster,
      describeRevision(namespace, name, found.current),
    )
  return inventory
}

/**
 * Known content is not reread while its version is the same.
 * @throws Failure BP30xx
 */
async function readStore(
  sources: LiveSources,
  { namespace, names }: StoreQuestion,
  store: Store,
  signal: AbortSignal,
): Promise<StoredReleases> {
  if (names.length === 0) return new Map()
  const { revisions } = sources
  const at = `${store}/${namespace}`
  if (names.some((name) => revisions.has(at, name))) {
    const listed = await listStore(sources, { namespace, names, metadataOnly: true }, store, signal)
    const whole = [...listed].flatMap(([name, release]) => {
      const known = revisions.findWholeRelease(at, name, release)
      return known === undefined ? [] : [[name, known] as const]
    })
    if (whole.length === listed.size) return new Map(whole)
  }
  const read = await listStore(sources, { namespace, names, metadataOnly: false }, store, signal)
  for (const [name, release] of read) revisions.keep(at, name, release)
  return read
}

interface StoreQuestion {
  readonly namespace: string
  readonly names: readonly string[]
}

/**
 * Superseded revisions are most of the store.
 * @throws Failure BP30xx
 */
async function listStore(
  { api, discovery }: LiveSources,
  { namespace, names, metadataOnly }: StoreQuestion & { readonly metadataOnly: boolean },
  store: Store,
  signal: AbortSignal,
): Promise<StoredReleases> {
  const served = await discovery.find('v1', store, signal)
  const pickers = new Map(names.map((name) => [name, new RevisionPicker()]))
  const take = (object: JsonObject): void =>
    pickers.get(getLabels(object).get('name') ?? '')?.add(store, object)
  const restart = (): void => pickers.forEach((picker) => void picker.clear())
  const wanted = names.length === 1 ? `name=${names[0]}` : `name in (${names.join(',')})`
  const labelSelector = `owner=helm,${wanted},status!=superseded`
  await listObjects(api, served, { namespace, labelSelector, metadataOnly, take, restart }, signal)
  return new Map(
    [...pickers].flatMap(([name, picker]) =>
      [picker.pick()].flatMap((found) => (found === undefined ? [] : [[name, found] as const])),
    ),
  )
}

/** An object of an unknown kind keeps Helm's namespace. */
async function placeResource(
  { discovery }: LiveSources,
  resource: Resource,
  signal: AbortSignal,
): Promise<Resource> {
  const { apiVersion, id } = resource
  const scope = await discovery
    .find(apiVersion, id.kind, signal)
    .catch((thrown: unknown) => void requireFailure(thrown))
  return scope?.namespaced === false ? { ...resource, id: { ...id, namespace: '' } } : resource
}

function createNotReleaseFailure(cluster: string, release: string): Failure {
  return new Failure({
    code: 'BP3012',
    what: `the ${release} cannot be read`,
    where: `cluster ${cluster}`,
    why: 'its stored data is not in the release format of Helm 3 and 4',
    remedy: 'run helm get manifest; if Helm can read it, report this',
    retry: 'on-change',
  })
}
