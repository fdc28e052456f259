import {
  OversizedRead,
  type PackageRepository,
  type TreeFile,
} from '@backporch/git-store/package-repository'
import { Failure } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'
import { isIgnoreFile } from '../../syncers/flux-artifact/source-ignore.ts'
import { joinFolderPath, type LeftOut } from '../kustomize/files/kustomization-walk.ts'

/** Per package or build. */
export const MOST_PACKAGE_BYTES = 32 * 1024 * 1024

export interface CommitFiles {
  readonly repository: PackageRepository
  at(path: string): Promise<TreeFile | 'folder' | 'absent'>
  below(folder: string): Promise<readonly TreeFile[]>
  beside?(path: string): readonly TreeFile[]
  /**
   * By path; a link does not count. Read once.
   * @throws Failure BP40xx if git fails
   */
  ignoreTexts(signal: AbortSignal): Promise<ReadonlyMap<string, string>>
  leftOut?(path: string): LeftOut | undefined
}

export function createListedFiles(
  repository: PackageRepository,
  tree: readonly TreeFile[],
): CommitFiles {
  const files = new Map(tree.map((file) => [file.path, file]))
  const folders = new Set<string>([''])
  for (const { path } of tree)
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      if (folders.has(path.slice(0, end))) break
      folders.add(path.slice(0, end))
    }
  const below: CommitFiles['below'] = async (folder) =>
    folder === '' ? tree : tree.filter(({ path }) => path.startsWith(`${folder}/`))
  return {
    repository,
    at: async (path) => files.get(path) ?? (folders.has(path) ? 'folder' : 'absent'),
    below,
    ignoreTexts: readIgnoreTexts(repository, below),
    beside: (path) => {
      const folder = path.slice(0, path.lastIndexOf('/') + 1)
      return tree.filter(
        (file) => file.path.startsWith(folder) && !file.path.includes('/', folder.length),
      )
    },
  }
}

export function createRequestedFiles(
  repository: PackageRepository,
  commit: ObjectId,
  signal: AbortSignal,
): CommitFiles {
  const below: CommitFiles['below'] = async (folder) =>
    (await repository.list(commit, folder, signal)).flatMap((file) =>
      file.path === '' ? [] : [{ ...file, path: joinFolderPath(folder, file.path) }],
    )
  return {
    repository,
    at: async (path) => {
      const files = await repository.list(commit, path, signal)
      const [only] = files
      if (only === undefined) return 'absent'
      return files.length === 1 && only.path === '' ? { ...only, path } : 'folder'
    },
    below,
    ignoreTexts: readIgnoreTexts(repository, below),
  }
}

function readIgnoreTexts(
  repository: PackageRepository,
  below: CommitFiles['below'],
): CommitFiles['ignoreTexts'] {
  let reading: Promise<ReadonlyMap<string, string>> | undefined
  const read = async (signal: AbortSignal): Promise<ReadonlyMap<string, string>> => {
    const files = (await below('')).filter(
      ({ path, mode }) => isIgnoreFile(path) && (mode === '100644' || mode === '100755'),
    )
    return readTexts(repository, files, signal)
  }
  return async (signal) => {
    reading ??= read(signal)
    try {
      return await reading
    } catch (thrown) {
      reading = undefined
      throw thrown
    }
  }
}

/**
 * By path. Bytes that are not UTF-8 become the replacement character.
 * @param leaveOut called with a file that is too large, and with the largest of files that are too
 * large together: the answer omits them; without it they are thrown
 * @throws OversizedRead, Failure BP1111
 */
export async function readTexts(
  repository: PackageRepository,
  files: readonly TreeFile[],
  signal: AbortSignal,
  leaveOut?: (path: string, failure: Failure) => void,
): Promise<ReadonlyMap<string, string>> {
  let rest = files
  for (;;) {
    try {
      const blobs = await readBlobs(repository, rest, signal)
      return new Map(rest.map(({ path, id }) => [path, new TextDecoder().decode(blobs.get(id))]))
    } catch (thrown) {
      if (leaveOut === undefined || !(thrown instanceof Failure) || thrown.code !== 'BP1111')
        throw thrown
      const blob = thrown instanceof OversizedRead ? thrown.blob : undefined
      const left =
        blob === undefined ? await findLargestFiles(repository, rest, signal) : new Set([blob])
      for (const { path, id } of rest) if (left.has(id)) leaveOut(path, thrown)
      rest = rest.filter(({ id }) => !left.has(id))
    }
  }
}

/** @throws OversizedRead that names the file */
export async function readBlobs(
  repository: PackageRepository,
  files: readonly TreeFile[],
  signal: AbortSignal,
  { folder = '', most }: { readonly folder?: string; readonly most?: number } = {},
): Promise<ReadonlyMap<ObjectId, Uint8Array>> {
  const ids = files.filter(({ mode }) => mode !== '160000').map(({ id }) => id)
  try {
    return await repository.read(ids, signal, most)
  } catch (thrown) {
    if (
      folder !== '' &&
      thrown instanceof Failure &&
      thrown.code === 'BP1111' &&
      !(thrown instanceof OversizedRead)
    )
      throw new Failure({ ...thrown.toJSON(), where: folder })
    if (!(thrown instanceof OversizedRead)) throw thrown
    const file = files.find(({ id }) => id === thrown.blob)
    throw thrown.copyWithLocation(
      [folder, file?.path ?? ''].filter((part) => part !== '').join('/'),
    )
  }
}

async function findLargestFiles(
  repository: PackageRepository,
  files: readonly TreeFile[],
  signal: AbortSignal,
): Promise<ReadonlySet<ObjectId>> {
  const sizes = await repository.prepare(
    files.map(({ id }) => id),
    signal,
  )
  const ids = [...new Set(files.map(({ id }) => id))].sort(
    (left, right) => (sizes.get(right) ?? Infinity) - (sizes.get(left) ?? Infinity),
  )
  return new Set(ids.slice(0, Math.ceil(ids.length / 4)))
}
