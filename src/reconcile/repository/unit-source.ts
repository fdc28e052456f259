/** Renders a unit from its package and from the files that its build reads outside of the package. */
import type { Failure } from '../../failure.ts'
import type { ObjectId } from '../../package/object-id.ts'
import type { PackageFile, PackageFiles } from '../../package/package-files.ts'
import { OversizedRead, type PackageRepository, type TreeFile } from '../../ports/package-repository.ts'
import { type KustomizationSource, type PathAnswer, walkKustomization } from '../../render/kustomize/kustomization-walk.ts'
import { type BuiltSource, buildOf, readBuilt } from '../../render/kustomize/read-built.ts'
import { type BuildAnswer, NO_BUILDS } from '../../render/package-builder.ts'
import type { PackageRenderer, TurnRendering } from '../../render/package-renderer.ts'
import type { RenderChoice } from '../../render/render-choice.ts'
import { renderAsFiles } from '../../render/render-package.ts'
import { MOST_PACKAGE_BYTES } from './read-budget.ts'
import { below, readBlobs } from './repository-view.ts'

/** A commit, path by path. */
export interface CommitFiles {
  readonly repository: PackageRepository
  at(path: string): Promise<TreeFile | 'folder' | 'absent'>
  /** Files of the folder of a path, where that is known. */
  beside?(path: string): readonly TreeFile[]
}

/** Of a commit whose listing is there. */
export function listedFiles(repository: PackageRepository, tree: readonly TreeFile[]): CommitFiles {
  const files = new Map(tree.map((file) => [file.path, file]))
  const folders = new Set<string>([''])
  for (const { path } of tree)
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      if (folders.has(path.slice(0, end))) break
      folders.add(path.slice(0, end))
    }
  return {
    repository,
    at: async (path) => files.get(path) ?? (folders.has(path) ? 'folder' : 'absent'),
    beside: (path) => {
      const folder = path.slice(0, path.lastIndexOf('/') + 1)
      return tree.filter((file) => file.path.startsWith(folder) && !file.path.includes('/', folder.length))
    },
  }
}

/** Of any commit. */
export function requestedFiles(repository: PackageRepository, commit: ObjectId, signal: AbortSignal): CommitFiles {
  return {
    repository,
    at: async (path) => {
      const files = await repository.list(commit, path, signal)
      const [only] = files
      if (only === undefined) return 'absent'
      return files.length === 1 && only.path === '' ? { ...only, path } : 'folder'
    },
  }
}

export interface WalkedKustomization extends KustomizationSource {
  readonly ids: ReadonlyMap<string, ObjectId>
}

/** Every file that a build of the folder reads. @throws OversizedRead, Failure BP40xx when git fails */
export async function readKustomization(commit: CommitFiles, folder: string, signal: AbortSignal): Promise<WalkedKustomization> {
  const walk = walkKustomization(folder)
  const ids = new Map<string, ObjectId>()
  const folders = new Set<string>()
  let bytes = 0
  let state = walk.next()
  while (state.done !== true) {
    const found = await commit.at(state.value)
    let answer: PathAnswer = typeof found === 'string' ? found : { ...found, content: new Uint8Array() }
    if (typeof found !== 'string') {
      ids.set(found.path, found.id)
      const blobs = found.mode === '160000' ? undefined : await readWithFolder(commit, found, folders, signal)
      bytes += blobs?.get(found.id)?.length ?? 0
      if (bytes > MOST_PACKAGE_BYTES) throw new OversizedRead(folder || '.', MOST_PACKAGE_BYTES)
      answer = { path: found.path, mode: found.mode, content: blobs?.get(found.id) ?? new Uint8Array() }
    }
    state = walk.next(answer)
  }
  return { ...state.value, ids }
}

/** The manifests beside it are read with the first file of a folder: they are what a kustomization names next. */
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
  const manifests = beside.filter((each) => each.mode.startsWith('100') && /\.(?:ya?ml|json)$/.test(each.path)).map((each) => each.id)
  // An unreadable file is reported where it is named.
  const all =
    manifests.length < 2 ? undefined : await commit.repository.read([id, ...manifests], signal, MOST_PACKAGE_BYTES).catch(() => undefined)
  return all ?? (await readBlobs(commit.repository, [file], signal))
}

interface RenderedUnit {
  readonly rendering: TurnRendering
  /** Undefined where kpt renders the unit, or its files are applied as they are. */
  readonly source: BuiltSource | undefined
  /** Paths of what is read outside of the package, from the root of the repository, sorted. */
  readonly outside: readonly string[]
}

/** @param files of the package's folder. @throws Failure BP40xx when git fails, BP9001 where the renderer broke */
export async function renderUnit(
  commit: CommitFiles,
  renderer: PackageRenderer,
  { packagePath, files, choice }: { readonly packagePath: string; readonly files: PackageFiles; readonly choice: RenderChoice },
  signal: AbortSignal,
): Promise<RenderedUnit> {
  if (choice.tool === 'kpt') return { rendering: await renderer.render(packagePath, files, signal), source: undefined, outside: [] }
  if (choice.tool === 'files') return { rendering: renderAsFiles(packagePath, files), source: undefined, outside: [] }
  const read = await sourceOf(commit, { packagePath, files }, choice, signal)
  const outside = [...read.source.files.keys()].filter((path) => !isInside(path, packagePath)).sort()
  const [first, ...others] = read.failures
  if (first !== undefined) return { rendering: { failures: [first, ...others] }, source: read.source, outside }
  const build = buildOf(read.source)
  const answer: BuildAnswer = await (renderer.builder?.build(build, signal) ?? NO_BUILDS.built(build))
  return { rendering: readBuilt(read.source, answer), source: read.source, outside }
}

export function isInside(path: string, folder: string): boolean {
  return folder === '' || path.startsWith(`${folder}/`)
}

/** The folder that kustomize is given, from the root of the repository. */
export function kustomizationFolder(packagePath: string, path: string): string {
  return [packagePath, path].filter((part) => part !== '').join('/')
}

async function sourceOf(
  commit: CommitFiles,
  { packagePath, files }: { readonly packagePath: string; readonly files: PackageFiles },
  choice: Extract<RenderChoice, { tool: 'kustomize' | 'command' }>,
  signal: AbortSignal,
): Promise<{ readonly source: BuiltSource; readonly failures: readonly Failure[] }> {
  if (choice.tool === 'kustomize') {
    const folder = kustomizationFolder(packagePath, choice.path)
    const walked = await readKustomization(commit, folder, signal)
    const source = { packagePath, package: files, tool: choice.tool, folder, files: walked.files, command: [] }
    return { source, failures: walked.failures }
  }
  const own = files.map((file): PackageFile => ({ ...file, path: kustomizationFolder(packagePath, file.path) }))
  const byPath = new Map(own.filter(({ mode }) => mode === '100644' || mode === '100755').map((file) => [file.path, file]))
  return {
    source: { packagePath, package: files, tool: choice.tool, folder: packagePath, files: byPath, command: choice.command },
    failures: [],
  }
}

/** The files of a unit: paths in its package, and for files outside of it `/` and the path from the root. */
export function unitTree(tree: readonly TreeFile[], packagePath: string, outside: readonly string[]): readonly TreeFile[] {
  const own = below(tree, packagePath)
  if (outside.length === 0) return own
  const byPath = new Map(tree.map((file) => [file.path, file]))
  return [...own, ...outside.flatMap((path) => byPath.get(path) ?? []).map((file) => ({ ...file, path: `/${file.path}` }))]
}
