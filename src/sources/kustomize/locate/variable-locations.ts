import type { FieldPath } from '@backporch/kyaml/field'
import { describeResourceId } from '@backporch/kyaml/resource'
import {
  convertToFieldPath,
  findSyncerFields,
  makePath,
  readSourceDocuments,
  type SourceDocument,
  type SyncedFolder,
} from '../../build/adopt/source-document.ts'
import type { Substitution, SyncerBuild } from '../../build/built-source.ts'
import { applyFileVariables, readSyncerObject } from '../../build/syncer-object.ts'
import type { Obstacle, SourceCandidate, SourceLocations, Wanted } from '../../locate/candidate.ts'
import type { SourceFiles } from '../files/kustomize-build.ts'

interface VariableQuestion {
  readonly synced: SyncedFolder
  readonly files: SourceFiles
  readonly texts: readonly string[]
  readonly wanted: Wanted
}

interface VariableLocations {
  readonly own: SourceLocations
  /** In the resource itself, over a ConfigMap that others also read. */
  readonly overlay: SourceLocations
}

/** Each variable alone: a build proves that nothing else changes. */
export function findVariableLocations({
  synced,
  files,
  texts,
  wanted,
}: VariableQuestion): VariableLocations {
  const none: SourceLocations = { candidates: [], obstacles: [] }
  if (wanted === undefined || wanted === null || typeof wanted === 'object')
    return { own: none, overlay: none }
  const build = applyFileVariables(synced.build, files)
  const { builder } = build
  const { substitution } = builder
  if (substitution === 'none') return { own: none, overlay: none }
  const spec = findSyncerFields(files, synced)
  const variables = substitution.variables(build, readSyncerObject(build, files))
  const candidates: SourceCandidate[] = []
  const overlaid: SourceCandidate[] = []
  const obstacles = new Map<string, Obstacle>()
  for (const text of texts)
    for (const name of substitution.namesIn(text)) {
      const value = solveVariable(substitution, {
        text,
        name,
        wanted: String(wanted),
        valueFor: (other) => variables.get(other),
      })
      if (value === undefined) continue
      const at = makePath(...substitution.at, name)
      if (spec?.has(at) === true) {
        candidates.push({
          via: `variable:${name}`,
          what: `the variable ${name} (${spec.formatLocation(at)})`,
          edits: [spec.edit(at, value)],
        })
        continue
      }
      const place = locateVariable(name, build, files)
      if (place !== undefined) {
        const { document, path } = place
        candidates.push({
          via: `variable:${name}`,
          what: `the variable ${name} (${document.formatLocation(path)})`,
          edits: [document.edit(path, value)],
        })
        if (spec !== undefined)
          overlaid.push({
            via: 'overlay',
            what: `the variable ${name} in spec.${substitution.at.join('.')} (${spec.path})`,
            edits: [spec.edit(at, value)],
          })
        continue
      }
      if (!variables.has(name)) continue
      obstacles.set(name, createVariableObstacle(name, build, substitution))
    }
  return {
    own: { candidates, obstacles: [...obstacles.values()] },
    overlay: { candidates: overlaid, obstacles: [], onlyWhereShared: true },
  }
}

/**
 * Undefined if no repository file sets it.
 * @throws Failure BP111x of the file
 */
export function locateVariable(
  name: string,
  { variableSources }: SyncerBuild,
  files: SourceFiles,
): { readonly document: SourceDocument; readonly path: FieldPath } | undefined {
  const place = variableSources?.get(name)?.place
  if (place === undefined || !files.has(place.path)) return undefined
  const document = readSourceDocuments(place.path, files)[place.document]
  return document === undefined ? undefined : { document, path: convertToFieldPath(place.at) }
}

function createVariableObstacle(
  name: string,
  { title, variableSources }: SyncerBuild,
  { at }: Substitution,
): Obstacle {
  const from = variableSources?.get(name)
  if (from === undefined)
    return {
      where: title,
      why: `the value comes from the variable ${name} of ${title}, which no file of this repository sets`,
      remedy: `set ${name} where it is authored (spec.${at[0]} of ${title}), or choose restore`,
    }
  const input = describeResourceId(from)
  return {
    where: input,
    why: `the value comes from the variable ${name} of ${title}, which the ${input} sets`,
    remedy: `set ${name} in the ${input} where that is authored, which may change other units too, or choose restore`,
  }
}

/** A text that no manifest has. */
const PLACE = '\u0000'

interface Solving {
  readonly text: string
  readonly name: string
  readonly wanted: string
  readonly valueFor: (name: string) => string | undefined
}

/** Only if the text contains the variable once and unchanged. */
function solveVariable(
  substitution: Substitution,
  { text, name, wanted, valueFor }: Solving,
): string | undefined {
  const [before, after, ...more] = substitution
    .fill(text, (each) => (each === name ? PLACE : valueFor(each)))
    .split(PLACE)
  if (before === undefined || after === undefined || more.length > 0) return undefined
  if (
    wanted.length < before.length + after.length ||
    !wanted.startsWith(before) ||
    !wanted.endsWith(after)
  )
    return undefined
  const value = wanted.slice(before.length, wanted.length - after.length)
  return value === '' || value.includes('\n') ? undefined : value
}
