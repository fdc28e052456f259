/** Objects that were read lately: a turn reads most of what the turn before it read, and an object never changes. */
import type { ObjectId } from '../../../package/object-id.ts'
import type { GitObject } from './object-format.ts'

export class RecentObjects {
  readonly #objects = new Map<ObjectId, GitObject>()
  readonly #limit: number
  #bytes = 0

  /** @param limit bytes of content; an object of more than a sixteenth of it is not kept, and the least recently read go first */
  constructor(limit: number) {
    this.#limit = limit
  }

  get bytes(): number {
    return this.#bytes
  }

  get(id: ObjectId): GitObject | undefined {
    const found = this.#objects.get(id)
    if (found !== undefined) {
      this.#objects.delete(id)
      this.#objects.set(id, found)
    }
    return found
  }

  put(object: GitObject): void {
    const { id, content } = object
    if (content.length > this.#limit / 16 || this.#objects.has(id)) return
    this.#objects.set(id, object)
    this.#bytes += content.length
    for (const [oldest, { content: old }] of this.#objects) {
      if (this.#bytes <= this.#limit) break
      this.#objects.delete(oldest)
      this.#bytes -= old.length
    }
  }
}
