import type { FileChange } from '@backporch/git-store/package-repository'
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { KUSTOMIZATION_NAMES } from '@backporch/kpt/package'
import type { PackageFiles } from '@backporch/kyaml/files'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import { getResourceKey } from '@backporch/kyaml/resource'
import type { EditInput, SourceEdit, SourceEditor } from '../build/source.ts'
import { joinAnchored } from '../edits/anchored-edits.ts'
import { editAuthored } from '../edits/edit-authored.ts'
import { proveEdit } from '../edits/prove-edit.ts'
import { createEdit } from '../edits/resolution-edits.ts'
import type { RenderedPackage } from '../kpt/render/render-package.ts'
import { getParentFolder, joinFolderPath } from '../kustomize/files/kustomization-walk.ts'
import type { SourceFiles } from '../kustomize/files/kustomize-build.ts'
import { listResourceFiles, updateListedFiles } from '../kustomize/files/listed-files.ts'
import { groupEditsByFile } from '../locate/candidate.ts'
import { joinFiles, placeInPackage, selectWholeChanges } from './place-objects.ts'

/** @throws Failure of the package */
type Render = (input: EditInput, files: PackageFiles) => RenderedPackage

export function createFilesEditor(render: Render): SourceEditor {
  return {
    apply: (input) => editFiles(input, render),
    place: (input, edited) => placeInFiles(input, edited, render),
    problems: ({ changes }) => changes.map(() => undefined),
  }
}

function editFiles(input: EditInput, render: Render): SourceEdit {
  const edits = groupEditsByFile(input.changes.flatMap((change) => createEdit(change) ?? []))
  if (edits.size === 0) return { changes: [], notes: [] }
  const edited = [...edits].map(([path, list]) => {
    const before = getFileText(input, path)
    const documents = readYamlNodes(before.replaceAll('\r\n', '\n'), path)
    return { path, before, text: editAuthored(before, joinAnchored(list, documents), path) }
  })
  const texts = new Map(edited.map(({ path, text }) => [path, text]))
  const prefix = input.packagePath === '' ? '' : `${input.packagePath}/`
  const files = input.files.map((file) => {
    const text = texts.get(prefix + file.path)
    return text === undefined ? file : { ...file, content: encodeText(isBlank(text) ? '' : text) }
  })
  const objectsOf = (own: PackageFiles): Map<string, DesiredResource> =>
    new Map(
      render(input, own).desired.resources.map((resource) => [
        getResourceKey(resource.id),
        resource,
      ]),
    )
  proveEdit(objectsOf(input.files), objectsOf(files), input.changes)
  return {
    changes: edited
      .filter(({ before, text }) => before !== text)
      .map(({ path, text }) => createFileChange(path, text)),
    notes: [],
  }
}

/** @throws Failure BP2001, or that of the package */
export function placeInFiles(
  input: EditInput,
  edited: readonly FileChange[],
  render: Render,
): readonly FileChange[] {
  const changes = selectWholeChanges(input.changes)
  if (changes.length === 0) return updateLists(input, edited)
  const contents = new Map(edited.map(({ path, content }) => [path, content]))
  const { packagePath } = input
  const prefix = packagePath === '' ? '' : `${packagePath}/`
  const files = input.files.flatMap((file) => {
    const content = contents.get(prefix + file.path)
    return content === null ? [] : [content === undefined ? file : { ...file, content }]
  })
  const texts = placeInPackage({ packagePath, files, changes, render: (own) => render(input, own) })
  const all = joinFiles(
    contents,
    new Map([...texts].map(([path, text]) => [path, encodeText(text)])),
  )
  return updateLists(input, all)
}

/**
 * A folder that is applied file by file may have kustomizations that somebody builds: new files
 * next to listed ones are added to the lists, and removed files are taken out.
 */
function updateLists(
  { packagePath, files }: EditInput,
  changes: readonly FileChange[],
): readonly FileChange[] {
  const before: SourceFiles = new Map(
    files.map((file) => {
      const path = joinFolderPath(packagePath, file.path)
      return [path, { ...file, path }]
    }),
  )
  const removed = new Set(changes.flatMap(({ path, content }) => (content === null ? [path] : [])))
  const created = changes.flatMap(({ path, content }) =>
    content === null || before.has(path) ? [] : [path],
  )
  if (removed.size === 0 && created.length === 0) return changes
  const lists = new Map<string, Uint8Array>()
  for (const path of before.keys()) {
    const folder = getParentFolder(path)
    if (
      !KUSTOMIZATION_NAMES.some((name) => path === joinFolderPath(folder, name)) ||
      removed.has(path)
    )
      continue
    const listed = listResourceFiles(path, before)
    const isBeside = (file: string): boolean => getParentFolder(file) === folder
    const own = listed.some((file) => isBeside(file) && before.has(file))
      ? created.filter(isBeside).map((file) => file.slice(folder === '' ? 0 : folder.length + 1))
      : []
    if (own.length > 0 || listed.some((file) => removed.has(file)))
      lists.set(path, encodeText(updateListedFiles(path, before, own, removed)))
  }
  return joinFiles(new Map(changes.map(({ path, content }) => [path, content])), lists)
}

/** A file without objects is removed, unless it has more than separators. */
export function createFileChange(path: string, text: string): FileChange {
  return { path, content: isBlank(text) ? null : encodeText(text) }
}

function isBlank(text: string): boolean {
  return text
    .split(/\r?\n/)
    .every((line) => line.trim() === '' || line.trim() === '---' || line.trim() === '{}')
}

function getFileText({ packagePath, files }: EditInput, path: string): string {
  const relative = packagePath === '' ? path : path.slice(packagePath.length + 1)
  const file = files.find((candidate) => candidate.path === relative)
  if (file === undefined) throw new TypeError(`the package has no file ${path}`)
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(file.content)
}

function encodeText(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
