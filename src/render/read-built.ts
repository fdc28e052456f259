/** The output of a program as desired objects, each with its authored location. */
import { type DesiredSet, DesiredSetBuilder, isLocalConfig, type SourceLocation, withoutAnnotations } from '@backporch/kpt/desired-set'
import { PACKAGE_FILE, PackageSources } from '@backporch/kpt/package'
import { Failure } from '@backporch/kyaml/failure'
import type { PackageFile, PackageFiles } from '@backporch/kyaml/files'
import { formatJson, getKey, isJsonObject, type Json, type JsonObject, jsonEquals, objectsIn, partOf, textOf } from '@backporch/kyaml/json'
import { objectsOfDocument, parseGoYaml } from '@backporch/kyaml/read-yaml'
import { given } from '@backporch/kyaml/text'
import { type Build, type BuildAnswer, type BuildLibrary, NO_BUILDS } from './build/package-builder.ts'
import type { TurnRendering } from './build/package-renderer.ts'
import { isEmptyList } from './build/render-package.ts'
import { differingPaths } from './flux/flux-kustomization.ts'
import { valuesKey } from './flux/flux-release.ts'
import { hasCharts } from './kustomize/helm-charts.ts'
import { kustomizeBuild, ORIGIN, type SourceFiles, wantsOrigins } from './kustomize/kustomize-build.ts'
import { ResourceOrigins } from './kustomize/resource-origins.ts'
import { templateOf } from './syncer/chart-templates.ts'
import {
  type BuiltDocument,
  type HelmInput,
  type HelmOrder,
  isSameResource,
  type SyncerBuild,
  syncerObject,
  type WrittenKustomization,
} from './syncer/syncer-build.ts'

/** A unit that is built: its folder in git, and the input of the build. */
export interface BuiltSource {
  readonly packagePath: string
  /** Files of the package's folder. */
  readonly package: PackageFiles
  readonly tool: 'kustomize' | 'helm' | 'command'
  /** Folder of the kustomization, the chart or the package, from the root of the repository. */
  readonly folder: string
  /** Authored files by path from the root of the repository. */
  readonly files: SourceFiles
  /** Program and arguments; empty for kustomize and Helm. */
  readonly command: readonly string[]
  /** Where a syncer builds it: what it makes of the folder. */
  readonly synced?: SyncerBuild | undefined
  /** Of a resource that another unit applies: that unit, with the files that the cluster has. Other files are those of an edit or a merge. */
  readonly parent?: BuiltSource | undefined
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
export function buildOf(source: BuildInput, library: BuildLibrary = NO_BUILDS): Build | BuildAnswer {
  const { tool, folder, files, command, synced } = source
  if (tool === 'command') return { tool, folder, command, files: sorted([...files.values()]) }
  try {
    const way = synced?.builder.way
    if (synced !== undefined && way !== undefined && 'print' in way)
      return { text: way.print(syncerObject(synced, files), folder, packedFiles(source)) }
    if (synced !== undefined && way !== undefined && 'helm' in way) {
      const order = way.helm({ build: synced, ...resourceOf(source, library), folder, files })
      return 'text' in order ? order : postRendered(source, order, library)
    }
    const written = writtenBySyncer(source)
    if (written === undefined) return kustomizeBuild(folder, files)
    const { path, text, isWithoutHelm } = written
    const all = packedFiles(source).set(path, { path, mode: '100644', content: new TextEncoder().encode(text) })
    if (isWithoutHelm === true && hasCharts(all)) throw withoutHelm(folder)
    return kustomizeBuild(folder, all)
  } catch (thrown) {
    if (thrown instanceof Failure) return { failure: thrown.toJSON() }
    throw thrown
  }
}

/**
 * The syncer's resource: as the cluster has it, or as edited files declare it.
 * @throws MissingBuilds where the unit that applies it has to be built first, Failure of its build
 */
export function resourceOf({ synced, files, parent }: BuildInput, library: BuildLibrary): Pick<HelmInput, 'object' | 'declared'> {
  const object = synced?.object ?? {}
  if (synced === undefined || parent === undefined) return { object: synced === undefined ? {} : syncerObject(synced, files) }
  if (synced.ownChart === true) {
    const now = inputsOf(declaredObjects({ ...parent, files }, library), object)
    return { object: now.object ?? {}, declared: now.declared }
  }
  if (files === parent.files) return { object }
  const [before, after] = [parent, { ...parent, files }].map((source) => inputsOf(declaredObjects(source, library), object))
  if (before === undefined || after === undefined || jsonEquals(before.all, after.all)) return { object }
  return { object: after.object ?? object, declared: after.declared }
}

/** @throws MissingBuilds, Failure of the build */
export function declaredObjects(source: BuiltSource, library: BuildLibrary): DesiredSet['resources'] {
  const answer = answerOf(source, library)
  if ('failure' in answer) throw new Failure(answer.failure)
  return printedResources(source, answer.text)
}

/** The resource among the objects, and the ConfigMaps and Secrets beside it. */
function inputsOf(objects: DesiredSet['resources'], own: JsonObject) {
  const object = objects.find((one) => isSameResource(one.object, own))?.object
  const named = objectsIn(partOf(own, 'spec', 'valuesFrom')).map((ref) => `${textOf(ref, 'kind')}/${textOf(ref, 'name')}`)
  const inputs = objects.filter(({ id }) => id.group === '' && named.includes(`${id.kind}/${id.name}`))
  const declared = new Map(inputs.map(({ id, object: input }) => [valuesKey(id), input]))
  return { object, declared, all: [partOf(object, 'spec') ?? null, ...declared.values()] }
}

/** A run of Helm for a unit: of the files of the repository a chart that is elsewhere reads none. */
export function helmBuild({ folder, files, parent }: Pick<BuiltSource, 'folder' | 'files' | 'parent'>, order: HelmOrder): Build {
  const read = parent === undefined ? [...files.values()] : []
  const { words, written, hasSecrets = false } = order
  return { tool: 'helm', folder, command: words, files: sorted([...read, ...written]), hasSecrets }
}

/** The last run: each post-renderer needs the output before it. @throws MissingBuilds */
function postRendered(source: BuildInput, order: HelmOrder, library: BuildLibrary): Build | BuildAnswer {
  let build = helmBuild(source, order)
  for (const { kustomization } of order.postRenderers ?? []) {
    const answer = library.built(build)
    if ('failure' in answer) return answer
    build = postRendererBuild(kustomization, answer.text, order)
  }
  return build
}

/** As helm-controller writes it (`internal/postrender/kustomize.go`). */
function postRendererBuild(fields: JsonObject, output: string, { hasSecrets = false }: HelmOrder): Build {
  const name = 'helm-output.yaml'
  const kustomization = { ...fields, apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', resources: [name] }
  const file = (path: string, text: string): PackageFile => ({ path, mode: '100644', content: new TextEncoder().encode(text) })
  const files = [file(name, output), file('kustomization.yaml', formatJson(kustomization))]
  return { tool: 'kustomize', folder: '', command: [], files, hasSecrets }
}

function sorted(files: PackageFiles): PackageFiles {
  return files.toSorted((one, other) => (one.path < other.path ? -1 : 1))
}

/** @throws MissingBuilds where a program has to run first */
export function answerOf(source: BuildInput, library: BuildLibrary): BuildAnswer {
  const build = buildOf(source, library)
  return 'tool' in build ? library.built(build) : build
}

function writtenBySyncer(source: Pick<BuiltSource, 'folder' | 'files' | 'synced' | 'isPacked'>): WrittenKustomization | undefined {
  const { folder, files, synced } = source
  if (synced === undefined || !('kustomization' in synced.builder.way)) return undefined
  return synced.builder.way.kustomization(syncerObject(synced, files), folder, packedFiles(source))
}

function withoutHelm(folder: string): Failure {
  return new Failure({
    code: 'BP1210',
    what: 'the folder cannot be built as its syncer builds it',
    where: folder || '.',
    why: 'a kustomization has helmCharts, which this syncer does not render, and it then applies nothing',
    remedy: 'make a release of the chart (HelmRelease), or commit what the chart makes as files',
    retry: 'on-change',
  })
}

/** An edit may add a file that the syncer does not get. */
function packedFiles({ files, isPacked = () => true }: Pick<BuiltSource, 'files' | 'isPacked'>): Map<string, PackageFile> {
  return new Map([...files].filter(([path]) => isPacked(path)))
}

const ORIGINS: ReadonlySet<string> = new Set([ORIGIN])

function addPrinted(builder: DesiredSetBuilder, source: BuiltSource, text: string): void {
  const where = `${source.folder === '' ? 'the repository' : source.folder} (as ${source.command[0] ?? source.tool} printed it)`
  const { synced, folder, files } = source
  const resource = synced === undefined ? undefined : syncerObject(synced, files)
  const isWanted = synced === undefined ? wantsOrigins(folder, files) : writtenBySyncer(source)?.keepsOrigins === true
  const keepsOrigins = source.tool !== 'kustomize' || isWanted
  const isPlain = (object: Json): boolean => keepsOrigins || partOf(object, 'metadata', 'annotations', ORIGIN) === undefined
  const locationIn = locationsIn(source)
  const texts: readonly BuiltDocument[] =
    synced === undefined || resource === undefined ? [{ text }] : synced.builder.documents(synced, resource, text)
  for (const built of texts) {
    const { text: part, other } = built
    const others = other === undefined ? [] : parseGoYaml(other, where).documents
    for (const document of parseGoYaml(part, where).documents) {
      if (isEmptyList(document.value)) continue
      const listIsLocal = isLocalConfig(document.value)
      const hidden = other === undefined ? [] : differingPaths(document.value, others[document.index]?.value)
      for (const { object, line } of objectsOfDocument(document, part, where)) {
        const location = locationIn(object, part, line)
        const plain = isPlain(object) ? object : withoutAnnotations(object, ORIGINS)
        const made =
          synced === undefined || resource === undefined || !isJsonObject(plain) ? plain : synced.builder.finished(plain, resource, built)
        if (made === undefined) continue
        builder.add(made, location, location.path, { local: listIsLocal, hidden })
      }
    }
  }
}

/** The location of an object by itself, and by its line in the output. */
function locationsIn(source: BuiltSource): (object: Json, text: string, line: number) => SourceLocation {
  const place = source.synced?.place
  if (source.tool === 'helm' && source.parent !== undefined && source.synced?.ownChart !== true)
    return () => ({ path: source.folder || '.', document: 0, item: undefined, line: 1, ...place, step: 'helm template' })
  if (source.tool === 'helm') return (object, text, line) => templateOf(source, object, text, line)
  const origins = new ResourceOrigins(source.folder, source.files)
  return (object, _, line) => (isJsonObject(object) && source.tool === 'kustomize' ? origins.locationOf(object) : ofCommand(source, line))
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
      for (const { object, item, line } of objectsOfDocument(document, text, where))
        if (isJsonObject(object) && getKey(object, 'kind') === 'ResourceGroup')
          builder.add(object, { path: where, document: document.index, item, line }, path)
  } catch (thrown) {
    // The build does not read the file.
    if (!(thrown instanceof Failure)) throw thrown
  }
}
