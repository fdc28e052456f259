import { OversizedRead, type TreeFile } from '@backporch/git-store/package-repository'
import type { ObjectId } from '@backporch/kyaml/files'
import { type CommitFiles, MOST_PACKAGE_BYTES, readBlobs } from '../commit/commit-files.ts'
import {
  type KustomizationSource,
  type PathAnswer,
  walkKustomization,
} from './files/kustomization-walk.ts'

export interface WalkedKustomization extends KustomizationSource {
  readonly ids: ReadonlyMap<string, ObjectId>
}

/**
 * @param written files that replace the commit's, by path from the repository root
 * @throws OversizedRead, Failure BP40xx when git fails
 */
export async function readKustomization(
  commit: CommitFiles,
  folder: string,
  signal: AbortSignal,
  written: ReadonlyMap<string, Uint8Array> = new Map(),
): Promise<WalkedKustomization> {
  const walk = walkKustomization(folder)
  const ids = new Map<string, ObjectId>()
  const folders = new Set<string>()
  let bytes = 0
  let state = walk.next()
  while (state.done !== true) {
    const replaced = written.get(state.value)
    const found = replaced === undefined ? await commit.at(state.value) : 'absent'
    let answer: PathAnswer =
      typeof found === 'string' ? found : { ...found, content: new Uint8Array() }
    if (answer === 'absent') answer = commit.leftOut?.(state.value) ?? answer
    if (replaced !== undefined) answer = { path: state.value, mode: '100644', content: replaced }
    if (typeof found !== 'string') {
      ids.set(found.path, found.id)
      const blobs =
        found.mode === '160000' ? undefined : await readWithFolder(commit, found, folders, signal)
      bytes += blobs?.get(found.id)?.length ?? 0
      if (bytes > MOST_PACKAGE_BYTES) throw new OversizedRead(folder || '.', MOST_PACKAGE_BYTES)
      answer = {
        path: found.path,
        mode: found.mode,
        content: blobs?.get(found.id) ?? new Uint8Array(),
      }
    }
    state = walk.next(answer)
  }
  const { files, charts } = state.value
  if (charts.size === 0) return { ...state.value, ids }
  const found = (await Promise.all([...charts].map((chart) => commit.below(chart))))
    .flat()
    .filter(({ mode }) => mode.startsWith('100'))
  const contents = await readBlobs(commit.repository, found, signal, {
    most: MOST_PACKAGE_BYTES - bytes,
  })
  const read = found.map(
    ({ path, mode, id }) =>
      [path, { path, mode, content: contents.get(id) ?? new Uint8Array() }] as const,
  )
  for (const { path, id } of found) ids.set(path, id)
  return { ...state.value, files: new Map([...files, ...read]), ids }
}

/**
 * Reads the other manifests of a folder with its first file, because a kustomization names them
 * next.
 */
async function readWithFolder(
  commit: CommitFiles,
  file: TreeFile,
  folders: Set<string>,
  signal: AbortSignal,
): Promise<ReadonlyMap<ObjectId, Uint8Array>> {
  const { path, id } = file
  const folder = path.slice(0, path.lastIndexOf('/') + 1)
  const beside = folders.has(folder) ? [] : (commit.beside?.(path) ?? [])
  folders.add(folder)
  const manifests = beside
    .filter((each) => each.mode.startsWith('100') && /\.(?:ya?ml|json)$/.test(each.path))
    .map((each) => each.id)
  // An unreadable file is reported where it is named.
  const all =
    manifests.length < 2
      ? undefined
      : await commit.repository
          .read([id, ...manifests], signal, MOST_PACKAGE_BYTES)
          .catch(() => undefined)
  return all ?? (await readBlobs(commit.repository, [file], signal))
}
