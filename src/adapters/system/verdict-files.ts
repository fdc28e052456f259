/** Writes are atomic. Another installation cannot use the files. */
import { hash, randomBytes } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

interface Files {
  read(cluster: string): Promise<Uint8Array | undefined>
  /** A full disk is no error: the next start repeats dry runs. */
  write(cluster: string, content: Uint8Array): Promise<void>
}

export function createVerdictFiles(folder: string, remote: string): Files {
  const pathOf = (cluster: string): string =>
    join(folder, `${hash('sha256', `${remote}\n${cluster}`).slice(0, 32)}.verdicts`)
  return {
    async read(cluster) {
      try {
        return await readFile(pathOf(cluster))
      } catch {
        return undefined
      }
    },
    async write(cluster, content) {
      const path = pathOf(cluster)
      const fresh = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 })
        await writeFile(fresh, content, { mode: 0o600 })
        await rename(fresh, path)
      } catch {
        await rm(fresh, { force: true })
      }
    },
  }
}
