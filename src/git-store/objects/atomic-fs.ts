/**
 * Write and rename: a killed process leaves the whole file or none
 * (docs/facts/isomorphic-git-needs-atomic-writes.md).
 */
import { basename, dirname, join } from 'node:path'

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

export const TEMPORARY_MARK = '.being-written-'

/** The cache holds only packs. */
const LOOSE_OBJECT = /\/objects\/[0-9a-f]{2}\/[0-9a-f]{38}$/

let written = 0

/** @throws the file system's own errors, after the temporary file is removed */
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

export function createAtomicFs(files: FileOperations): { readonly promises: AtomicPromises } {
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
