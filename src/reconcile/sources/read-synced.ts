/** What a build of a syncer reads: the files of the folder, those that its kustomization names, and the file that declares the syncer's resource. */
import { Failure } from '../../failure.ts'
import type { PackageFile, PackageFiles } from '../../package/package-files.ts'
import { joined, resolvePath } from '../../render/kustomize/kustomization-walk.ts'
import type { BuiltSource } from '../../render/kustomize/read-built.ts'
import { type SyncerBuild, syncerObject } from '../../render/syncer-build.ts'
import { readBlobs } from '../repository/repository-view.ts'
import { type CommitFiles, readKustomization } from './read-kustomization.ts'

interface SyncedSource {
  readonly source: BuiltSource
  readonly failures: readonly Failure[]
}

/** @throws Failure BP40xx when git fails */
export async function readSyncedSource(
  commit: CommitFiles,
  { packagePath: folder, files }: { readonly packagePath: string; readonly files: PackageFiles },
  build: SyncerBuild,
  signal: AbortSignal,
): Promise<SyncedSource> {
  const own = files
    .filter(({ mode }) => mode === '100644' || mode === '100755' || mode === '120000')
    .map((file) => ({ ...file, path: joined(folder, file.path) }))
  const listed = new Map<string, PackageFile>(own.map((file) => [file.path, file]))
  const declaration = await declarationFile(commit, build, listed, signal)
  const beside = [declaration, ...build.builder.overrides.names.map((name) => listed.get(joined(folder, name)))]
  for (const file of beside) if (file !== undefined) listed.set(file.path, file)
  const sourceOf = (read: ReadonlyMap<string, PackageFile>, failures: readonly Failure[]): SyncedSource => {
    const source = { packagePath: folder, package: files, tool: 'kustomize', folder, files: read, command: [], synced: build } as const
    return { source, failures: build.problem === undefined ? failures : [notBuilt(folder, build)] }
  }
  const { way, components } = build.builder
  if ('print' in way) return sourceOf(listed, [])
  try {
    const object = syncerObject(build, listed)
    const found = await componentsOf(commit, components(object), folder)
    const written = way.kustomization(object, folder, new Map([...listed, ...found]))
    const walked = await readKustomization(commit, folder, signal, new Map([[written.path, new TextEncoder().encode(written.text)]]))
    const read = new Map(walked.files)
    const authored = listed.get(written.path)
    if (authored === undefined) read.delete(written.path)
    else read.set(written.path, authored)
    for (const file of beside) if (file !== undefined) read.set(file.path, file)
    return sourceOf(read, walked.failures)
  } catch (thrown) {
    // What the syncer cannot read is a failure of this unit.
    if (!(thrown instanceof Failure) || thrown.code.startsWith('BP40')) throw thrown
    return sourceOf(listed, [thrown])
  }
}

async function declarationFile(
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

/** A file of each component that is there, or the file that it is: a missing one may be left out. */
async function componentsOf(
  commit: CommitFiles,
  components: readonly string[],
  folder: string,
): Promise<readonly (readonly [string, PackageFile])[]> {
  const paths = components.flatMap((path) => resolvePath(folder, path) ?? [])
  const found = await Promise.all(
    paths.map(async (path) => {
      const answer = await commit.at(path)
      return answer === 'absent' ? [] : [answer === 'folder' ? joined(path, 'component') : path]
    }),
  )
  return found.flat().map((path) => [path, { path, mode: '100644', content: new Uint8Array() }])
}

function notBuilt(folder: string, { title, problem }: SyncerBuild): Failure {
  return new Failure({
    code: 'BP1210',
    what: `the folder cannot be built as ${title} has it`,
    where: folder || '.',
    why: problem ?? '',
    remedy: 'make the object readable to this account, or name another renderer of the folder in a policy (spec.render)',
    retry: 'backoff',
  })
}
