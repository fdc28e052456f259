import type { TreeFile } from '@backporch/git-store/package-repository'
import { Failure } from '@backporch/kyaml/failure'
import type { PackageFile, PackageFiles } from '@backporch/kyaml/files'
import { type BuiltSource, mapVariablePlaces, type SyncerBuild } from '../build/built-source.ts'
import { readSyncerObject } from '../build/syncer-object.ts'
import { type CommitFiles, MOST_PACKAGE_BYTES, readBlobs } from '../commit/commit-files.ts'
import { listLocalDependencies } from '../helm/chart/helm-order.ts'
import { followLinks } from '../helm/chart/linked-files.ts'
import {
  getParentFolder,
  joinFolderPath,
  resolvePath,
} from '../kustomize/files/kustomization-walk.ts'
import { readKustomization } from '../kustomize/read-kustomization.ts'
import { packFiles } from './packed-files.ts'

interface SyncedSource {
  readonly source: BuiltSource
  readonly failures: readonly Failure[]
}

/** @throws Failure BP40xx if git fails */
export async function readSyncedSource(
  given: CommitFiles,
  { packagePath, files: all }: { readonly packagePath: string; readonly files: PackageFiles },
  build: SyncerBuild,
  signal: AbortSignal,
): Promise<SyncedSource> {
  const { folder, parent } = build
  if (parent !== undefined) return readPart(given, packagePath, build, signal)
  const { tool, way, components } = build.builder
  const isChart = 'helm' in way
  const packed =
    build.artifact === undefined ? undefined : await packFiles(given, build.artifact, signal)
  const { commit, isPacked } = packed ?? { commit: given, isPacked: undefined }
  const files =
    isPacked === undefined
      ? all
      : all.filter(({ path }) => isPacked(joinFolderPath(packagePath, path)))
  // An artifact has no links, and Helm receives none; other builds decide about links themselves.
  const isRead = build.artifact === undefined && !isChart ? isFileOrLink : isRegular
  const read =
    packagePath === folder && !isChart && all.length > 0
      ? files.map((file) => ({ ...file, path: joinFolderPath(folder, file.path) })).filter(isRead)
      : await listEveryFile(commit, folder, isRead, signal)
  const own = isPacked === undefined ? read : read.filter(({ path }) => isPacked(path))
  const listed = new Map<string, PackageFile>(own.map((file) => [file.path, file]))
  const isEdited = (path: string): boolean => packed?.isInAny(path) !== false
  const declaration =
    build.declared !== undefined && isEdited(build.declared.path)
      ? await readDeclarationFile(given, build, listed, signal)
      : undefined
  const places = [...mapVariablePlaces(build).values()]
  const ofVariables = await readFilesAt(
    given,
    places.map(({ path }) => path).filter(isEdited),
    signal,
  )
  const generatorFiles =
    declaration === undefined
      ? []
      : (await readFilesAt(given, build.declared?.generator?.reads ?? [], signal)).values()
  const siblingFiles = [
    declaration,
    ...generatorFiles,
    ...ofVariables.values(),
    ...build.builder.overrides.names.map((name) => listed.get(joinFolderPath(folder, name))),
  ]
  for (const file of siblingFiles) if (file !== undefined) listed.set(file.path, file)
  const sourceOf = (
    read: ReadonlyMap<string, PackageFile>,
    failures: readonly Failure[],
  ): SyncedSource => {
    const source = {
      packagePath,
      package: files,
      tool,
      folder,
      files: read,
      command: [],
      synced: build,
      isPacked,
    } as const
    return {
      source,
      failures: build.problem === undefined ? failures : [createNotBuiltFailure(folder, build)],
    }
  }
  if ('print' in way) return sourceOf(listed, [])
  try {
    const object = readSyncerObject(build, listed)
    if ('helm' in way) {
      const named = await readFilesAt(commit, way.reads(object, folder, listed), signal)
      const beside = await Promise.all(
        listLocalDependencies({ folder, files: listed }).map((each) =>
          listEveryFile(commit, each.folder, isRegular, signal),
        ),
      )
      return sourceOf(
        new Map([...listed, ...beside.flat().map((file) => [file.path, file] as const), ...named]),
        [],
      )
    }
    const found = await readComponents(commit, components(object), folder)
    const written = way.kustomization(object, folder, new Map([...listed, ...found]))
    const walked = await readKustomization(
      commit,
      folder,
      signal,
      new Map([[written.path, new TextEncoder().encode(written.text)]]),
    )
    const read = new Map(walked.files)
    const authored = listed.get(written.path)
    if (authored === undefined) read.delete(written.path)
    else read.set(written.path, authored)
    for (const file of siblingFiles) if (file !== undefined) read.set(file.path, file)
    const isWritten = authored !== undefined && walked.failures.length > 0
    const places = isWritten ? (await readKustomization(commit, folder, signal)).failures : []
    return sourceOf(
      read,
      // The location in the authored file, not in the one that the syncer writes.
      walked.failures.map((failure) => places.find(({ why }) => why === failure.why) ?? failure),
    )
  } catch (thrown) {
    // What the syncer cannot read is a failure of this unit.
    if (!(thrown instanceof Failure) || thrown.code.startsWith('BP40')) throw thrown
    return sourceOf(listed, [thrown])
  }
}

/**
 * Built from the files of the unit that applies the resource, and from its chart if the repository
 * has it.
 */
async function readPart(
  commit: CommitFiles,
  packagePath: string,
  build: SyncerBuild,
  signal: AbortSignal,
): Promise<SyncedSource> {
  const { folder, parent = build } = build
  const { source: above } = await readSyncedSource(
    commit,
    { packagePath: '', files: [] },
    parent,
    signal,
  )
  const chart = build.ownChart === true ? await readChartFiles(commit, build, signal) : []
  const files = chart.length === 0 ? above.files : new Map([...chart, ...above.files])
  const isPacked = (path: string): boolean =>
    (above.files.has(path) || !files.has(path)) && above.isPacked?.(path) !== false
  const applied = {
    ...above,
    files: build.appliedFiles ?? above.files,
    ...(chart.length === 0 ? {} : { isPacked }),
  }
  const source = {
    packagePath,
    package: [],
    tool: build.builder.tool,
    folder,
    files,
    command: [],
    synced: build,
    parent: applied,
  } as const
  return {
    source,
    failures: build.problem === undefined ? [] : [createNotBuiltFailure(packagePath, build)],
  }
}

async function readChartFiles(
  given: CommitFiles,
  { folder, artifact }: SyncerBuild,
  signal: AbortSignal,
): Promise<readonly (readonly [string, PackageFile])[]> {
  const packed = artifact === undefined ? undefined : await packFiles(given, artifact, signal)
  const read = async (each: string) =>
    (await listEveryFile(given, each, isRegular, signal)).flatMap((file) =>
      packed?.isPacked(file.path) === false ? [] : [[file.path, file] as const],
    )
  const own = await read(folder)
  const beside = await Promise.all(
    listLocalDependencies({ folder, files: new Map(own) }).map((each) => read(each.folder)),
  )
  return [...own, ...beside.flat()]
}

function isRegular({ mode }: Pick<PackageFile, 'mode'>): boolean {
  return mode === '100644' || mode === '100755'
}

function isFileOrLink(file: Pick<PackageFile, 'mode'>): boolean {
  return isRegular(file) || file.mode === '120000'
}

/** @throws OversizedRead */
async function listEveryFile(
  commit: CommitFiles,
  folder: string,
  isRead: (file: Pick<PackageFile, 'mode'>) => boolean,
  signal: AbortSignal,
): Promise<readonly PackageFile[]> {
  const found = (await commit.below(folder)).filter(isRead)
  const contents = await readBlobs(commit.repository, found, signal, { most: MOST_PACKAGE_BYTES })
  return found.map(({ path, mode, id }) => ({
    path,
    mode,
    content: contents.get(id) ?? new Uint8Array(),
  }))
}

async function readDeclarationFile(
  commit: CommitFiles,
  { declared }: SyncerBuild,
  listed: ReadonlyMap<string, PackageFile>,
  signal: AbortSignal,
): Promise<PackageFile | undefined> {
  if (declared === undefined) return undefined
  const known = listed.get(declared.path)
  if (known !== undefined) return known
  const found = await commit.at(declared.path)
  if (typeof found === 'string') return undefined
  const content = (await readBlobs(commit.repository, [found], signal)).get(found.id)
  return content === undefined ? undefined : { path: found.path, mode: found.mode, content }
}

/** With links on the way and their targets. Helm reports a missing file. */
async function readFilesAt(
  commit: CommitFiles,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, PackageFile>> {
  const found = new Map<string, PackageFile>()
  let open = [...new Set(paths)]
  while (open.length > 0) {
    const read = (await Promise.all(open.map((path) => findFileOrLink(commit, path)))).flatMap(
      (file) => file ?? [],
    )
    const contents = await readBlobs(commit.repository, read, signal)
    for (const { path, mode, id } of read)
      found.set(path, { path, mode, content: contents.get(id) ?? new Uint8Array() })
    const isLink = read.some(({ mode }) => mode === '120000')
    open = isLink
      ? [...new Set(paths.flatMap((path) => followLinks(path, found) ?? []))].filter(
          (path) => !found.has(path),
        )
      : []
  }
  return found
}

async function findFileOrLink(commit: CommitFiles, path: string): Promise<TreeFile | undefined> {
  const file = await commit.at(path)
  if (typeof file !== 'string') return file
  const above = getParentFolder(path)
  const folder = file === 'folder' || above === '' ? undefined : await findFileOrLink(commit, above)
  return folder?.mode === '120000' ? folder : undefined
}

/** A missing component may be skipped. */
async function readComponents(
  commit: CommitFiles,
  components: readonly string[],
  folder: string,
): Promise<readonly (readonly [string, PackageFile])[]> {
  const paths = components.flatMap((path) => resolvePath(folder, path) ?? [])
  const found = await Promise.all(
    paths.map(async (path) => {
      const answer = await commit.at(path)
      return answer === 'absent'
        ? []
        : [answer === 'folder' ? joinFolderPath(path, 'component') : path]
    }),
  )
  return found.flat().map((path) => [path, { path, mode: '100644', content: new Uint8Array() }])
}

function createNotBuiltFailure(folder: string, { title, problem }: SyncerBuild): Failure {
  return new Failure({
    code: 'BP1210',
    what: `the folder cannot be built as ${title} has it`,
    where: folder || '.',
    why: problem ?? '',
    remedy:
      'create what is missing, or give this account the right to read it; or name another renderer of the folder in the policy (spec.render)',
    retry: 'backoff',
  })
}
