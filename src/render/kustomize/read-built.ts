/** The output of a program as desired objects, each with its authored location. */
import { Failure } from '../../failure.ts'
import type { PackageFiles } from '../../package/package-files.ts'
import { PACKAGE_FILE } from '../../package/walk-package.ts'
import { getKey, isJsonObject, type Json, partOf } from '../../text/json.ts'
import { objectsIn, parseGoYaml } from '../../yaml/read/go-yaml.ts'
import type { DesiredSet, SourceLocation } from '../desired-set.ts'
import { DesiredSetBuilder } from '../desired-set-builder.ts'
import {
  differingPaths,
  type FluxDocument,
  type FluxKustomization,
  fluxDocuments,
  fluxKustomization,
  fluxObject,
  withCommonMetadata,
} from '../flux/flux-kustomization.ts'
import { isLocalConfig } from '../not-applied.ts'
import type { Build, BuildAnswer } from '../package-builder.ts'
import type { TurnRendering } from '../package-renderer.ts'
import { PackageSources } from '../package-sources.ts'
import { isEmptyList } from '../render-package.ts'
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
  /** Of a kustomization that Flux builds: what it makes of it. */
  readonly flux?: FluxKustomization | undefined
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
  return { desired: builder.build(kptfile?.inventory, [], 'none'), kptfile, unread: [] }
}

/** @throws Failure BP111x of the file that declares Flux's resource */
export function buildOf({ tool, folder, files, command, flux }: Omit<BuiltSource, 'packagePath' | 'package'>): Build {
  if (tool === 'kustomize') return kustomizeBuild(folder, flux === undefined ? files : writtenByFlux(flux, folder, files))
  return { tool, folder, command, files: [...files.values()].sort((one, other) => (one.path < other.path ? -1 : 1)) }
}

function writtenByFlux(flux: FluxKustomization, folder: string, files: SourceFiles): SourceFiles {
  const { path, text } = fluxKustomization(fluxObject(flux, files), folder, files)
  return new Map(files).set(path, { path, mode: '100644', content: new TextEncoder().encode(text) })
}

const ORIGINS: ReadonlySet<string> = new Set([ORIGIN])

function addPrinted(builder: DesiredSetBuilder, source: BuiltSource, text: string): void {
  const where = `${source.folder === '' ? 'the repository' : source.folder} (as ${source.command[0] ?? 'kustomize'} printed it)`
  const { flux, folder, files } = source
  const resource = flux === undefined ? undefined : fluxObject(flux, files)
  const isWanted = resource === undefined ? wantsOrigins(folder, files) : fluxKustomization(resource, folder, files).keepsOrigins
  const keepsOrigins = source.tool === 'command' || isWanted
  const isPlain = (object: Json): boolean => keepsOrigins || partOf(object, 'metadata', 'annotations', ORIGIN) === undefined
  const origins = new ResourceOrigins(source.folder, source.files)
  const texts: readonly FluxDocument[] = flux === undefined || resource === undefined ? [{ text }] : fluxDocuments(flux, resource, text)
  for (const { text: part, other } of texts) {
    const others = other === undefined ? [] : parseGoYaml(other, where).documents
    for (const document of parseGoYaml(part, where).documents) {
      if (isEmptyList(document.value)) continue
      const listIsLocal = isLocalConfig(document.value)
      const hidden = other === undefined ? [] : differingPaths(document.value, others[document.index]?.value)
      for (const { object, line } of objectsIn(document, part, where)) {
        const location = isJsonObject(object) && source.tool === 'kustomize' ? origins.locationOf(object) : ofCommand(source, line)
        const plain = isPlain(object) ? object : withoutAnnotations(object, ORIGINS)
        const made = resource === undefined || !isJsonObject(plain) ? plain : withCommonMetadata(plain, resource)
        const key = builder.add(made, location, location.path, listIsLocal)
        if (key !== undefined && hidden.length > 0) builder.hide(key, hidden)
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
