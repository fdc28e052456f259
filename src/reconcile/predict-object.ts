/** The dry run of one object, held against the object as it was at that moment. */
import { needsPrediction, type ObservedObject } from '../drift/detect-drift.ts'
import type { Syncer } from '../drift/drift.ts'
import type { LiveState, Prediction } from '../krm/live-view.ts'
import { metadataText } from '../krm/resource.ts'
import { resourceKey } from '../krm/resource-id.ts'
import type { ClusterReader } from '../ports/cluster.ts'

/** An object that is written all the time is then compared as it is: better than no answer. */
const ATTEMPTS = 3

/**
 * Where somebody wrote the object after it was read, what they wrote would show as a difference between live and predicted live,
 * which is drift that nobody made: both are asked for anew. The answer to a dry run has the version of the object that it
 * was computed on (docs/facts/dry-run-version.md).
 */
export async function withPrediction(
  reader: ClusterReader,
  object: Omit<ObservedObject, 'prediction'>,
  syncer: Syncer | undefined,
  manager: string,
  signal: AbortSignal,
): Promise<ObservedObject> {
  const { id, apiVersion } = object.desired
  let observed = object
  for (let attempt = 1; needsPrediction(observed, syncer); attempt += 1) {
    const prediction = await reader.predict(observed.desired, manager, signal)
    if (attempt === ATTEMPTS || !movedBetween(observed.live, prediction)) return { ...observed, prediction }
    const live = (await reader.readLive([{ id, apiVersion }], signal)).get(resourceKey(id))
    if (live === undefined) return { ...observed, prediction }
    observed = { ...observed, live }
  }
  return { ...observed, prediction: undefined }
}

function movedBetween(live: LiveState, prediction: Prediction): boolean {
  if (live.state !== 'present' || prediction.state !== 'predicted') return false
  const [read, predicted] = [metadataText(live.object, 'resourceVersion'), metadataText(prediction.object, 'resourceVersion')]
  return read !== '' && predicted !== '' && read !== predicted
}
