/** `kind: ResourceGroup`, or the Kptfile's older `inventory`. */
import { findNonEmptyText, isJsonObject, type Json } from '@backporch/kyaml/json'
import type { Note } from '@backporch/kyaml/note'
import { getLabels, getMetadataText, type InventoryRef } from '@backporch/kyaml/resource'
import type { SourceLocation } from './desired-set.ts'

/** cli-utils `pkg/common/common.go` */
const INVENTORY_ID_LABEL = 'cli-utils.sigs.k8s.io/inventory-id'

export interface FoundInventory {
  readonly ref: InventoryRef
  readonly location: SourceLocation
  readonly path: string
}

export function readInventory(
  object: Json,
  location: SourceLocation,
  path: string,
): FoundInventory {
  const source = isJsonObject(object) ? object : {}
  const id = getLabels(source).get(INVENTORY_ID_LABEL) || undefined
  return {
    ref: {
      namespace: getMetadataText(source, 'namespace'),
      name: findNonEmptyText(source, 'metadata', 'name'),
      id,
    },
    location,
    path,
  }
}

/** kpt rejects a package with two: then a note says so. Inventories of subpackages do not count. */
export function chooseInventory(
  found: readonly FoundInventory[],
  ofKptfile: InventoryRef | undefined,
  subpackages: readonly string[],
): { readonly inventory: InventoryRef | undefined; readonly notes: readonly Note[] } {
  const own = found.filter(
    ({ path }) => !subpackages.some((folder) => path.startsWith(`${folder}/`)),
  )
  const [only, second] = own
  const locations = own.map(({ location }) => `${location.path}:${location.line}`)
  if (second !== undefined)
    return createNoInventory(
      locations,
      `the package names ${own.length} inventories, at ${locations.join(' and ')}`,
    )
  if (only !== undefined && ofKptfile !== undefined)
    return createNoInventory(
      locations,
      `the package names an inventory in its Kptfile and another at ${locations[0]}`,
    )
  return { inventory: only?.ref ?? ofKptfile, notes: [] }
}

function createNoInventory(
  [subject = '']: readonly string[],
  why: string,
): { readonly inventory: undefined; readonly notes: readonly Note[] } {
  return {
    inventory: undefined,
    notes: [
      {
        cause: 'inventory-twice',
        subject,
        text: `${why}; "kpt live" refuses that, and no inventory is used`,
      },
    ],
  }
}
