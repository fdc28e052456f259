/** A place from which a rendered value may come, and the edits that would give the wanted one. */
import type { Json } from '../../text/json.ts'
import type { FileEdit } from '../resolution-edits.ts'

/** What a field shall be afterwards; undefined: not there. */
export type Wanted = Json | undefined

export interface Candidate {
  /** What `--via` names: `manifest`, `setter:replicas`, `set-image`. */
  readonly via: string
  /** For people: `the setter replicas (apps/web/setters.yaml:7)`. */
  readonly what: string
  readonly edits: readonly FileEdit[]
}

/** Why no edit gives the wanted value at one place. */
export interface Obstacle {
  /** Step or file, as failures name it. */
  readonly where: string
  readonly why: string
  /** What to edit instead. */
  readonly remedy: string
}

export interface Locations {
  readonly candidates: readonly Candidate[]
  readonly obstacles: readonly Obstacle[]
}

export const NOWHERE: Locations = { candidates: [], obstacles: [] }

export function joinLocations(all: readonly Locations[]): Locations {
  return { candidates: all.flatMap(({ candidates }) => candidates), obstacles: all.flatMap(({ obstacles }) => obstacles) }
}
