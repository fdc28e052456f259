/**
 * kpt records its commands in files (src/kpt/pipeline/attribution.ts): git, a render and what was applied may have different ones, of one object with
 * the same meaning. They are compared as equal, as `kpt pkg diff` does (kpt `internal/util/diff/pkgdiff.go`).
 */
import { type DesiredResource, withoutAnnotations } from '@backporch/kpt/desired-set'
import { ATTRIBUTION, isAttributed, withoutCommands } from '@backporch/kpt/render'
import { isJsonObject, type Json, type JsonObject, partOf } from '@backporch/kyaml/json'
import type { LiveState } from '@backporch/kyaml/resource'

/** The desired object with the annotation as live has it, where only commands of kpt differ; else the given one. */
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

/** The value without commands; undefined for one that the server refuses. */
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
