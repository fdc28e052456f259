import type { DesiredResource } from '@backporch/kpt/desired-set'
import { Failure } from '@backporch/kyaml/failure'
import { formatCanonicalJson, type JsonObject } from '@backporch/kyaml/json'
import { getMetadataText, getResourceKey } from '@backporch/kyaml/resource'
import { buildUnit } from '../../../sources/build/build-unit.ts'
import type { SyncerBuild } from '../../../sources/build/built-source.ts'
import { parsePrintedResources } from '../../../sources/build/read-built.ts'
import type { SyncedChoice } from '../../../sources/build/render-choice.ts'
import type {
  BuiltKind,
  DeclaredSyncer,
  RefusedSource,
  ResourcesOf,
  SourcedRepository,
  UnitSource,
} from '../../../sources/build/unit-source.ts'
import type { PackageRenderer } from '../../../sources/kpt/render/package-renderer.ts'
import { computeChoiceKey, DISCOVERIES } from '../../../sources/registry.ts'
import { readSyncedSource } from '../../../sources/synced/read-synced.ts'
import { mapConcurrent } from '../each-of.ts'
import type { RepositoryView } from '../repository-view.ts'
import { getViewFiles } from './shared-sources.ts'

type Source = UnitSource | RefusedSource

interface BuiltSources {
  readonly sources: readonly Source[]
  /** By `getResourceKey`. */
  readonly configMaps: ReadonlyMap<string, JsonObject>
  readonly unknown: readonly {
    readonly parent: UnitSource
    readonly kind: string
    readonly failure: Failure
  }[]
}

interface Built {
  readonly object: DesiredResource
  readonly sources: readonly Source[]
}

export interface BuildInputs {
  readonly view: RepositoryView
  readonly renderer: PackageRenderer
  readonly of: ResourcesOf
  readonly repository: SourcedRepository
  /** @throws Failure BP30xx if the cluster cannot be asked */
  readonly choicesOf: (
    units: readonly UnitSource[],
    configMaps: ReadonlyMap<string, JsonObject>,
  ) => Promise<readonly (readonly [UnitSource, SyncedChoice])[]>
}

const BUILT = DISCOVERIES.flatMap(({ built = [] }) => built)
const BUILDS_AT_ONCE = 8
const MOST_LEVELS = 6

/**
 * The turn makes the same builds anyway, and a builder runs equal builds once.
 * @throws Failure BP40xx if git fails
 */
export async function discoverBuiltSources(
  inputs: BuildInputs,
  ofFiles: readonly Source[],
  signal: AbortSignal,
): Promise<BuiltSources> {
  let [sources, before]: readonly [readonly Source[], string] = [ofFiles, '[]']
  let configMaps: ReadonlyMap<string, JsonObject> = new Map()
  const known = new Map<string, Promise<BuiltObjects>>()
  const objectsIn = (choice: SyncedChoice): Promise<BuiltObjects> => {
    const key = `${computeChoiceKey(choice)} ${choice.build.folder} ${choice.build.problem}`
    const objects = known.get(key) ?? buildObjects(inputs, choice.build, signal)
    known.set(key, objects)
    return objects
  }
  for (let level = 1; ; level += 1) {
    const parents = sources.flatMap((source) =>
      'why' in source || source.partOf !== undefined ? [] : [source],
    )
    const found = await buildSourcesBelow(
      inputs,
      await inputs.choicesOf(parents, configMaps),
      objectsIn,
    )
    configMaps = found.configMaps
    const built = found.built.filter((each) => each.sources.length > 0)
    const left = ofFiles.filter(
      (source) => !built.some(({ object }) => isFileOf(source, object, inputs.repository.declared)),
    )
    sources = deduplicateSources([...left, ...built.flatMap((each) => each.sources)])
    // A difference in one level may change what it builds.
    const units = found.built.flatMap(({ object }) => (isOfFiles(object) ? [object.object] : []))
    const variables = parents.some(({ variablesFrom }) => variablesFrom.length > 0)
      ? [...configMaps.values()]
      : []
    const now = formatCanonicalJson([...units, ...variables])
    if (level === MOST_LEVELS || now === before)
      return { sources, configMaps, unknown: found.unknown }
    before = now
  }
}

async function buildSourcesBelow(
  { of, repository }: Pick<BuildInputs, 'of' | 'repository'>,
  parents: readonly (readonly [UnitSource, SyncedChoice])[],
  objectsIn: (choice: SyncedChoice) => Promise<BuiltObjects>,
): Promise<{ readonly built: readonly Built[] } & Pick<BuiltSources, 'configMaps' | 'unknown'>> {
  const built: Built[] = []
  const configMaps = new Map<string, JsonObject>()
  const unknown: BuiltSources['unknown'][number][] = []
  const all = await mapConcurrent(parents, BUILDS_AT_ONCE, async ([parent, choice]) => ({
    parent,
    ...(await objectsIn(choice)),
  }))
  for (const { parent, kinds, objects } of all) {
    if (objects instanceof Failure) {
      for (const { kind, isOfFiles } of kinds)
        if (!isOfFiles) unknown.push({ parent, kind, failure: objects })
      continue
    }
    for (const object of objects) {
      const { id } = object
      const own = kinds.find(({ group, kind }) => id.group === group && id.kind === kind)
      if (own !== undefined)
        built.push({ object, sources: own.read(object, parent, of, repository) })
      else if (id.group === '' && id.kind === 'ConfigMap')
        configMaps.set(getResourceKey(id), object.object)
    }
  }
  return { built, configMaps, unknown }
}

function isOfFiles({ id }: DesiredResource): boolean {
  return BUILT.some((each) => each.isOfFiles && each.group === id.group && each.kind === id.kind)
}

/** The file may have no namespace and another name. */
function isFileOf(
  source: Source,
  { id, location }: DesiredResource,
  declared: readonly DeclaredSyncer[],
): boolean {
  if ('why' in source) return false
  const isOwn = (file: DeclaredSyncer): boolean =>
    file.path === location.path && file.document === location.document
  const file = location.step === undefined ? declared.find(isOwn)?.object : undefined
  const [name, namespace] =
    file === undefined
      ? [id.name, id.namespace]
      : [getMetadataText(file, 'name'), getMetadataText(file, 'namespace')]
  const { id: own } = source
  return (
    own.group === id.group &&
    own.kind === id.kind &&
    own.name === name &&
    ['', namespace].includes(own.namespace)
  )
}

function deduplicateSources(sources: readonly Source[]): readonly Source[] {
  const byPlace = new Map(
    sources.map((source) => [
      `${source.title} ${'why' in source ? source.why : source.folder}`,
      source,
    ]),
  )
  return [...byPlace.values()]
}

interface BuiltObjects {
  readonly kinds: readonly BuiltKind[]
  readonly objects: readonly DesiredResource[] | Failure
}

async function buildObjects(
  { view, renderer }: Pick<BuildInputs, 'view' | 'renderer'>,
  build: SyncerBuild,
  signal: AbortSignal,
): Promise<BuiltObjects> {
  const { source, failures } = await readSyncedSource(
    getViewFiles(view),
    { packagePath: '', files: [] },
    build,
    signal,
  )
  const texts = [...source.files.values()].map(({ content }) => new TextDecoder().decode(content))
  const kinds = BUILT.filter(({ group }) => texts.some((text) => text.includes(group)))
  const [failure] = failures
  const isWanted = kinds.length > 0 || texts.some((text) => text.includes('ConfigMap'))
  if (failure !== undefined || !isWanted) return { kinds, objects: failure ?? [] }
  try {
    const answer = await buildUnit(renderer, source, signal)
    return {
      kinds,
      objects:
        'failure' in answer
          ? new Failure(answer.failure)
          : parsePrintedResources(source, answer.text),
    }
  } catch (thrown) {
    if (thrown instanceof Failure) return { kinds, objects: thrown }
    throw thrown
  }
}
