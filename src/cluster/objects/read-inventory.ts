/**
 * kpt.dev/v1alpha1 ResourceGroups: sigs.k8s.io/cli-utils, `pkg/inventory`, and kpt's ResourceGroup.
 */
import { Failure } from '@backporch/kyaml/failure'
import { filterObjects, getPartAt, getTextAt, type JsonObject } from '@backporch/kyaml/json'
import {
  getLabels,
  getMetadataText,
  type InventoryRef,
  type ResourceId,
} from '@backporch/kyaml/resource'
import type { ReadApi } from '../connection/cluster-api.ts'
import type { Inventory, RefusedObject } from '../ports/cluster.ts'
import type { Discovery, ServedResource } from './discovery.ts'
import { listObjects, requireFailure, runInParallel } from './list-objects.ts'
import { listUnlessRefused } from './read-everywhere.ts'
import type { LiveSources } from './read-live.ts'

export const RESOURCE_GROUP = {
  apiVersion: 'kpt.dev/v1alpha1',
  group: 'kpt.dev',
  kind: 'ResourceGroup',
} as const
const INVENTORY_ID_LABEL = 'cli-utils.sigs.k8s.io/inventory-id'

/** Packages from which one list replaces single requests. */
const MANY = 4
const PARALLEL = 8

/**
 * Undefined when the kind is not served or no ResourceGroup fits.
 * @throws only the reason of `signal`
 */
export async function readResourceGroups(
  { api, discovery, refused }: LiveSources,
  refs: readonly InventoryRef[],
  signal: AbortSignal,
): Promise<readonly (Inventory | Failure | undefined)[]> {
  const answers = new Array<Inventory | Failure | undefined>(refs.length)
  if (refs.length === 0) return answers
  try {
    const served = await findResourceGroup(discovery, signal)
    if (served === undefined) return answers
    const all =
      refs.length < MANY
        ? undefined
        : await listUnlessRefused(refused, served, () =>
            list(api, served, { namespace: '' }, signal),
          )
    if (all !== undefined)
      return refs.map(
        (ref) => pickInventory(all.filter(isNamed(ref)), ref) ?? pickInventory(all, ref),
      )
    await runInParallel([...refs.entries()], PARALLEL, async ([index, ref]) => {
      answers[index] = await readInventory(api, served, ref, signal).catch(requireFailure)
    })
    return answers
  } catch (thrown) {
    return answers.fill(requireFailure(thrown))
  }
}

async function readInventory(
  api: ReadApi,
  served: ServedResource,
  ref: InventoryRef,
  signal: AbortSignal,
): Promise<Inventory | undefined> {
  const byName =
    ref.name === undefined
      ? []
      : await list(api, served, { namespace: ref.namespace, name: ref.name }, signal)
  const labelSelector = `${INVENTORY_ID_LABEL}=${ref.id}`
  const found =
    byName.length > 0 || ref.id === undefined
      ? byName
      : await list(api, served, { namespace: ref.namespace, labelSelector }, signal)
  return pickInventory(found, ref)
}

async function findResourceGroup(
  discovery: Discovery,
  signal: AbortSignal,
): Promise<ServedResource | undefined> {
  try {
    return await discovery.find(RESOURCE_GROUP.apiVersion, RESOURCE_GROUP.kind, signal)
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.code === 'BP3009') return undefined
    throw thrown
  }
}

async function list(
  api: ReadApi,
  served: ServedResource,
  where: { namespace: string; name?: string; labelSelector?: string },
  signal: AbortSignal,
) {
  const items: JsonObject[] = []
  await listObjects(
    api,
    served,
    { ...where, take: (item) => items.push(item), restart: () => items.splice(0) },
    signal,
  )
  return items
}

function isNamed({ name }: InventoryRef): (group: JsonObject) => boolean {
  return (group) => getMetadataText(group, 'name') === name
}

export function pickInventory(
  groups: readonly JsonObject[],
  ref: InventoryRef,
): Inventory | undefined {
  const object = groups.find((group) => {
    const id = getLabels(group).get(INVENTORY_ID_LABEL) || undefined
    // The same name with another id belongs to another package.
    if (ref.id !== undefined && id !== undefined && id !== ref.id) return false
    if (ref.namespace !== '' && getMetadataText(group, 'namespace') !== ref.namespace) return false
    return (
      (ref.name !== undefined && getMetadataText(group, 'name') === ref.name) ||
      (ref.id !== undefined && id === ref.id)
    )
  })
  if (object === undefined) return undefined
  const source = `ResourceGroup ${getMetadataText(object, 'namespace')}/${getMetadataText(object, 'name')}`
  const refused = listRefusedObjects(object, source)
  return {
    source,
    resources: filterObjects(getPartAt(object, 'spec', 'resources')).flatMap(
      (entry) => readEntry(entry) ?? [],
    ),
    ...(refused.length === 0 ? {} : { refused }),
  }
}

/**
 * `actuation` values (cli-utils `pkg/apis/actuation/types.go`) after which the object differs from
 * git.
 */
const UNAPPLIED: ReadonlyMap<string, string> = new Map([
  ['Failed', 'failed'],
  ['Skipped', 'was skipped'],
])

function listRefusedObjects(group: JsonObject, source: string): readonly RefusedObject[] {
  return filterObjects(getPartAt(group, 'status', 'resourceStatuses')).flatMap((entry) => {
    const [id, word] = [readEntry(entry), UNAPPLIED.get(getTextAt(entry, 'actuation'))]
    if (id === undefined || word === undefined || getTextAt(entry, 'strategy') === 'Delete')
      return []
    return [{ id, why: `${source} says that its apply ${word}` }]
  })
}

function readEntry(entry: JsonObject): ResourceId | undefined {
  const [group, kind, namespace, name] = (['group', 'kind', 'namespace', 'name'] as const).map(
    (key) => getTextAt(entry, key),
  )
  return kind && name ? { group: group ?? '', kind, namespace: namespace ?? '', name } : undefined
}
