import {
  type DesiredSet,
  DesiredSetBuilder,
  isLocalConfig,
  removeAnnotations,
} from '@backporch/kpt/desired-set'
import { PACKAGE_FILE, PackageSources } from '@backporch/kpt/package'
import { Failure } from '@backporch/kyaml/failure'
import { createFieldStep, type FieldPath } from '@backporch/kyaml/field'
import {
  filterObjects,
  getKey,
  getPartAt,
  getTextAt,
  isJsonArray,
  isJsonEqual,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { listDocumentObjects, parseGoYaml } from '@backporch/kyaml/read-yaml'
import { omitUndefined } from '@backporch/kyaml/text'
import type { TurnRendering } from '../kpt/render/package-renderer.ts'
import { isEmptyList } from '../kpt/render/render-package.ts'
import { ORIGIN } from '../kustomize/files/kustomize-build.ts'
import {
  type Build,
  type BuildAnswer,
  type BuildLibrary,
  NO_BUILDS,
} from '../programs/package-builder.ts'
import type { BuildInput, BuiltDocument, BuiltSource, HelmInput } from './built-source.ts'
import {
  applyFileVariables,
  formatValuesKey,
  isSameResource,
  readSyncerObject,
} from './syncer-object.ts'

/** Never throws for bad input. */
export function readBuilt(source: BuiltSource, answer: BuildAnswer): TurnRendering {
  const sources = new PackageSources(source.packagePath, source.package)
  const failures = [
    ...sources.listPackageFailures('folder'),
    ...sources.listFailuresOf(PACKAGE_FILE),
  ]
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
  return {
    desired: { ...builder.build(kptfile?.inventory, [], 'none'), ...omitUndefined({ namespace }) },
    kptfile,
    unread: [],
  }
}

export function createBuild(
  source: BuildInput,
  library: BuildLibrary = NO_BUILDS,
): Build | BuildAnswer {
  try {
    return source.tool.order(source, library)
  } catch (thrown) {
    if (thrown instanceof Failure) return { failure: thrown.toJSON() }
    throw thrown
  }
}

/**
 * The syncer's resource: as the cluster has it, or as edited files declare it.
 * @throws Unanswered where the unit that applies it has to be built first, Failure of its build
 */
export function getSyncerResource(
  { synced, files, parent, asDeclared }: BuildInput,
  library: BuildLibrary,
): Pick<HelmInput, 'object' | 'declared'> {
  const object = synced?.object ?? {}
  if (synced === undefined || parent === undefined)
    return { object: synced === undefined ? {} : readSyncerObject(synced, files) }
  if (synced.ownChart === true || asDeclared === true) {
    const now = findInputs(getDeclaredObjects({ ...parent, files }, library), object)
    return { object: now.object ?? {}, declared: now.declared }
  }
  if (files === parent.files) return { object }
  const [before, after] = [parent, { ...parent, files }].map((source) =>
    findInputs(getDeclaredObjects(source, library), object),
  )
  if (before === undefined || after === undefined || isJsonEqual(before.all, after.all))
    return { object }
  return { object: after.object ?? object, declared: after.declared }
}

/** @throws Unanswered, Failure of the build */
export function getDeclaredObjects(
  source: BuiltSource,
  library: BuildLibrary,
): DesiredSet['resources'] {
  const answer = convertAnswer(source, library)
  if ('failure' in answer) throw new Failure(answer.failure)
  return parsePrintedResources(source, answer.text)
}

function findInputs(objects: DesiredSet['resources'], own: JsonObject) {
  const object = objects.find((one) => isSameResource(one.object, own))?.object
  const named = filterObjects(getPartAt(own, 'spec', 'valuesFrom')).map(
    (ref) => `${getTextAt(ref, 'kind')}/${getTextAt(ref, 'name')}`,
  )
  const inputs = objects.filter(
    ({ id }) => id.group === '' && named.includes(`${id.kind}/${id.name}`),
  )
  const declared = new Map(inputs.map(({ id, object: input }) => [formatValuesKey(id), input]))
  return { object, declared, all: [getPartAt(object, 'spec') ?? null, ...declared.values()] }
}

/** @throws Unanswered where a program has to run first */
export function convertAnswer(source: BuildInput, library: BuildLibrary): BuildAnswer {
  const build = createBuild(source, library)
  return 'tool' in build ? library.built(build) : build
}

const ORIGINS: ReadonlySet<string> = new Set([ORIGIN])

function addPrinted(builder: DesiredSetBuilder, source: BuiltSource, text: string): void {
  const where = `${source.folder === '' ? 'the repository' : source.folder} (as ${source.command[0] ?? source.tool.name} printed it)`
  const { synced, files } = source
  const resource = synced === undefined ? undefined : readSyncerObject(synced, files)
  const keepsOrigins = source.tool.keepsOrigins(source)
  const isPlain = (object: Json): boolean =>
    keepsOrigins || getPartAt(object, 'metadata', 'annotations', ORIGIN) === undefined
  const locationIn = source.tool.locationsIn(source)
  const texts: readonly BuiltDocument[] =
    synced === undefined || resource === undefined
      ? [{ text }]
      : synced.builder.documents(applyFileVariables(synced, files), resource, text)
  for (const built of texts) {
    const { text: part, other } = built
    const others = other === undefined ? [] : parseGoYaml(other, where).documents
    for (const document of parseGoYaml(part, where).documents) {
      if (isEmptyList(document.value)) continue
      const listIsLocal = isLocalConfig(document.value)
      const hidden =
        other === undefined ? [] : listDifferingPaths(document.value, others[document.index]?.value)
      for (const { object, line } of listDocumentObjects(document, part, where)) {
        const location = locationIn(object, part, line)
        const plain = isPlain(object) ? object : removeAnnotations(object, ORIGINS)
        const made =
          synced === undefined || resource === undefined || !isJsonObject(plain)
            ? plain
            : synced.builder.finished(plain, resource, built)
        if (made === undefined) continue
        builder.add(made, location, location.path, { local: listIsLocal, hidden })
      }
    }
  }
}

/**
 * Only the objects.
 * @throws Failure BP111x of the output
 */
export function parsePrintedResources(source: BuiltSource, text: string): DesiredSet['resources'] {
  const builder = new DesiredSetBuilder()
  addPrinted(builder, source, text)
  const [first] = builder.failures
  if (first !== undefined) throw first
  return builder.build(undefined, [], 'none').resources
}

/** Of `kpt live`; no kustomization lists it. */
function addInventories(builder: DesiredSetBuilder, sources: PackageSources): void {
  const path = 'resourcegroup.yaml'
  if (!sources.files.has(path) || sources.explainUnread(path) !== undefined) return
  try {
    const text = sources.readText(path)
    const where = sources.resolveLocation(path)
    for (const document of parseGoYaml(text, where).documents)
      for (const { object, item, line } of listDocumentObjects(document, text, where))
        if (isJsonObject(object) && getKey(object, 'kind') === 'ResourceGroup')
          builder.add(object, { path: where, document: document.index, item, line }, path)
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
  }
}

/** A list of another length is one location. */
export function listDifferingPaths(
  value: Json | undefined,
  other: Json | undefined,
  path: FieldPath = [],
): readonly FieldPath[] {
  if (isJsonObject(value) && isJsonObject(other))
    return [...new Set([...Object.keys(value), ...Object.keys(other)])].flatMap((name) =>
      listDifferingPaths(getKey(value, name), getKey(other, name), [
        ...path,
        createFieldStep(name),
      ]),
    )
  if (isJsonArray(value) && isJsonArray(other) && value.length === other.length)
    return value.flatMap((item, index) =>
      listDifferingPaths(item, other[index], [...path, { kind: 'index', index }]),
    )
  return isJsonEqual(value, other) ? [] : [path]
}
