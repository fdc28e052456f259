import type { Failure } from '@backporch/kyaml/failure'
import { getKey, isJsonObject, type JsonObject } from '@backporch/kyaml/json'
import {
  getLabels,
  type InventoryRef,
  type Resource,
  type ResourceId,
} from '@backporch/kyaml/resource'
import { buildReleaseInventory, RevisionPicker, STORES } from '../objects/helm-storage.ts'
import { gatherInventory } from '../objects/list-metadata.ts'
import { pickInventory, RESOURCE_GROUP } from '../objects/read-inventory.ts'
import type {
  HelmReleaseRef,
  Inventory,
  InventoryQuestion,
  ListedLocation,
  ListingRef,
} from '../ports/cluster.ts'

export interface RecordedEvidence {
  readonly objects: readonly Resource[]
  readonly defaultNamespace: string
  readonly isNamespaced: (group: string, kind: string) => boolean | undefined
  readonly isProvenAbsent: (id: ResourceId) => boolean
  readonly isWhole: (location: ListedLocation) => boolean
  readonly cannotSay: (what: string, why: string) => Failure
}

const NOT_WHOLE = 'the recording does not say that it is complete'

export async function findRecordedInventory(
  evidence: RecordedEvidence,
  question: InventoryQuestion,
): Promise<Inventory | Failure | undefined> {
  if ('id' in question) return findGroupInventory(evidence, question)
  if ('helmRelease' in question) return findReleaseInventory(evidence, question)
  if ('listing' in question) return buildListingInventory(evidence, question)
  const { namespaces } = question
  const found = evidence.objects
    .filter(({ id }) => id.namespace !== '' && namespaces.includes(id.namespace))
    .map(retainMetadata)
  return gatherInventory('the recording', [
    found,
    evidence.cannotSay('what else is in the namespaces', NOT_WHOLE),
  ])
}

function findGroupInventory(
  { objects, isProvenAbsent, cannotSay }: RecordedEvidence,
  ref: InventoryRef,
): Inventory | Failure | undefined {
  const groups = objects.filter(
    ({ id }) => id.group === RESOURCE_GROUP.group && id.kind === RESOURCE_GROUP.kind,
  )
  const inventory = pickInventory(
    groups.map(({ object }) => object),
    ref,
  )
  const id = {
    group: RESOURCE_GROUP.group,
    kind: RESOURCE_GROUP.kind,
    namespace: ref.namespace,
    name: ref.name ?? '',
  }
  if (inventory !== undefined || isProvenAbsent(id)) return inventory
  return cannotSay(
    'whether the package has an inventory',
    `no ResourceGroup of it is in the recording, and ${NOT_WHOLE}`,
  )
}

async function findReleaseInventory(
  { objects, isWhole, isNamespaced, cannotSay }: RecordedEvidence,
  question: HelmReleaseRef,
): Promise<Inventory | Failure | undefined> {
  const { namespace, name } = question.helmRelease
  const pickers = STORES.map((store) => {
    const picker = new RevisionPicker()
    for (const { id, object } of objects) {
      const labels = getLabels(object)
      const isOurs = labels.get('owner') === 'helm' && labels.get('name') === name
      if (isOurs && id.kind === store && id.group === '' && id.namespace === namespace)
        picker.add(store, object)
    }
    return picker
  })
  const [release] = pickers.flatMap((picker) => picker.pick() ?? [])
  const whole = STORES.every((kind) => isWhole({ group: '', kind, namespace }))
  if (release === undefined && whole) return undefined
  const location = (resource: Resource): Resource =>
    isNamespaced(resource.id.group, resource.id.kind) === false
      ? { ...resource, id: { ...resource.id, namespace: '' } }
      : resource
  const inventory =
    release === undefined ? undefined : await buildReleaseInventory(question, release, location)
  return (
    inventory ??
    cannotSay(
      `what the Helm release ${namespace}/${name} has`,
      'the content of what Helm stores is not in the recording',
    )
  )
}

function buildListingInventory(
  { objects, isNamespaced, isWhole, defaultNamespace, cannotSay }: RecordedEvidence,
  ref: ListingRef,
): Inventory | Failure {
  const terms = ref.labelSelector?.split(',').map((term) => term.split('=')) ?? []
  const answers = ref.listing.flatMap(
    ({ group, kind, namespace: requested }): (Failure | readonly JsonObject[])[] => {
      const namespace = isNamespaced(group, kind) === false ? '' : requested || defaultNamespace
      const found = objects.filter(
        ({ id, object }) =>
          id.group === group &&
          id.kind === kind &&
          id.namespace === namespace &&
          terms.every(([name = '', value]) => getLabels(object).get(name) === value),
      )
      const listed = found.map(retainMetadata)
      if (isWhole({ group, kind, namespace })) return [listed]
      const failure = cannotSay(`which objects of kind ${kind} are there`, NOT_WHOLE)
      return listed.length === 0 ? [failure] : [listed, failure]
    },
  )
  return gatherInventory('the recording', answers)
}

function retainMetadata({ apiVersion, id, object }: Resource): JsonObject {
  const metadata = getKey(object, 'metadata')
  return { apiVersion, kind: id.kind, metadata: isJsonObject(metadata) ? metadata : {} }
}
