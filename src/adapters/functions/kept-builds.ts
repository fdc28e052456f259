/**
 * Program output for the next process (ADR 83), encrypted with a key derived from the whole input
 * of its build, so that it cannot be read without the input. A file that cannot be decrypted counts
 * as missing.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

interface KeptEntry {
  read(): Promise<string | undefined>
  /** A full disk is no error. */
  write(text: string): Promise<void>
}

const CIPHER = 'aes-256-gcm'
const NONCE = 12
const TAG = 16
/** Bytes. */
const MOST_KEPT = 64 * 1024 * 1024
/** Bytes between two searches for the oldest files. */
const LOOKED_AFTER = 8 * 1024 * 1024

export class KeptBuilds {
  private readonly folder: string
  private readonly version: string
  private readonly most: number
  /** Makes the first write of a process search. */
  private written = LOOKED_AFTER

  constructor(folder: string, version: string, most = MOST_KEPT) {
    this.folder = folder
    this.version = version
    this.most = most
  }

  /**
   * @param program absolute path
   * @param input everything that determines the output
   */
  createEntry(program: string, input: readonly string[]): KeptEntry {
    // A missing program fails when it is run.
    const found = statSync(program, { throwIfNoEntry: false })
    const whole = JSON.stringify([this.version, program, found?.size, found?.mtimeMs, ...input])
    const derived = (use: string): Buffer => createHash('sha256').update(`${use} ${whole}`).digest()
    const path = join(this.folder, derived('name').toString('hex'))
    const key = derived('key')
    return {
      read: async () => {
        try {
          const text = decryptFile(key, await readFile(path))
          const now = new Date()
          await utimes(path, now, now)
          return text
        } catch {
          return undefined
        }
      },
      write: (text) => this.write(path, encryptText(key, text)),
    }
  }

  private async write(path: string, content: Buffer): Promise<void> {
    if (content.length > this.most) return
    const fresh = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
    try {
      await mkdir(this.folder, { recursive: true, mode: 0o700 })
      await writeFile(fresh, content, { mode: 0o600 })
      await rename(fresh, path)
      this.written += content.length
      if (this.written > LOOKED_AFTER) await this.removeOldest()
    } catch {
      await rm(fresh, { force: true }).catch(() => undefined)
    }
  }

  /** Includes leftovers of killed processes. */
  private async removeOldest(): Promise<void> {
    this.written = 0
    const names = await readdir(this.folder)
    const files = await Promise.all(
      names.map(async (name) => {
        const path = join(this.folder, name)
        const { size, mtimeMs } = await stat(path)
        return { path, size, mtimeMs }
      }),
    )
    let room = this.most
    for (const { path, size } of files.sort((one, other) => other.mtimeMs - one.mtimeMs)) {
      room -= size
      if (room < 0) await rm(path, { force: true })
    }
  }
}

function encryptText(key: Buffer, text: string): Buffer {
  const nonce = randomBytes(NONCE)
  const cipher = createCipheriv(CIPHER, key, nonce)
  const content = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), content])
}

/** @throws if `encrypted` with this key did not write the whole file */
function decryptFile(key: Buffer, file: Buffer): string {
  const decipher = createDecipheriv(CIPHER, key, file.subarray(0, NONCE), { authTagLength: TAG })
  decipher.setAuthTag(file.subarray(NONCE, NONCE + TAG))
  const content = decipher.update(file.subarray(NONCE + TAG))
  return Buffer.concat([content, decipher.final()]).toString('utf8')
}
