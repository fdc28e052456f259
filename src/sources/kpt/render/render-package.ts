/**
 * Renders a kpt package. Without a pipeline the result is the declared objects, with kpt's file
 * selection and order (render-package.kpt.test.ts compares them with `kpt fn source`). With a
 * pipeline it is the output of `kpt fn render`.
 */
import {
  type DesiredSet,
  DesiredSetBuilder,
  isKustomization,
  isLocalConfig,
} from '@backporch/kpt/desired-set'
import { describeStep, type RenderProcess } from '@backporch/kpt/function'
import type { Kptfile } from '@backporch/kpt/kptfile'
import { isKptfile, PackageSources } from '@backporch/kpt/package'
import {
  attributeRender,
  buildRenderedObjects,
  type PipelineRun,
  type RenderWatcher,
  readPipelinePackage,
  runPipeline,
} from '@backporch/kpt/render'
import { listNotRunNotes } from '@backporch/kpt/runtime'
import { Failure, Failures, listFailures } from '@backporch/kyaml/failure'
import type { PackageFiles } from '@backporch/kyaml/files'
import { getKey, isJsonObject, type Json } from '@backporch/kyaml/json'
import { type GoYamlFile, listDocumentObjects, parseGoYaml } from '@backporch/kyaml/read-yaml'
import { convertToKptJson, type YamlMap } from '@backporch/kyaml/yaml'

export interface RenderedPackage {
  readonly desired: DesiredSet
  /** Undefined for a folder. */
  readonly kptfile: Kptfile | undefined
  /**
   * From the repository root: links, submodules and LFS pointers that may contain objects. Then an
   * undeclared object cannot be called unexpected.
   */
  readonly unread: readonly string[]
  /** Undefined without a pipeline. */
  readonly run: PipelineRun | undefined
  /** By `getResourceKey`. */
  readonly nodes: ReadonlyMap<string, YamlMap>
}

interface RenderOptions {
  readonly watcher?: RenderWatcher | undefined
  /** On objects of Config Connector, as by default in kpt; never without a pipeline. */
  readonly attributed?: boolean
}

export type Rendering = RenderedPackage | { readonly failures: readonly [Failure, ...Failure[]] }

/**
 * All failures of the files are returned together, in order, function configs last: BP1004 (no
 * Kptfile), BP110x (a Kptfile, its own or a subpackage's), BP1110 and BP1111 (YAML), BP1112 (not a
 * Kubernetes object), BP1113 (duplicate object); for a pipeline the first function that fails,
 * BP12xx. Never throws for bad input.
 * @param packagePath from the repository root
 * @param files everything below the package's folder, or at least its manifests, Kptfiles and
 * `.krmignore` files
 */
export function* renderPackage(
  packagePath: string,
  files: PackageFiles,
  options: RenderOptions = {},
): RenderProcess<Rendering> {
  const sources = new PackageSources(packagePath, files)
  return sources.hasPipeline ? yield* renderSources(sources, options) : readSources(sources)
}

/** For a syncer that applies the files unchanged: pipelines are ignored. */
export function renderAsFiles(packagePath: string, files: PackageFiles): Rendering {
  return readSources(new PackageSources(packagePath, files), 'as-files')
}

function* renderSources(
  sources: PackageSources,
  { watcher, attributed = true }: RenderOptions,
): RenderProcess<Rendering> {
  const failures = [
    ...sources.listPackageFailures(),
    ...[...sources.files.keys()].flatMap((path) => sources.listFailuresOf(path)),
  ]
  const root = failures.length > 0 ? undefined : readPipelinePackage(sources, failures)
  failures.push(...sources.listConfigFailures())
  const [first, ...others] = failures
  if (first !== undefined || root === undefined) return { failures: [first as Failure, ...others] }
  try {
    const run = yield* runPipeline(root, sources.packagePath, watcher)
    if (attributed) attributeRender(run.items)
    return buildFromRun(sources, run)
  } catch (thrown) {
    if (thrown instanceof Failure || thrown instanceof Failures)
      return { failures: listFailures(thrown) }
    throw thrown
  }
}

/** Most likely a setter's name is wrong. */
const NO_MATCH = 'no matches for input setter(s)'

function buildFromRun(sources: PackageSources, run: PipelineRun): Rendering {
  const builder = new DesiredSetBuilder()
  const nodes = new Map<string, YamlMap>()
  const objects = buildRenderedObjects(sources, run)
  for (const { step, results } of run.runs)
    for (const { message, severity } of results)
      if (severity === 'error' || message === NO_MATCH)
        builder.notes.push({ cause: 'function-result', subject: describeStep(step), text: message })
  builder.notes.push(...listNotRunNotes(run.runs))
  sources.assertNoFolder(new Set(objects.map(({ path }) => path)))
  const applied = new Set(sources.walk(objects.map(({ path }) => path)))
  for (const { object, location, path, node, local } of objects) {
    if (!applied.has(path)) continue
    const key = builder.add(object, location, path, { local })
    if (key !== undefined) nodes.set(key, node)
  }
  return finishRendering(sources, builder, { run, nodes })
}

function readSources(
  sources: PackageSources,
  how: 'no-pipeline' | 'as-files' = 'no-pipeline',
): Rendering {
  const builder = new DesiredSetBuilder()
  builder.failures.push(...sources.listPackageFailures(how === 'as-files' ? 'folder' : 'kptfile'))
  for (const path of sources.walk()) {
    if (isKptfile(path)) builder.failures.push(...sources.listFailuresOf(path))
    if (isKptfile(path) || noteUnread(sources, builder, path)) continue
    try {
      const text = sources.readText(path)
      readManifest(
        builder,
        readAsApplied(sources, parseGoYaml(text, sources.resolveLocation(path))),
        {
          text,
          path,
          where: sources.resolveLocation(path),
        },
      )
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
      builder.failures.push(thrown)
    }
  }
  if (how === 'no-pipeline') builder.failures.push(...sources.listConfigFailures())
  return finishRendering(sources, builder, { run: undefined, nodes: new Map() })
}

function readAsApplied({ isAppliedByKpt }: PackageSources, file: GoYamlFile): GoYamlFile {
  if (!isAppliedByKpt) return file
  return {
    ...file,
    documents: file.documents.map((document) => ({
      ...document,
      value: convertToKptJson(document.node),
    })),
  }
}

function noteUnread(sources: PackageSources, builder: DesiredSetBuilder, path: string): boolean {
  const why = sources.explainUnread(path)
  if (why !== undefined)
    builder.notes.push({
      cause: 'file-not-read',
      subject: sources.resolveLocation(path),
      text: why,
    })
  return why !== undefined
}

interface ManifestFile {
  readonly text: string
  readonly path: string
  readonly where: string
}

function readManifest(
  builder: DesiredSetBuilder,
  yaml: GoYamlFile,
  { text, path, where }: ManifestFile,
): void {
  for (const { kind, line, column, message } of yaml.notes)
    builder.notes.push({
      cause: `yaml-${kind}`,
      subject: `${where}:${line}:${column}`,
      text: message,
    })
  for (const document of yaml.documents) {
    const { value } = document
    if (isKustomization(value, path) || isEmptyList(value)) continue
    const listIsLocal = isLocalConfig(value)
    for (const { object, item, line } of listDocumentObjects(document, text, where))
      builder.add(object, { path: where, document: document.index, item, line }, path, {
        local: listIsLocal,
      })
  }
}

export function isEmptyList(value: Json): boolean {
  return (
    isJsonObject(value) &&
    getKey(value, 'kind') === 'List' &&
    getKey(value, 'apiVersion') === 'v1' &&
    (getKey(value, 'items') ?? null) === null
  )
}

function finishRendering(
  sources: PackageSources,
  builder: DesiredSetBuilder,
  more: Pick<RenderedPackage, 'run' | 'nodes'>,
): Rendering {
  const [first, ...others] = builder.failures
  if (first !== undefined) return { failures: [first, ...others] }
  const kptfile = sources.kptfiles.get('')
  const subpackages = [...sources.kptfiles.keys()].filter((folder) => folder !== '')
  return {
    desired: builder.build(
      kptfile?.inventory,
      subpackages,
      more.run === undefined ? 'none' : 'run',
    ),
    kptfile,
    unread: sources
      .walk()
      .filter(
        (path) =>
          !isKptfile(path) &&
          sources.explainUnread(path) !== undefined &&
          !sources.isLinkToReadFile(path),
      )
      .map((path) => sources.resolveLocation(path)),
    ...more,
  }
}
