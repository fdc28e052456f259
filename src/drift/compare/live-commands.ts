/**
 * kpt records its commands in files (src/kpt/pipeline/attribution.ts), so they may differ with the
 * same meaning. They compare as equal, like in `kpt pkg diff` (kpt
 * `internal/util/diff/pkgdiff.go`).
 */
import { type DesiredResource, removeAnnotations } from '@backporch/kpt/desired-set'
import { ATTRIBUTION, isAttributed, removeLiveCommands } from '@backporch/kpt/render'
import { getPartAt, isJsonObject, type Json, type JsonObject } from '@backporch/kyaml/json'
import type { LiveState } from '@backporch/kyaml/resource'

/** Unchanged if more than kpt commands differ. */
export function addLiveCommands(desired: DesiredResource, live: LiveState): DesiredResource {
  if (live.state !== 'present' || !isAttributed(desired.id.group)) return desired
  const [git, is] = [desired.object, live.object].map((object) =>
    getPartAt(object, 'metadata', 'annotations', ATTRIBUTION),
  )
  const rest = findRemainingValue(git)
  if (git === is || rest === undefined || rest !== findRemainingValue(is)) return desired
  const bare = removeAnnotations(desired.object, new Set([ATTRIBUTION])) as JsonObject
  return { ...desired, object: is === undefined ? bare : setAnnotation(bare, is) }
}

function findRemainingValue(value: Json | undefined): string | undefined {
  return value === undefined
    ? ''
    : typeof value === 'string'
      ? removeLiveCommands(value)
      : undefined
}

function setAnnotation(object: JsonObject, value: Json): JsonObject {
  const [metadata, annotations] = [
    getPartAt(object, 'metadata'),
    getPartAt(object, 'metadata', 'annotations'),
  ]
  const all = { ...(isJsonObject(annotations) ? annotations : {}), [ATTRIBUTION]: value }
  return { ...object, metadata: { ...(isJsonObject(metadata) ? metadata : {}), annotations: all } }
}
