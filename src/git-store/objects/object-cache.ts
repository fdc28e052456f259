/**
 * A bare git folder of packs, read by isomorphic-git. Deleting it loses nothing. Processes share it
 * without a lock:
 * - a pack is indexed in its own folder, checked, then renamed into place; its name is its
 * checksum;
 * - `packed-refs`, written last, names tips whose whole history is present; `tips` names tips
 * without it. Losing an entry of `tips` to another process is harmless;
 * - a damaged clone is never repaired: a new generation (`2.git`) is started and the highest one
 * counts.
 */
import { createHash, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type ObjectId, parseObjectId } from '@backporch/kyaml/files'
import { Errors, readObject } from 'isomorphic-git'
import { LRUCache } from 'lru-cache'
import { isWellFormedRefName } from '../ports/ref-name.ts'
import { findDiskFailure } from '../program/git-failure.ts'
import { createAtomicFs, type FileOperations, TEMPORARY_MARK, writeWhole } from './atomic-fs.ts'
import { indexPack } from './index-pack.ts'
import { checkPack, createGitObject, type GitObject, isObjectType } from './object-format.ts'
import { readPackEntries } from './pack-entries.ts'

export class DamagedCache extends Error {}

const GENERATION = /^([1-9][0-9]{0,8})\.git$/
/** Milliseconds, for leftovers of killed processes. */
const STALE = 3_600_000
/** Bytes: the manifests of some thousand Kubernetes objects. */
const RECENT = 8 * 1024 * 1024
const HEADER = '# pack-refs with: peeled fully-peeled sorted \n'
const REF_LINE = /^([0-9a-f]{40}) (refs\/\S.*)$/
const CONFIG = '[core]\n\trepositoryformatversion = 0\n\tfilemode = false\n\tbare = true\n'

export type TipsFile = 'packed-refs' | 'tips'

interface Generation {
  readonly number: number
  readonly folder: string
  readonly memory: object
}

/**
 * A turn reads mostly what the previous one read.
 * @param limit bytes; an object larger than a sixteenth of it is not cached
 */
function createRecentObjects(limit: number): LRUCache<ObjectId, GitObject> {
  return new LRUCache({
    maxSize: limit,
    maxEntrySize: limit / 16,
    sizeCalculation: ({ content }) => content.length + 1,
  })
}

export class ObjectCache {
  readonly #folder: string
  readonly #files: FileOperations
  readonly #recent = createRecentObjects(RECENT)
  #generation: Generation | undefined

  constructor(cacheFolder: string, remote: string, files: FileOperations) {
    this.#folder = join(cacheFolder, createHash('sha256').update(remote).digest('hex').slice(0, 24))
    this.#files = files
  }

  /**
   * Verified against its id; undefined if missing.
   * @throws DamagedCache, Failure BP4008
   */
  async read(id: ObjectId): Promise<GitObject | undefined> {
    const recent = this.#recent.get(id)
    if (recent !== undefined) return recent
    const { folder, memory } = await this.#open()
    const found = await readObject({
      fs: createAtomicFs(this.#files),
      gitdir: folder,
      oid: id,
      format: 'content',
      cache: memory,
    }).catch((thrown: unknown) => {
      if (thrown instanceof Errors.NotFoundError) return undefined
      throw (
        findDiskFailure(folder, thrown) ??
        new DamagedCache(`object ${id} cannot be read`, { cause: thrown })
      )
    })
    if (found === undefined) return undefined
    const { type, object: content } = found
    if (!isObjectType(type) || !(content instanceof Uint8Array))
      throw new DamagedCache(`object ${id} has no type`)
    const object = createGitObject(type, content)
    if (object.id !== id) throw new DamagedCache(`object ${id} has another content`)
    this.#recent.set(object.id, object)
    return object
  }

  /** By full ref name. Other processes write too. */
  async readTips(file: TipsFile): Promise<ReadonlyMap<string, ObjectId>> {
    const { folder } = await this.#open()
    const text = await this.#files.readFile(join(folder, file), 'utf8').catch(() => '')
    const matches = text.split('\n').map((line) => REF_LINE.exec(line))
    const pairs = matches.flatMap((match) =>
      match?.[1] === undefined || match[2] === undefined
        ? []
        : [[match[2], parseObjectId(match[1])] as const],
    )
    return new Map(
      pairs.map(([name, id]) => [name.replace(/^refs\/remotes\/origin\//, 'refs/heads/'), id]),
    )
  }

  /**
   * Tips after the pack (undefined: none was needed).
   * @param pack `most` limits each object, in bytes: isomorphic-git would inflate anything
   * @throws OversizedObject; BrokenObject if the pack is incomplete, DamagedCache if not every
   * object in it can be read, Failure BP4008
   */
  async store(
    pack: { readonly content: Buffer; readonly most: number } | undefined,
    tips?: ReadonlyMap<string, ObjectId>,
    file: TipsFile = 'tips',
  ): Promise<void> {
    const { folder } = await this.#open()
    try {
      if (pack !== undefined && checkPack(pack.content) > 0)
        await this.#storePack(folder, pack.content, pack.most)
      if (tips === undefined) return
      const lines = [...tips]
        .filter(([name]) => isWellFormedRefName(name))
        .map(([name, id]) => ({ name: name.replace(/^refs\/heads\//, 'refs/remotes/origin/'), id }))
        .sort((left, right) => (left.name < right.name ? -1 : 1))
      await writeWhole(
        this.#files,
        join(folder, file),
        HEADER + lines.map(({ name, id }) => `${id} ${name}\n`).join(''),
      )
    } catch (thrown) {
      throw findDiskFailure(folder, thrown) ?? thrown
    }
  }

  /**
   * Starts a new generation, or uses another process's.
   * @throws Failure BP4008
   */
  async discard(): Promise<void> {
    const { number } = await this.#open()
    this.#generation = undefined
    await this.#files
      .mkdir(join(this.#folder, `${number + 1}.git`), { recursive: true })
      .catch((thrown: unknown) => {
        throw findDiskFailure(this.#folder, thrown) ?? thrown
      })
  }

  async #storePack(folder: string, pack: Buffer, most: number): Promise<void> {
    const index = await indexPack(pack, readPackEntries(pack, most))
    if (index === undefined) throw new DamagedCache('the pack has objects that cannot be resolved')
    const incoming = join(folder, 'incoming', randomUUID())
    const name = `pack-${pack.subarray(-20).toString('hex')}`
    try {
      await this.#files.mkdir(incoming, { recursive: true })
      await writeWhole(this.#files, join(incoming, `${name}.pack`), pack)
      await writeWhole(this.#files, join(incoming, `${name}.idx`), index)
      await this.#files.mkdir(join(folder, 'objects/pack'), { recursive: true })
      for (const ending of ['.pack', '.idx']) {
        await this.#files.rename(
          join(incoming, name + ending),
          join(folder, 'objects/pack', name + ending),
        )
      }
    } finally {
      await this.#files.rm(incoming, { recursive: true, force: true }).catch(() => {}) // deleted later as stale
    }
  }

  async #open(): Promise<Generation> {
    if (this.#generation !== undefined) return this.#generation
    try {
      await this.#files.mkdir(this.#folder, { recursive: true, mode: 0o700 })
      const numbers = (await this.#files.readdir(this.#folder)).map((name) =>
        Number(GENERATION.exec(name)?.[1] ?? 0),
      )
      const number = Math.max(1, ...numbers)
      const folder = join(this.#folder, `${number}.git`)
      await this.#prepare(folder)
      this.#generation = { number, folder, memory: {} }
      for (const old of numbers.filter((each) => each > 0 && each < number))
        await this.#remove(join(this.#folder, `${old}.git`))
      await this.#clearStale(join(folder, 'incoming'))
      await this.#clearStale(folder)
      return this.#generation
    } catch (thrown) {
      throw findDiskFailure(this.#folder, thrown, 'ENOENT') ?? thrown
    }
  }

  async #prepare(folder: string): Promise<void> {
    await this.#files.mkdir(join(folder, 'objects/pack'), { recursive: true })
    await this.#files.mkdir(join(folder, 'refs'), { recursive: true })
    const known = new Set(await this.#files.readdir(folder))
    if (!known.has('config')) await writeWhole(this.#files, join(folder, 'config'), CONFIG)
    if (!known.has('HEAD'))
      await writeWhole(this.#files, join(folder, 'HEAD'), 'ref: refs/heads/main\n')
  }

  async #clearStale(folder: string): Promise<void> {
    const names = await this.#files.readdir(folder).catch(() => [])
    for (const name of names.filter(
      (each) => folder.endsWith('incoming') || each.includes(TEMPORARY_MARK),
    )) {
      const path = join(folder, name)
      const age = await this.#files.stat(path).then(
        (stat) => Date.now() - stat.mtimeMs,
        () => 0,
      )
      if (age > STALE) await this.#remove(path)
    }
  }

  async #remove(path: string): Promise<void> {
    await this.#files.rm(path, { recursive: true, force: true }).catch(() => {}) // another process does it too
  }
}
