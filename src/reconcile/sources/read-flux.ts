/** What a build of Flux reads: the files of the folder, those that its kustomization names, and the file that declares Flux's resource. */
import { Failure } from '../../failure.ts'
import type { PackageFile, PackageFiles } from '../../package/package-files.ts'
import { type FluxKustomization, fluxKustomization, fluxObject } from '../../render/flux/flux-kustomization.ts'
import { joined, resolvePath } from '../../render/kustomize/kustomization-walk.ts'
import type { BuiltSource } from '../../render/kustomize/read-built.ts'
import { partOf, textsIn } from '../../text/json.ts'
import { readBlobs } from '../repository/repository-view.ts'
import { type CommitFiles, readKustomization } from '../sources/read-kustomization.ts'

/** @throws Failure BP40xx when git fails, BP111x of the file that declares the resource */
export async function readFluxSource(
  commit: CommitFiles,
  { packagePath, files }: { readonly packagePath: string; readonly files: PackageFiles },
  flux: FluxKustomization,
  signal: AbortSignal,
): Promise<{ readonly source: BuiltSource; readonly failures: readonly Failure[] }> {
  const folder = packagePath
  const own = files
    .filter(({ mode }) => mode === '100644' || mode === '100755')
    .map((file) => ({ ...file, path: joined(folder, file.path) }))
  const listed = new Map<string, PackageFile>(own.map((file) => [file.path, file]))
  const declaration = await declarationFile(commit, flux, listed, signal)
  if (declaration !== undefined) listed.set(declaration.path, declaration)
  const object = fluxObject(flux, listed)
  const written = fluxKustomization(object, folder, new Map([...listed, ...(await componentsOf(commit, object, folder))]))
  const walked = await readKustomization(commit, folder, signal, new Map([[written.path, new TextEncoder().encode(written.text)]]))
  const read = new Map(walked.files)
  const authored = listed.get(written.path)
  if (authored === undefined) read.delete(written.path)
  else read.set(written.path, authored)
  if (declaration !== undefined) read.set(declaration.path, declaration)
  const source = { packagePath, package: files, tool: 'kustomize', folder, files: read, command: [], flux } as const
  return { source, failures: flux.problem === undefined ? walked.failures : [notBuilt(folder, flux.problem)] }
}

async function declarationFile(
  commit: CommitFiles,
  { declared }: FluxKustomization,
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

/** A file of each component that is there: a missing one may be left out. */
async function componentsOf(
  commit: CommitFiles,
  object: FluxKustomization['object'],
  folder: string,
): Promise<readonly (readonly [string, PackageFile])[]> {
  const paths = textsIn(partOf(object, 'spec', 'components')).flatMap((path) => resolvePath(folder, path) ?? [])
  const found = await Promise.all(paths.map(async (path) => ((await commit.at(path)) === 'folder' ? [joined(path, 'component')] : [])))
  return found.flat().map((path) => [path, { path, mode: '100644', content: new Uint8Array() }])
}

function notBuilt(folder: string, why: string): Failure {
  return new Failure({
    code: 'BP1210',
    what: 'the folder cannot be built as Flux builds it',
    where: folder || '.',
    why,
    remedy: 'make the object readable to this account, or name another renderer of the folder in a policy (spec.render)',
    retry: 'backoff',
  })
}
