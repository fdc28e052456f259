/**
 * The file system of isomorphic-git: a file is written under a temporary name in its own folder and then renamed, so that a killed process
 * leaves either the whole file or none (docs/facts/isomorphic-git-needs-atomic-writes.md).
 */
import { basename, dirname, join } from 'node:path'

/** The used functions of `node:fs/promises`. A test injects failing ones. */
export type FileOperations = Pick<
  typeof import('node:fs/promises'),
  | 'readFile'
  | 'open'
  | 'rename'
  | 'mkdir'
  | 'rmdir'
  | 'unlink'
  | 'rm'
  | 'stat'
  | 'lstat'
  | 'readdir'
  | 'readlink'
  | 'symlink'
>

/** Marks a file during its write. */
export const TEMPORARY_MARK = '.being-written-'

/** A loose object: `objects/12/34…`. The cache holds packs only, so the disk is not read for one. */
const LOOSE_OBJECT = /\/objects\/[0-9a-f]{2}\/[0-9a-f]{38}$/

let written = 0

/** Writes a file whole or not at all. @throws the file system's own errors, after the temporary file is gone */
export async function writeWhole(
  files: FileOperations,
  path: string,
  content: string | Uint8Array,
): Promise<void> {
  written += 1
  const temporary = join(
    dirname(path),
    `${basename(path)}${TEMPORARY_MARK}${process.pid}-${written}`,
  )
  try {
    const handle = await files.open(temporary, 'wx')
    await handle.writeFile(content).finally(() => handle.close())
    await files.rename(temporary, path)
  } catch (error) {
    await files.unlink(temporary).catch(() => {}) // it may not exist
    throw error
  }
}

/** For isomorphic-git: `fs.promises` with an atomic `writeFile`. */
export function atomicFs(files: FileOperations): { readonly promises: AtomicPromises } {
  return {
    promises: {
      ...files,
      readFile: async (path, options) => {
        if (typeof path === 'string' && LOOSE_OBJECT.test(path)) {
          throw Object.assign(new Error('the cache holds packs only'), { code: 'ENOENT' })
        }
        return await files.readFile(path, options ?? null)
      },
      writeFile: async (path, content) => await writeWhole(files, path, content),
    },
  }
}

interface AtomicPromises extends Omit<FileOperations, 'readFile'> {
  readonly readFile: (
    path: string,
    options?: BufferEncoding | { readonly encoding?: BufferEncoding | null } | null,
  ) => Promise<string | Buffer>
  readonly writeFile: (path: string, content: string | Uint8Array) => Promise<void>
}
