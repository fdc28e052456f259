/** A failed pod makes its workload Failed (docs/facts/kstatus-pods.md). */
import type { ClusterIdentity, ClusterReader } from '@backporch/cluster/cluster'
import { Failure } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import type { Note } from '@backporch/kyaml/note'
import {
  describeResourceId,
  getResourceKey,
  type LiveState,
  type ResourceId,
} from '@backporch/kyaml/resource'
import type { ObjectStatus } from '../../status/kstatus.ts'
import {
  findPodFailure,
  formatPodSelector,
  isOwnedBy,
  waitsForPods,
} from '../../status/owned-pods.ts'

export interface FailedPods {
  /** By `getResourceKey`. */
  readonly failed: ReadonlyMap<string, ObjectStatus>
  readonly notes: readonly Note[]
}

interface Workload {
  readonly id: ResourceId
  readonly object: JsonObject
}

/**
 * No request if no workload waits for its pods.
 * @throws only the reason of `signal`
 */
export async function readFailedPods(
  { reader, identity }: { readonly reader: ClusterReader; readonly identity: ClusterIdentity },
  ids: readonly ResourceId[],
  live: ReadonlyMap<string, LiveState>,
  signal: AbortSignal,
): Promise<FailedPods> {
  const at = new Date(identity.observedAt)
  const workloads = ids.flatMap((id): Workload[] => {
    const state = live.get(getResourceKey(id))
    return state?.state === 'present' && !state.metadataOnly && waitsForPods(state.object, at)
      ? [{ id, object: state.object }]
      : []
  })
  if (workloads.length === 0) return { failed: new Map(), notes: [] }
  const lists = await listPods(reader, workloads, signal)
  const owned = workloads.map((workload, index) => ({
    ...workload,
    pods: listWorkloadPods(workload, lists[index]),
  }))
  const found = await reader.readLive(
    owned.flatMap(({ pods }) => pods.map((id) => ({ id, apiVersion: 'v1' }))),
    signal,
  )
  const failed = new Map<string, ObjectStatus>()
  for (const { id, pods } of owned) {
    const objects = pods.flatMap((pod) => {
      const state = found.get(getResourceKey(pod))
      return state?.state === 'present' ? [state.object] : []
    })
    const status = findPodFailure(objects, at)
    if (status !== undefined) failed.set(getResourceKey(id), status)
  }
  return {
    failed,
    notes: identity.recorded
      ? []
      : owned.flatMap(({ id }, index) => createNotReadNotes(id, lists[index])),
  }
}

type PodList = Awaited<ReturnType<ClusterReader['readInventories']>>[number]

async function listPods(
  reader: ClusterReader,
  workloads: readonly Workload[],
  signal: AbortSignal,
): Promise<readonly PodList[]> {
  const questions = workloads.map(({ id, object }) => ({
    listing: [{ group: '', kind: 'Pod', namespace: id.namespace }],
    labelSelector: formatPodSelector(object) || undefined,
  }))
  try {
    return await reader.readInventories(questions, signal)
  } catch (thrown) {
    if (!(thrown instanceof Failure) || signal.aborted) throw thrown
    return workloads.map(() => thrown)
  }
}

function listWorkloadPods({ object }: Workload, list: PodList): readonly ResourceId[] {
  if (list === undefined || list instanceof Failure) return []
  const { objects = [], resources } = list
  return resources.filter((_, index) => isOwnedBy(objects[index] ?? {}, object))
}

function createNotReadNotes(id: ResourceId, list: PodList): readonly Note[] {
  const why = list instanceof Failure ? list.why : list?.unread?.[0]?.why
  if (why === undefined) return []
  const text = `its pods cannot be read, so failed pods are not detected: ${why}`
  return [{ cause: 'not-observed', subject: describeResourceId(id), text }]
}
