import type { Failure } from '@backporch/kyaml/failure'
import type { Inventory } from '../ports/cluster.ts'
import { gatherInventory, listMetadata } from './list-metadata.ts'
import type { LiveSources } from './read-live.ts'

/**
 * Written often, or computed per request: no package manages them, and listing them is expensive.
 */
const NEVER_LISTED = new Set([
  '/Event',
  'events.k8s.io/Event',
  '/Endpoints',
  'discovery.k8s.io/EndpointSlice',
  'coordination.k8s.io/Lease',
  'apps/ControllerRevision',
])
const COMPUTED_GROUPS = /(^|\.)metrics\.k8s\.io$/

/** @throws Failure BP30xx if even the kinds are unknown */
export async function listNamespaces(
  sources: LiveSources,
  namespaces: readonly string[],
  signal: AbortSignal,
): Promise<Inventory | Failure> {
  const { kinds, unknown } = await sources.discovery.listNamespacedKinds(signal)
  const listed = kinds.filter(
    ({ group, kind }) => !NEVER_LISTED.has(`${group}/${kind}`) && !COMPUTED_GROUPS.test(group),
  )
  const lists = listed.flatMap((served) =>
    namespaces.map((namespace) => ({ served, namespace, labelSelector: undefined })),
  )
  const found = await listMetadata(sources, lists, signal)
  const answers = lists.flatMap((list) => {
    const answer = found.get(list)
    return answer === undefined ? [] : [answer]
  })
  return gatherInventory(`the namespaces ${namespaces.join(', ')}`, [...unknown, ...answers])
}
