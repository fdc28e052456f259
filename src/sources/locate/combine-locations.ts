/** A list or map may be one field to the server while its parts come from several locations. */
import type { FileEdit } from '../edits/resolution-edits.ts'
import { type Candidate, type Locations, NOWHERE } from './candidate.ts'

/** With more combinations, none is a candidate. */
const MOST_WAYS = 16

/** None if a part has no location. @param first edits that every candidate begins with */
export function combineLocations(parts: readonly Locations[], first?: Candidate): Locations {
  if (parts.length === 0) return NOWHERE
  const without = parts.filter(({ candidates }) => candidates.length === 0)
  if (without.length > 0)
    return { candidates: [], obstacles: without.flatMap(({ obstacles }) => obstacles) }
  let ways: readonly (readonly Candidate[])[] = [first === undefined ? [] : [first]]
  for (const { candidates } of parts) {
    ways = ways.flatMap((way) => candidates.map((candidate) => [...way, candidate]))
    if (ways.length > MOST_WAYS) return NOWHERE
  }
  return {
    candidates: ways.map(mergeCandidates),
    obstacles: parts.flatMap(({ obstacles }) => obstacles),
  }
}

function mergeCandidates(way: readonly Candidate[]): Candidate {
  const vias = [...new Set(way.map(({ via }) => via))]
  return {
    via: vias.join('+'),
    what: [...new Set(way.map(({ what }) => what))].join(' and '),
    edits: deduplicateEdits(way.flatMap(({ edits }) => edits)),
  }
}

export function deduplicateEdits(edits: readonly FileEdit[]): readonly FileEdit[] {
  return [...new Map(edits.map((edit) => [computeEditsKey([edit]), edit])).values()]
}

export function computeEditsKey(edits: readonly FileEdit[]): string {
  return JSON.stringify(
    edits
      .map((edit) =>
        JSON.stringify(edit, (_key, value) => (typeof value === 'bigint' ? String(value) : value)),
      )
      .sort(),
  )
}

/** Trials whose edits contain all of another's are not needed. */
export function selectLeastEdits<Trial extends { readonly candidate: Candidate }>(
  trials: readonly Trial[],
): readonly Trial[] {
  const keys = trials.map(
    ({ candidate }) => new Set(candidate.edits.map((edit) => computeEditsKey([edit]))),
  )
  return trials.filter(
    (_trial, own) =>
      !keys.some(
        (each) =>
          each.size < (keys[own]?.size ?? 0) && [...each].every((key) => keys[own]?.has(key)),
      ),
  )
}
