import type { ObjectId } from '@backporch/kyaml/files'
import { MOST_FILE_BYTES, OversizedRead } from '../ports/package-repository.ts'
import { createDamagedFailure } from '../program/git-failure.ts'
import { DamagedCache, type ObjectCache, type TipsFile } from './object-cache.ts'
import type { GitObject } from './object-format.ts'

export class CachedObjects {
  damage: unknown
  /** What the clone lacks, the remote lacks. */
  fresh = false
  readonly oversized = new Set<ObjectId>()
  readonly #remote: string
  readonly #cache: ObjectCache

  constructor(remote: string, cache: ObjectCache) {
    this.#remote = remote
    this.#cache = cache
  }

  assertSmall(ids: readonly ObjectId[]): void {
    const large = ids.find((id) => this.oversized.has(id))
    if (large !== undefined) throw this.createOversizedRead(large)
  }

  createOversizedRead(id: ObjectId, size?: number): OversizedRead {
    return new OversizedRead(`${this.#remote}: ${id}`, MOST_FILE_BYTES, id, size)
  }

  createMissingError(ids: readonly ObjectId[]): Error {
    const damage = this.damage
    const why =
      damage === undefined
        ? 'is reached from no branch and no tag'
        : 'is broken in a fresh copy too'
    return createDamagedFailure(
      this.#remote,
      `${ids.length === 1 ? ids[0] : `one of ${ids.length} objects`} ${why}`,
      damage,
    )
  }

  /**
   * Damage is recorded, and counts as missing.
   * @throws OversizedRead
   */
  async look(ids: readonly ObjectId[], most: number): Promise<ReadonlyMap<ObjectId, GitObject>> {
    const found = new Map<ObjectId, GitObject>()
    let rest = most
    await this.#visitHere(ids, (object) => {
      const { id, type, content } = object
      if (type === 'blob' && content.length > MOST_FILE_BYTES)
        throw this.createOversizedRead(id, content.length)
      rest -= found.has(id) ? 0 : content.length
      if (rest < 0) throw new OversizedRead(this.#remote, most)
      found.set(id, object)
    })
    return found
  }

  async readSizes(ids: readonly ObjectId[]): Promise<ReadonlyMap<ObjectId, number>> {
    const sizes = new Map<ObjectId, number>()
    await this.#visitHere(ids, ({ id, content }) => sizes.set(id, content.length))
    return sizes
  }

  async isHere(ids: readonly ObjectId[]): Promise<boolean> {
    return (await this.listMissing(ids)).length === 0 && this.damage === undefined
  }

  /** None if the cache is damaged: it is then rebuilt. */
  async listMissing(ids: readonly ObjectId[]): Promise<readonly ObjectId[]> {
    const here = await this.readSizes(ids)
    return this.damage === undefined
      ? ids.filter((id) => !here.has(id) && !this.oversized.has(id))
      : []
  }

  async readTips(file: TipsFile): Promise<ReadonlyMap<string, ObjectId>> {
    const tips = await this.#cache.readTips(file)
    if (tips.size === 0) this.fresh = true
    return tips
  }

  async startAnew(): Promise<void> {
    await this.#cache.discard()
    this.damage = undefined
    this.fresh = false
  }

  async #visitHere(ids: readonly ObjectId[], use: (object: GitObject) => void): Promise<void> {
    try {
      for (const id of ids) {
        const object = await this.#cache.read(id)
        if (object !== undefined) use(object)
      }
    } catch (thrown) {
      if (!(thrown instanceof DamagedCache)) throw thrown
      this.damage = thrown
    }
  }
}
