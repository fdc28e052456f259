import type { FileMode, ObjectId } from '@backporch/kyaml/files'
import { LRUCache } from 'lru-cache'
import type { NewObjects } from '../objects/new-objects.ts'
import {
  type GitObject,
  isFolder,
  type ObjectType,
  parseTree,
  type TreeEntry,
} from '../objects/object-format.ts'
import type { ObjectSource } from '../objects/object-source.ts'
import { isHostileName } from '../objects/path-policy.ts'
import type { TreeFile } from '../ports/package-repository.ts'
import { createDamagedFailure } from '../program/git-failure.ts'

const MOST_TREES = 20_000

export class ParsedObjects {
  readonly #remote: string
  readonly #source: ObjectSource
  readonly #created: NewObjects
  readonly #trees = new LRUCache<ObjectId, readonly TreeEntry[]>({
    maxSize: MOST_TREES,
    sizeCalculation: () => 1,
  })

  constructor(remote: string, source: ObjectSource, created: NewObjects) {
    this.#remote = remote
    this.#source = source
    this.#created = created
  }

  async readOne(id: ObjectId, type: ObjectType, signal: AbortSignal): Promise<GitObject> {
    const object = (await this.read([id], type, signal)).get(id)
    if (object === undefined) throw createDamagedFailure(this.#remote, `${id} did not come`)
    return object
  }

  async read(
    ids: readonly ObjectId[],
    type: ObjectType,
    signal: AbortSignal,
    most?: number,
  ): Promise<ReadonlyMap<ObjectId, GitObject>> {
    const found = new Map<ObjectId, GitObject>()
    const elsewhere: ObjectId[] = []
    for (const id of new Set(ids)) {
      const object = this.#created.get(id)
      if (object === undefined) elsewhere.push(id)
      else found.set(id, object)
    }
    if (elsewhere.length > 0)
      for (const [id, object] of await this.#source.read(elsewhere, type, signal, most))
        found.set(id, object)
    for (const [id, object] of found) {
      if (object.type !== type)
        throw createDamagedFailure(
          this.#remote,
          `${id} is a ${object.type}, and a ${type} was looked for`,
        )
    }
    return found
  }

  async readTree(id: ObjectId, signal: AbortSignal): Promise<readonly TreeEntry[]> {
    return (await this.#readTrees([id], signal)).get(id) ?? []
  }

  async listFiles(tree: ObjectId, path: string, signal: AbortSignal): Promise<readonly TreeFile[]> {
    let entry: TreeEntry = { mode: '40000', name: '', id: tree }
    for (const segment of path === '' ? [] : path.split('/')) {
      const name = Buffer.from(segment).toString('latin1')
      const next = isFolder(entry)
        ? (await this.readTree(entry.id, signal)).find((each) => each.name === name)
        : undefined
      if (next === undefined) return []
      entry = next
    }
    if (!isFolder(entry)) return [{ path: '', mode: normalizeFileMode(entry.mode), id: entry.id }]
    const files = await this.#collect(entry.id, signal)
    return files.sort((left, right) => (left.path < right.path ? -1 : 1))
  }

  parse<T>(object: GitObject, parse: (object: GitObject) => T): T {
    try {
      return parse(object)
    } catch (thrown) {
      throw createDamagedFailure(
        this.#remote,
        `${object.id} is not a well-formed ${object.type}`,
        thrown,
      )
    }
  }

  async #readTrees(
    ids: readonly ObjectId[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<ObjectId, readonly TreeEntry[]>> {
    const trees = new Map<ObjectId, readonly TreeEntry[]>()
    for (const id of ids) {
      const known = this.#trees.get(id)
      if (known !== undefined) trees.set(id, known)
    }
    const unknown = ids.filter((id) => !trees.has(id))
    const objects = unknown.length === 0 ? [] : await this.read(unknown, 'tree', signal)
    for (const [id, object] of objects) {
      const entries = this.parse(object, ({ content }) => parseTree(content))
      trees.set(id, entries)
      this.#trees.set(id, entries)
    }
    return trees
  }

  async #collect(root: ObjectId, signal: AbortSignal): Promise<TreeFile[]> {
    const files: TreeFile[] = []
    let folders = [{ id: root, prefix: '' }]
    while (folders.length > 0) {
      const ids = folders.map(({ id }) => id)
      const trees = await this.#readTrees(ids, signal)
      folders = folders.flatMap(({ id, prefix }) =>
        (trees.get(id) ?? []).flatMap((entry) => {
          const name = Buffer.from(entry.name, 'latin1').toString('utf8')
          if (isHostileName(name))
            throw createDamagedFailure(
              this.#remote,
              `a folder holds the name ${JSON.stringify(name)}, which git does not allow`,
            )
          if (isFolder(entry)) return [{ id: entry.id, prefix: `${prefix}${name}/` }]
          files.push({ path: prefix + name, mode: normalizeFileMode(entry.mode), id: entry.id })
          return []
        }),
      )
    }
    return files
  }
}

function normalizeFileMode(mode: string): FileMode {
  if (mode === '120000' || mode === '160000') return mode
  // Old git versions wrote more modes.
  return (Number.parseInt(mode, 8) & 0o100) === 0 ? '100644' : '100755'
}
