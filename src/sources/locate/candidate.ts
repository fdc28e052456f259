/** A location that a rendered value may come from, with the edits that give the wanted value. */
import type { YamlEdit } from '@backporch/kyaml/edit-yaml'
import type { FieldPath } from '@backporch/kyaml/field'
import type { Json } from '@backporch/kyaml/json'
import type { FileEdit } from '../edits/resolution-edits.ts'

/** What `--via` calls the edit of a value where all who read it have it. */
export const EVERYWHERE = 'everywhere'

/** The value of a field after the edit; undefined: no field. */
export type Wanted = Json | undefined

export interface Candidate {
  /** Value of `--via`: `manifest`, `setter:replicas`, `set-image`. */
  readonly via: string
  /** For people: `the setter replicas (apps/web/setters.yaml:7)`. */
  readonly what: string
  readonly edits: readonly FileEdit[]
}

/** Why no edit of one location gives the wanted value. */
export interface Obstacle {
  /** The step or the file; empty where neither is known. */
  readonly where: string
  readonly why: string
  readonly remedy: string
}

export interface Locations {
  readonly candidates: readonly Candidate[]
  readonly obstacles: readonly Obstacle[]
}

/** A candidate that may also replace or remove files that are not YAML. */
export interface SourceCandidate extends Candidate {
  /** By path from the root of the repository; null removes the file. */
  readonly texts?: ReadonlyMap<string, string | null>
}

export interface SourceLocations {
  readonly candidates: readonly SourceCandidate[]
  readonly obstacles: readonly Obstacle[]
  /** Whether they are for a value that other units have from the same place, and count for no other. */
  readonly onlyWhereShared?: boolean
}

export const NOWHERE: Locations = { candidates: [], obstacles: [] }

export function joinLocations(all: readonly Locations[]): Locations {
  return {
    candidates: all.flatMap(({ candidates }) => candidates),
    obstacles: all.flatMap(({ obstacles }) => obstacles),
  }
}

export function editAt(document: number, path: FieldPath, wanted: Wanted): YamlEdit {
  const at = { document, item: undefined, path }
  return wanted === undefined ? { ...at, kind: 'remove' } : { ...at, kind: 'set', value: wanted }
}

export function editsByFile(edits: readonly FileEdit[]): ReadonlyMap<string, readonly YamlEdit[]> {
  const byFile = Map.groupBy(edits, ({ path }) => path)
  return new Map([...byFile].map(([path, own]) => [path, own.map(({ edit }) => edit)]))
}
