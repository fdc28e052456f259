/** The output of a program as desired objects, each with its authored location. */
import { Failure } from '../../failure.ts'
import type { PackageFile, PackageFiles } from '../../package/package-files.ts'
import { PACKAGE_FILE } from '../../package/walk-package.ts'
import { given } from '../../text/given.ts'
import { getKey, isJsonObject, type Json, partOf } from '../../text/json.ts'
import { objectsIn, parseGoYaml } from '../../yaml/read/go-yaml.ts'
import type { DesiredSet, SourceLocation } from '../desired-set.ts'
import { DesiredSetBuilder } from '../desired-set-builder.ts'
import { differingPaths } from '../flux/flux-kustomization.ts'
import { isLocalConfig } from '../not-applied.ts'
import type { Build, BuildAnswer, BuildLibrary } from '../package-builder.ts'
import type { TurnRendering } from '../package-renderer.ts'
import { PackageSources } from '../package-sources.ts'
import { isEmptyList } from '../render-package.ts'
import { type BuiltDocument, type SyncerBuild, syncerObject, type WrittenKustomization } from '../syncer-build.ts'
import { withoutAnnotations } from '../without-annotations.ts'
import { kustomizeBuild, ORIGIN, type SourceFiles, wantsOrigins } from './kustomize-build.ts'
import { ResourceOrigins } from './resource-origins.ts'

/** A unit that is built: its folder in git, and the input of the build. */
export interface BuiltSource {
  readonly packagePath: string
  /** Files of the package's folder. */
  readonly package: PackageFiles
  readonly tool: 'kustomize' | 'command'
  /** Folder of the kustomization or of the package, from the root of the repository. */
  readonly folder: string
  /** Authored files by path from the root of the repository. */
  readonly files: SourceFiles
  /** Program and arguments; empty for kustomize. */
  readonly command: readonly string[]
  /** Where a syncer builds it: what it makes of the folder. */
  readonly synced?: SyncerBuild | undefined
  /** Whether the syncer has a file, by path from the root of the repository; undefined where it has all of them. */
  readonly isPacked?: ((path: string) => boolean) | undefined
}

/** Never throws for bad input: returns the failures of the program, of the Kptfile and of the output. */
export function readBuilt(source: BuiltSource, answer: BuildAnswer): TurnRendering {
  const sources = new PackageSources(source.packagePath, source.package)
  const failures = [...sources.packageFailures('folder'), ...sources.failuresOf(PACKAGE_FILE)]
  const builder = new DesiredSetBuilder()
  builder.failures.push(...failures)
  try {
    if ('failure' in answer) throw new Failure(answer.failure)
    addPrinted(builder, source, answer.text)
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    builder.failures.push(thrown)
  }
  addInventories(builder, sources)
  const [first, ...others] = builder.failures
  if (first !== undefined) return { failures: [first, ...others] }
  const kptfile = sources.kptfiles.get('')
  const namespace = source.synced?.builder.namespace(source.synced.object)
  return { desired: { ...builder.build(kptfile?.inventory, [], 'none'), ...given({ namespace }) }, kptfile, unread: [] }
}

type BuildInput = Omit<BuiltSource, 'packagePath' | 'package'>

/** The run of a program, or its answer where none is needed: what the syncer prints itself, or what it refuses. */
export function buildOf(source: BuildInput): Build | BuildAnswer {
  const { tool, folder, files, command, synced } = source
  if (tool === 'command')
    return { tool, folder, command, files: [...files.values()].sort((one, other) => (one.path < other.path ? -1 : 1)) }
  try {
    if (synced !== undefined && 'print' in synced.builder.way)
      return { text: synced.builder.way.print(syncerObject(synced, files), folder, packedFiles(source)) }
    const written = writtenBySyncer(source)
    if (written === undefined) return kustomizeBuild(folder, files)
    const { path, text } = written
    return kustomizeBuild(folder, packedFiles(source).set(path, { path, mode: '100644', content: new TextEncoder().encode(text) }))
  } catch (thrown) {
    if (thrown instanceof Failure) return { failure: thrown.toJSON() }
    throw thrown
  }
}

/** @throws MissingBuilds where a program has to run first */
export function answerOf(source: BuildInput, library: BuildLibrary): BuildAnswer {
  const build = buildOf(source)
  return 'tool' in build ? library.built(build) : build
}

function writtenBySyncer(source: Pick<BuiltSource, 'folder' | 'files' | 'synced' | 'isPacked'>): WrittenKustomization | undefined {
  const { folder, files, synced } = source
  if (synced === undefined || 'print' in synced.builder.way) return undefined
  return synced.builder.way.kustomization(syncerObject(synced, files), folder, packedFiles(source))
}

/** An edit may add a file that the syncer does not get. */
function packedFiles({ files, isPacked = () => true }: Pick<BuiltSource, 'files' | 'isPacked'>): Map<string, PackageFile> {
  return new Map([...files].filter(([path]) => isPacked(path)))
}

const ORIGINS: ReadonlySet<string> = new Set([ORIGIN])

function addPrinted(builder: DesiredSetBuilder, source: BuiltSource, text: string): void {
  const where = `${source.folder === '' ? 'the repository' : source.folder} (as ${source.command[0] ?? 'kustomize'} printed it)`
  const { synced, folder, files } = source
  const resource = synced === undefined ? undefined : syncerObject(synced, files)
  const isWanted = synced === undefined ? wantsOrigins(folder, files) : writtenBySyncer(source)?.keepsOrigins === true
  const keepsOrigins = source.tool === 'command' || isWanted
  const isPlain = (object: Json): boolean => keepsOrigins || partOf(object, 'metadata', 'annotations', ORIGIN) === undefined
  const origins = new ResourceOrigins(source.folder, source.files)
  const texts: readonly BuiltDocument[] =
    synced === undefined || resource === undefined ? [{ text }] : synced.builder.documents(synced, resource, text)
  for (const built of texts) {
    const { text: part, other } = built
    const others = other === undefined ? [] : parseGoYaml(other, where).documents
    for (const document of parseGoYaml(part, where).documents) {
      if (isEmptyList(document.value)) continue
      const listIsLocal = isLocalConfig(document.value)
      const hidden = other === undefined ? [] : differingPaths(document.value, others[document.index]?.value)
      for (const { object, line } of objectsIn(document, part, where)) {
        const location = isJsonObject(object) && source.tool === 'kustomize' ? origins.locationOf(object) : ofCommand(source, line)
        const plain = isPlain(object) ? object : withoutAnnotations(object, ORIGINS)
        const made =
          synced === undefined || resource === undefined || !isJsonObject(plain) ? plain : synced.builder.finished(plain, resource, built)
        if (made === undefined) continue
        builder.add(made, location, location.path, { local: listIsLocal, hidden })
      }
    }
  }
}

/**
 * The objects alone.
 * @throws Failure BP111x of the output
 */
export function printedResources(source: BuiltSource, text: string): DesiredSet['resources'] {
  const builder = new DesiredSetBuilder()
  addPrinted(builder, source, text)
  const [first] = builder.failures
  if (first !== undefined) throw first
  return builder.build(undefined, [], 'none').resources
}

/** A command does not name the source of an object. */
function ofCommand({ packagePath, command }: BuiltSource, line: number): SourceLocation {
  const path = packagePath === '' ? PACKAGE_FILE : `${packagePath}/${PACKAGE_FILE}`
  const name = (command[0] ?? '').replace(/^.*\//, '')
  return { path, document: 0, item: undefined, line: 1, step: `${name}, line ${line} of its output` }
}

/** The inventory of `kpt live`, which no kustomization lists. */
function addInventories(builder: DesiredSetBuilder, sources: PackageSources): void {
  const path = 'resourcegroup.yaml'
  if (!sources.files.has(path) || sources.whyUnread(path) !== undefined) return
  try {
    const text = sources.textOf(path)
    const where = sources.where(path)
    for (const document of parseGoYaml(text, where).documents)
      for (const { object, item, line } of objectsIn(document, text, where))
        if (isJsonObject(object) && getKey(object, 'kind') === 'ResourceGroup')
          builder.add(object, { path: where, document: document.index, item, line }, path)
  } catch (thrown) {
    // The build does not read the file.
    if (!(thrown instanceof Failure)) throw thrown
  }
}
