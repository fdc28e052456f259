/**
 * Edits a list of files in its own style: sorted if it was sorted, and with `./` if all entries
 * have it.
 */
import { editYaml } from '@backporch/kyaml/edit-yaml'
import { createFieldStep, type FieldPath } from '@backporch/kyaml/field'
import { getKey, isJsonArray, type Json } from '@backporch/kyaml/json'
import { getParentFolder, resolvePath } from './kustomization-walk.ts'
import { readKustomizationAt, readSourceText, type SourceFiles } from './kustomize-build.ts'

const RESOURCES: FieldPath = [createFieldStep('resources')]

/**
 * A sorted list stays sorted.
 * @param created from its folder
 * @param removed from the repository root
 * @throws Failure BP2007 if the list cannot be edited
 */
export function updateListedFiles(
  path: string,
  files: SourceFiles,
  created: readonly string[],
  removed: ReadonlySet<string> = new Set(),
): string {
  let entries = readEntries(path, files).filter(
    (entry) => !removed.has(resolveFile(path, entry) ?? ''),
  )
  const known = entries
    .filter((entry) => typeof entry === 'string')
    .filter((entry) => /\.ya?ml$/.test(entry))
  const dotted = known.length > 0 && known.every((entry) => entry.startsWith('./'))
  for (const name of created) {
    const entry = dotted ? `./${name}` : name
    const isSorted =
      entries.length > 1 &&
      entries.every((each, at) => at === 0 || String(entries[at - 1]) <= String(each))
    const at = isSorted ? entries.findIndex((each) => String(each) > entry) : -1
    entries = entries.toSpliced(at === -1 ? entries.length : at, 0, entry)
  }
  return editYaml(
    readSourceText(path, files),
    [{ kind: 'set', document: 0, item: undefined, path: RESOURCES, value: entries }],
    path,
  )
}

/** From the repository root. */
export function listResourceFiles(path: string, files: SourceFiles): readonly string[] {
  return readEntries(path, files).flatMap((entry) => resolveFile(path, entry) ?? [])
}

function resolveFile(path: string, entry: Json): string | undefined {
  return typeof entry === 'string' ? resolvePath(getParentFolder(path), entry) : undefined
}

function readEntries(path: string, files: SourceFiles): readonly Json[] {
  const given = getKey(readKustomizationAt(path, files), 'resources')
  return isJsonArray(given) ? given : []
}
