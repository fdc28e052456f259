/**
 * kpt records its commands in files (src/kpt/pipeline/attribution.ts), so they may differ with the
 * same meaning. They compare as equal, like in `kpt pkg diff` (kpt
 * `internal/util/diff/pkgdiff.go`).
 */
import { type DesiredResource, withoutAnnotations } from '@backporch/kpt/desired-set'
import { ATTRIBUTION, isAttributed, withoutCommands } from '@backporch/kpt/render'
import { isJsonObject, type Json, type JsonObject, partOf } from '@backporch/kyaml/json'
import type { LiveState } from '@backporch/kyaml/resource'

/** Unchanged if more than kpt commands differ. */
export function withLiveCommands(desired: DesiredResource, live: LiveState): DesiredResource {
  if (live.state !== 'present' || !isAttributed(desired.id.group)) return desired
  const [git, is] = [desired.object, live.object].map((object) =>
    partOf(object, 'metadata', 'annotations', ATTRIBUTION),
  )
  const rest = restOf(git)
  if (git === is || rest === undefined || rest !== restOf(is)) return desired
  const bare = withoutAnnotations(desired.object, new Set([ATTRIBUTION])) as JsonObject
  return { ...desired, object: is === undefined ? bare : withAnnotation(bare, is) }
}

function restOf(value: Json | undefined): string | undefined {
  return value === undefined ? '' : typeof value === 'string' ? withoutCommands(value) : undefined
}

function withAnnotation(object: JsonObject, value: Json): JsonObject {
  const [metadata, annotations] = [
    partOf(object, 'metadata'),
    partOf(object, 'metadata', 'annotations'),
  ]
  const all = { ...(isJsonObject(annotations) ? annotations : {}), [ATTRIBUTION]: value }
  return { ...object, metadata: { ...(isJsonObject(metadata) ? metadata : {}), annotations: all } }
}
