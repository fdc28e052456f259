/** One per process. */
import { rmSync } from 'node:fs'
import { mkdtemp, readdir, stat, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FileOperations, writeWhole } from './atomic-fs.ts'

/** Bytes in addition to the content of the spare folder. */
const LEAST_ROOM = 64 * 1024

export class SpareFolder {
  readonly #cacheFolder: string
  #made: Promise<string> | undefined
  #isTold = false

  private constructor(cacheFolder: string) {
    this.#cacheFolder = cacheFolder
  }

  static readonly #of = new Map<string, SpareFolder>()

  static getShared(cacheFolder: string): SpareFolder {
    const spare = SpareFolder.#of.get(cacheFolder) ?? new SpareFolder(cacheFolder)
    SpareFolder.#of.set(cacheFolder, spare)
    return spare
  }

  /**
   * Removed when the process ends.
   * @throws errors of the file system
   */
  async getPath(): Promise<string> {
    this.#made ??= makeTemporary()
    return await this.#made.catch((thrown: unknown) => {
      this.#made = undefined
      throw thrown
    })
  }

  async isCacheUsable(files: FileOperations): Promise<boolean> {
    const probe = join(this.#cacheFolder, `probe-${process.pid}`)
    try {
      const wanted = LEAST_ROOM + (await measureFolder(await this.getPath()))
      await files.mkdir(this.#cacheFolder, { recursive: true, mode: 0o700 })
      const { bavail, bsize } = await statfs(this.#cacheFolder)
      if (bavail * bsize < wanted) return false
      await writeWhole(files, probe, Buffer.alloc(LEAST_ROOM))
      return true
    } catch {
      return false
    } finally {
      await files.unlink(probe).catch(() => {}) // it may not exist
    }
  }

  isNews(isUsed: boolean): boolean {
    const isNews = this.#isTold !== isUsed
    this.#isTold = isUsed
    return isNews
  }
}

const made = new Set<string>()

async function makeTemporary(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'backporch-cache-'))
  if (made.size === 0) process.once('exit', removeAll)
  made.add(path)
  return path
}

function removeAll(): void {
  for (const path of made) {
    try {
      rmSync(path, { recursive: true, force: true })
    } catch {
      // No caller is left to receive an error.
    }
  }
}

async function measureFolder(folder: string): Promise<number> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) =>
    entry.isFile(),
  )
  const sizes = await Promise.all(
    files.map((entry) => stat(join(entry.parentPath, entry.name)).then(({ size }) => size)),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
