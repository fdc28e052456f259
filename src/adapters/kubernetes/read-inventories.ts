/** Inventories of all kinds, each read by its own means and independent of the cost and the failures of the others. */
import type { Failure } from '../../failure.ts'
import type { Inventory, InventoryQuestion } from '../../ports/cluster.ts'
import { listLocations } from './list-metadata.ts'
import { listNamespaces } from './list-namespaces.ts'
import { failureOrThrow } from './list-objects.ts'
import { readHelmRelease } from './read-helm-release.ts'
import { readResourceGroups } from './read-inventory.ts'
import type { LiveSources } from './read-live.ts'

type Answer = Inventory | Failure | undefined

/** As `ClusterReader.readInventories`. @throws only the reason of `signal` */
export async function readInventories(
  sources: LiveSources,
  questions: readonly InventoryQuestion[],
  signal: AbortSignal,
): Promise<readonly Answer[]> {
  const groups = questions.flatMap((question) => ('id' in question ? [question] : []))
  const listings = questions.flatMap((question) => ('listing' in question ? [question] : []))
  const [ofGroups, ofListings] = await Promise.all([readResourceGroups(sources, groups, signal), listLocations(sources, listings, signal)])
  const [nextGroup, nextListing] = [ofGroups.values(), ofListings.values()]
  const answers: (Answer | Promise<Answer>)[] = questions.map((question) => {
    if ('id' in question) return nextGroup.next().value
    if ('listing' in question) return nextListing.next().value
    const read =
      'helmRelease' in question ? readHelmRelease(sources, question, signal) : listNamespaces(sources, question.namespaces, signal)
    return read.catch(failureOrThrow)
  })
  return Promise.all(answers)
}
