import type { ObjectId } from '@backporch/kyaml/files'
import { type GitObject, parseCommit, parseTree } from './object-format.ts'

export class NewObjects {
  readonly #objects = new Map<ObjectId, GitObject>()
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  add(object: GitObject): void {
    if (this.#objects.has(object.id)) return
    this.#objects.set(object.id, object)
    this.#bytes += object.content.length
  }

  get(id: ObjectId): GitObject | undefined {
    return this.#objects.get(id)
  }

  listMissingFrom(
    tips: readonly ObjectId[],
    remoteTips: ReadonlySet<ObjectId>,
  ): readonly GitObject[] {
    const there = this.#reach([...remoteTips], new Set())
    return [...this.#reach(tips, remoteTips)].filter((object) => !there.has(object))
  }

  /** The remote now has these tips. */
  forget(tips: readonly ObjectId[]): void {
    for (const object of this.#reach(tips, new Set())) {
      this.#objects.delete(object.id)
      this.#bytes -= object.content.length
    }
  }

  #reach(tips: readonly ObjectId[], stop: ReadonlySet<ObjectId>): ReadonlySet<GitObject> {
    const found = new Set<GitObject>()
    const open = [...tips]
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      const object = this.#objects.get(id)
      if (object === undefined || stop.has(id) || found.has(object)) continue
      found.add(object)
      if (object.type === 'tree') open.push(...parseTree(object.content).map((entry) => entry.id))
      if (object.type !== 'commit') continue
      const commit = parseCommit(id, object.content)
      open.push(...commit.parents, commit.tree)
    }
    return found
  }
}
