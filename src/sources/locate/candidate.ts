import type { YamlEdit } from '@backporch/kyaml/edit-yaml'
import type { FieldPath } from '@backporch/kyaml/field'
import type { Json } from '@backporch/kyaml/json'
import type { FileEdit } from '../edits/resolution-edits.ts'

/** `--via` name; the value changes for all its readers. */
export const EVERYWHERE = 'everywhere'

/** Undefined: no field. */
export type Wanted = Json | undefined

export interface Candidate {
  /** As `manifest`, `setter:replicas`, `set-image`. */
  readonly via: string
  readonly what: string
  readonly edits: readonly FileEdit[]
}

export interface Obstacle {
  /** Step or file; undefined if neither is known. */
  readonly where: string | undefined
  readonly why: string
  readonly remedy: string
}

export interface Locations {
  readonly candidates: readonly Candidate[]
  readonly obstacles: readonly Obstacle[]
}

export interface SourceCandidate extends Candidate {
  /** By path from the repository root; null removes the file. */
  readonly texts?: ReadonlyMap<string, string | null>
}

export interface SourceLocations {
  readonly candidates: readonly SourceCandidate[]
  readonly obstacles: readonly Obstacle[]
  /** For a value that other units get from the same location. */
  readonly onlyWhereShared?: boolean
}

export const NOWHERE: Locations = { candidates: [], obstacles: [] }

export function joinLocations(all: readonly Locations[]): Locations {
  return {
    candidates: all.flatMap(({ candidates }) => candidates),
    obstacles: all.flatMap(({ obstacles }) => obstacles),
  }
}

export function createEditAt(document: number, path: FieldPath, wanted: Wanted): YamlEdit {
  const at = { document, item: undefined, path }
  return wanted === undefined ? { ...at, kind: 'remove' } : { ...at, kind: 'set', value: wanted }
}

export function groupEditsByFile(
  edits: readonly FileEdit[],
): ReadonlyMap<string, readonly YamlEdit[]> {
  const byFile = Map.groupBy(edits, ({ path }) => path)
  return new Map([...byFile].map(([path, own]) => [path, own.map(({ edit }) => edit)]))
}
