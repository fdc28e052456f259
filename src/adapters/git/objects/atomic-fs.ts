/**
 * The file system that isomorphic-git gets: a file is written under a temporary name in its own folder and then renamed,
 * so that a killed process leaves either the whole file or none (docs/facts/isomorphic-git-needs-atomic-writes.md).
 */
import type { FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** The functions of `node:fs/promises` that are used. Injected so that a test can make them fail. */
export type FileOperations = Pick<
  typeof import('node:fs/promises'),
  'readFile' | 'open' | 'rename' | 'mkdir' | 'rmdir' | 'unlink' | 'rm' | 'stat' | 'lstat' | 'readdir' | 'readlink' | 'symlink'
>

/** Marks a file that is being written. */
export const TEMPORARY_MARK = '.being-written-'

/** A loose object: `objects/12/34…`. The cache holds packs only, so asking the disk for one is in vain. */
const LOOSE_OBJECT = /\/objects\/[0-9a-f]{2}\/[0-9a-f]{38}$/

let written = 0

/**
 * Writes a file whole or not at all.
 * @param flush waits until the disk has it (fsync), for those who fear a power cut more than the wait
 * @throws the file system's own errors, after the temporary file is gone
 */
export async function writeWhole(files: FileOperations, path: string, content: string | Uint8Array, flush = false): Promise<void> {
  written += 1
  const temporary = join(dirname(path), `${basename(path)}${TEMPORARY_MARK}${process.pid}-${written}`)
  try {
    const handle = await files.open(temporary, 'wx')
    await fill(handle, content, flush)
    await files.rename(temporary, path)
  } catch (error) {
    await files.unlink(temporary).catch(() => {}) // it may never have been made
    throw error
  }
}

async function fill(handle: FileHandle, content: string | Uint8Array, flush: boolean): Promise<void> {
  try {
    await handle.writeFile(content)
    if (flush) await handle.sync()
  } finally {
    await handle.close()
  }
}

/** For isomorphic-git: `fs.promises` with `writeFile` made atomic. */
export function atomicFs(files: FileOperations, flush = false): { readonly promises: AtomicPromises } {
  return {
    promises: {
      readFile: async (path, options) => {
        if (typeof path === 'string' && LOOSE_OBJECT.test(path)) {
          throw Object.assign(new Error('the cache holds packs only'), { code: 'ENOENT' })
        }
        return await files.readFile(path, options ?? null)
      },
      writeFile: async (path, content) => await writeWhole(files, path, content, flush),
      mkdir: async (path) => await files.mkdir(path),
      rmdir: async (path) => await files.rmdir(path),
      unlink: async (path) => await files.unlink(path),
      stat: async (path) => await files.stat(path),
      lstat: async (path) => await files.lstat(path),
      readdir: async (path) => await files.readdir(path),
      readlink: async (path) => await files.readlink(path),
      symlink: async (target, path) => await files.symlink(target, path),
    },
  }
}

interface AtomicPromises {
  readonly readFile: (
    path: string,
    options?: BufferEncoding | { readonly encoding?: BufferEncoding | null } | null,
  ) => Promise<string | Buffer>
  readonly writeFile: (path: string, content: string | Uint8Array) => Promise<void>
  readonly mkdir: (path: string) => Promise<unknown>
  readonly rmdir: (path: string) => Promise<void>
  readonly unlink: (path: string) => Promise<void>
  readonly stat: (path: string) => Promise<unknown>
  readonly lstat: (path: string) => Promise<unknown>
  readonly readdir: (path: string) => Promise<string[]>
  readonly readlink: (path: string) => Promise<string>
  readonly symlink: (target: string, path: string) => Promise<void>
}
