/** A cache saves time; observation does not depend on it. */
import { tmpdir } from 'node:os'
import { Failure } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'
import { findDiskFailure, getSystemCode } from '../program/git-failure.ts'
import type { Advertisement } from '../protocol/advertisement.ts'
import type { FileOperations } from './atomic-fs.ts'
import type { GitObject, ObjectType } from './object-format.ts'
import type { ObjectSource } from './object-source.ts'
import { SpareFolder } from './spare-folder.ts'

interface SparedParts {
  readonly cacheFolder: string
  readonly files: FileOperations
  readonly open: (folder: string) => ObjectSource
  readonly note: (text: string) => void
}

/** Another folder does not help. */
const NOT_OF_THE_FOLDER = new Set(['EMFILE', 'ENFILE'])
/** For a folder that failed again after it looked usable. */
const MOST_TURNS = 32

export class SparedObjects implements ObjectSource {
  readonly #parts: SparedParts
  readonly #folder: SpareFolder
  readonly #own: ObjectSource
  #spare: Promise<ObjectSource> | undefined
  #used: ObjectSource
  #turnsLeft = 0
  #pause = 0

  constructor(parts: SparedParts) {
    this.#parts = parts
    this.#folder = SpareFolder.getShared(parts.cacheFolder)
    this.#own = parts.open(parts.cacheFolder)
    this.#used = this.#own
  }

  get known(): Advertisement | undefined {
    return this.#used.known ?? this.#own.known
  }

  /** The cache folder may be usable again. */
  async advertise(signal: AbortSignal): Promise<Advertisement> {
    await this.#leaveSpare()
    return await this.#ask((source) => source.advertise(signal), signal)
  }

  async read(
    ids: readonly ObjectId[],
    type: ObjectType,
    signal: AbortSignal,
    most?: number,
  ): Promise<ReadonlyMap<ObjectId, GitObject>> {
    return await this.#ask((source) => source.read(ids, type, signal, most), signal)
  }

  async prepare(
    blobs: readonly ObjectId[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<ObjectId, number>> {
    return await this.#ask((source) => source.prepare(blobs, signal), signal)
  }

  async #ask<Answer>(
    ask: (source: ObjectSource) => Promise<Answer>,
    signal: AbortSignal,
  ): Promise<Answer> {
    let refused: Failure | undefined
    if (this.#spare === undefined) {
      try {
        return await ask(this.#own)
      } catch (thrown) {
        signal.throwIfAborted()
        if (!isOfCacheFolder(thrown)) throw thrown
        refused = thrown
      }
    }
    try {
      return await ask(await this.#openSpare(refused))
    } catch (thrown) {
      const failure =
        thrown instanceof Failure ? thrown : findDiskFailure(tmpdir(), thrown, 'ENOENT')
      if (failure?.code !== 'BP4008') throw thrown
      this.#spare = undefined
      this.#used = this.#own
      throw createNeitherFailure(this.#parts.cacheFolder, refused, failure)
    }
  }

  async #openSpare(refused: Failure | undefined): Promise<ObjectSource> {
    this.#spare ??= this.#folder.getPath().then((path) => {
      const { cacheFolder, open, note } = this.#parts
      this.#used = open(path)
      this.#pause = Math.min(MOST_TURNS, this.#pause * 2 || 1)
      this.#turnsLeft = this.#pause
      if (this.#folder.isNews(true))
        note(
          `the cache folder ${cacheFolder} cannot be written (${refused?.why ?? 'it is full'}): the repository is read through a temporary folder, which ` +
            'is slower; free space, or name another folder in XDG_CACHE_HOME',
        )
      return this.#used
    })
    return await this.#spare
  }

  async #leaveSpare(): Promise<void> {
    if (this.#spare === undefined) return
    this.#turnsLeft -= 1
    if (this.#turnsLeft > 0 || !(await this.#folder.isCacheUsable(this.#parts.files))) return
    this.#spare = undefined
    this.#used = this.#own
    if (this.#folder.isNews(false))
      this.#parts.note(
        `the cache folder ${this.#parts.cacheFolder} can be written again, and is used`,
      )
  }
}

function isOfCacheFolder(thrown: unknown): thrown is Failure {
  return (
    thrown instanceof Failure &&
    thrown.code === 'BP4008' &&
    !NOT_OF_THE_FOLDER.has(getSystemCode(thrown.cause) ?? '')
  )
}

function createNeitherFailure(
  cacheFolder: string,
  refused: Failure | undefined,
  failure: Failure,
): Failure {
  const first = refused === undefined ? '' : `${refused.why}; in the temporary folder ${tmpdir()} `
  return new Failure({
    ...failure.toJSON(),
    where: refused === undefined ? (failure.where ?? tmpdir()) : `${cacheFolder} and ${tmpdir()}`,
    why: `${first}${failure.why}`,
    remedy:
      'free space, or name a folder that can be written in XDG_CACHE_HOME or TMPDIR; nothing in them has to be kept',
    cause: failure.cause,
  })
}
