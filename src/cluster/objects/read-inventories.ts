/** Each is independent of the cost and failures of the others. */
import type { Failure } from '@backporch/kyaml/failure'
import type { Inventory, InventoryQuestion } from '../ports/cluster.ts'
import { listLocations } from './list-metadata.ts'
import { listNamespaces } from './list-namespaces.ts'
import { requireFailure } from './list-objects.ts'
import { readHelmReleases } from './read-helm-release.ts'
import { readResourceGroups } from './read-inventory.ts'
import type { LiveSources } from './read-live.ts'

type Answer = Inventory | Failure | undefined

/** @throws only the reason of `signal` */
export async function readInventories(
  sources: LiveSources,
  questions: readonly InventoryQuestion[],
  signal: AbortSignal,
): Promise<readonly Answer[]> {
  const groups = questions.flatMap((question) => ('id' in question ? [question] : []))
  const listings = questions.flatMap((question) => ('listing' in question ? [question] : []))
  const releases = questions.flatMap((question) => ('helmRelease' in question ? [question] : []))
  const [ofGroups, ofListings, ofReleases] = await Promise.all([
    readResourceGroups(sources, groups, signal),
    listLocations(sources, listings, signal),
    readHelmReleases(sources, releases, signal),
  ])
  const [nextGroup, nextListing, nextRelease] = [
    ofGroups.values(),
    ofListings.values(),
    ofReleases.values(),
  ]
  const answers: (Answer | Promise<Answer>)[] = questions.map((question) => {
    if ('id' in question) return nextGroup.next().value
    if ('listing' in question) return nextListing.next().value
    if ('helmRelease' in question) return nextRelease.next().value
    return listNamespaces(sources, question.namespaces, signal).catch(requireFailure)
  })
  return Promise.all(answers)
}
