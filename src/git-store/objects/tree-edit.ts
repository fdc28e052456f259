import type { ObjectId } from '@backporch/kyaml/files'
import type { FileChange } from '../ports/package-repository.ts'
import {
  createGitObject,
  createTreeObject,
  FOLDER_MODE,
  type GitObject,
  isFolder,
  type TreeEntry,
} from './object-format.ts'
import { parsePathSegments, refusePath } from './path-policy.ts'

type ReadTree = (tree: ObjectId) => Promise<readonly TreeEntry[]>

interface EditedTree {
  readonly tree: ObjectId
  readonly objects: readonly GitObject[]
}

interface FolderChange {
  readonly path: string
  readonly files: Map<string, Uint8Array | null>
  readonly folders: Map<string, FolderChange>
}

/**
 * @param root undefined: the empty tree. A new file gets mode 100644; emptied folders are removed.
 * @throws Failure BP2007 for a forbidden path, a path that is named twice, a file in place of a
 * folder (or vice versa), and for overwriting a symbolic link or a submodule
 */
export async function editTree(
  readTree: ReadTree,
  root: ObjectId | undefined,
  changes: readonly FileChange[],
): Promise<EditedTree> {
  const objects = new Map<ObjectId, GitObject>()
  const edited = await editFolder(readTree, root, sortByFolder(changes), objects)
  if (edited !== undefined) return { tree: edited, objects: [...objects.values()] }
  const empty = createTreeObject([])
  return { tree: empty.id, objects: root === empty.id ? [] : [empty] }
}

function sortByFolder(changes: readonly FileChange[]): FolderChange {
  const root: FolderChange = { path: '', files: new Map(), folders: new Map() }
  for (const { path, content } of changes) {
    const names = parsePathSegments(path).map((segment) => Buffer.from(segment).toString('latin1'))
    const file = names.pop() ?? ''
    let folder = root
    for (const name of names) {
      const next: FolderChange = folder.folders.get(name) ?? {
        path: `${folder.path}${formatName(name)}/`,
        files: new Map(),
        folders: new Map(),
      }
      folder.folders.set(name, next)
      folder = next
    }
    if (folder.files.has(file)) refusePath(path, 'it is named twice in one change')
    folder.files.set(file, content)
  }
  return root
}

async function editFolder(
  readTree: ReadTree,
  tree: ObjectId | undefined,
  change: FolderChange,
  objects: Map<ObjectId, GitObject>,
): Promise<ObjectId | undefined> {
  const before = tree === undefined ? [] : await readTree(tree)
  const entries = new Map(before.map((entry) => [entry.name, entry]))
  for (const [name, content] of change.files) {
    if (content === null) deleteFile(entries, name, change.path)
  }
  for (const [name, folder] of change.folders) {
    const existing = entries.get(name)
    if (existing !== undefined && !isFolder(existing)) {
      if (writesSomething(folder))
        refusePath(change.path + formatName(name), 'a file is there, and the change needs a folder')
      continue
    }
    const id = await editFolder(readTree, existing?.id, folder, objects)
    if (id === undefined) entries.delete(name)
    else entries.set(name, { mode: existing?.mode ?? FOLDER_MODE, name, id })
  }
  for (const [name, content] of change.files) {
    if (content !== null)
      writeFile(entries, { name, content, path: change.path + formatName(name) }, objects)
  }
  if (entries.size === 0) return undefined
  if (
    tree !== undefined &&
    entries.size === before.length &&
    before.every((entry) => entries.get(entry.name)?.id === entry.id)
  )
    return tree
  const edited = createTreeObject([...entries.values()])
  objects.set(edited.id, edited)
  return edited.id
}

function writesSomething(change: FolderChange): boolean {
  return (
    [...change.files.values()].some((content) => content !== null) ||
    [...change.folders.values()].some(writesSomething)
  )
}

function deleteFile(entries: Map<string, TreeEntry>, name: string, folder: string): void {
  const existing = entries.get(name)
  if (existing !== undefined && isFolder(existing))
    refusePath(folder + formatName(name), 'a folder is there, and the change deletes a file')
  entries.delete(name)
}

function writeFile(
  entries: Map<string, TreeEntry>,
  {
    name,
    content,
    path,
  }: { readonly name: string; readonly content: Uint8Array; readonly path: string },
  objects: Map<ObjectId, GitObject>,
): void {
  const existing = entries.get(name)
  if (existing !== undefined && isFolder(existing))
    refusePath(path, 'a folder is there, and the change needs a file')
  if (existing?.mode === '120000')
    refusePath(path, 'a symbolic link is there, and links are neither followed nor replaced')
  if (existing?.mode === '160000') refusePath(path, 'a submodule is there')
  const blob = createGitObject('blob', content)
  if (blob.id !== existing?.id) objects.set(blob.id, blob)
  entries.set(name, { mode: existing?.mode ?? '100644', name, id: blob.id })
}

function formatName(name: string): string {
  return Buffer.from(name, 'latin1').toString('utf8')
}
