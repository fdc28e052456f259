import type { TreeFile } from '@backporch/git-store/package-repository'
import { Failure } from '@backporch/kyaml/failure'
import { getTextAt, isJsonObject, type JsonObject } from '@backporch/kyaml/json'
import { listDocumentObjects, parseGoYaml } from '@backporch/kyaml/read-yaml'
import {
  getMetadataText,
  getResourceKey,
  parseApiVersion,
  type ResourceId,
} from '@backporch/kyaml/resource'
import { createAddressMatcher } from '../../../policy/repository-addresses.ts'
import type {
  DeclaredSyncer,
  RefusedSource,
  ResourcesOf,
  SetRepository,
  SourcedRepository,
  UnitSource,
} from '../../../sources/build/unit-source.ts'
import { readTexts } from '../../../sources/commit/commit-files.ts'
import { DISCOVERIES } from '../../../sources/registry.ts'
import { keepPromise } from '../keep-promise.ts'
import type { RepositoryView } from '../repository-view.ts'
import { listKnownAddresses } from './other-addresses.ts'
import type { LiveSyncers } from './read-syncers.ts'
import { isFile, setRepository } from './set-repository.ts'

const SOURCE_KINDS = DISCOVERIES.flatMap(({ kinds }) => kinds)

const GROUPS = [...new Set(SOURCE_KINDS.map(({ group }) => group))]
const MOST_FILES = 5_000

interface DeclaredObjects {
  readonly declared: readonly DeclaredSyncer[]
  readonly configMaps: readonly DeclaredSyncer[]
}

const known = new WeakMap<RepositoryView['tree'], Promise<DeclaredObjects>>()

/**
 * Read once for a listing. A file that is not YAML declares none.
 * @throws Failure BP40xx if git fails
 */
function readDeclaredObjects(
  view: Pick<RepositoryView, 'repository' | 'tree'>,
  signal: AbortSignal,
): Promise<DeclaredObjects> {
  return keepPromise(known, view.tree, () => read(view, signal))
}

/** `declared` includes what controllers make, such as Applications of ApplicationSets. */
interface DeclaredAndMade extends DeclaredObjects {
  readonly here: SetRepository
}

/** @throws Failure BP40xx if git fails */
export async function readDeclaredAndMade(
  view: RepositoryView,
  signal: AbortSignal,
): Promise<DeclaredAndMade> {
  const { declared: own, configMaps } = await readDeclaredObjects(view, signal)
  const here = await setRepository(view, own, signal)
  const made = DISCOVERIES.flatMap(({ made }) => made?.(own, here) ?? [])
  return { declared: [...own, ...made], configMaps, here }
}

async function read(
  { repository, tree }: Pick<RepositoryView, 'repository' | 'tree'>,
  signal: AbortSignal,
): Promise<DeclaredObjects> {
  const texts = await readTexts(
    repository,
    tree.filter(isManifest).slice(0, MOST_FILES),
    signal,
    () => undefined,
  )
  const files = [...texts]
  const names = new Set(
    files.flatMap(([, text]) =>
      text.includes('substituteFrom') ? (text.match(NAMES)?.map(findName) ?? []) : [],
    ),
  )
  const isNamed = (object: JsonObject): boolean =>
    getTextAt(object, 'apiVersion') === 'v1' &&
    getTextAt(object, 'kind') === 'ConfigMap' &&
    names.has(getMetadataText(object, 'name'))
  return {
    declared: files.flatMap(([path, text]) =>
      GROUPS.some((group) => text.includes(group))
        ? parseDeclaredSyncers(path, text, isSource)
        : [],
    ),
    configMaps: files.flatMap(([path, text]) =>
      names.size > 0 && text.includes('ConfigMap') ? parseDeclaredSyncers(path, text, isNamed) : [],
    ),
  }
}

/** A patch may also add `substituteFrom`. */
const NAMES = /\bname: *["']?[\w.-]+/g

function findName(field: string): string {
  return field.replace(/^name: *["']?/, '')
}

function isManifest({ path, mode }: TreeFile): boolean {
  return isFile(mode) && /\.ya?ml$/.test(path) && !path.startsWith('.')
}

function parseDeclaredSyncers(
  path: string,
  text: string,
  isWanted: (object: JsonObject) => boolean,
): readonly DeclaredSyncer[] {
  try {
    return parseGoYaml(text, path).documents.flatMap((document) =>
      listDocumentObjects(document, text, path).flatMap(({ object, item, line }) =>
        isJsonObject(object) && item === undefined && isWanted(object)
          ? [{ object, path, document: document.index, line }]
          : [],
      ),
    )
  } catch (thrown) {
    if (thrown instanceof Failure) return []
    throw thrown
  }
}

function isSource(object: JsonObject): boolean {
  return isSourceKind(getResourceId(object))
}

export function isSourceKind({ group, kind }: ResourceId): boolean {
  return SOURCE_KINDS.some((each) => each.group === group && each.kind === kind)
}

export interface DeclaredSource {
  readonly source: UnitSource
  readonly at: DeclaredSyncer
  /** Another file declares the name too, for example for another cluster. */
  readonly isOneOfSeveral: boolean
}

/** @throws Failure BP40xx if git fails */
export async function readDeclaredSources(
  view: RepositoryView,
  signal: AbortSignal,
): Promise<readonly DeclaredSource[]> {
  const { declared, configMaps, here } = await readDeclaredAndMade(view, signal)
  const isHere = createAddressMatcher(
    await listKnownAddresses(view.repository, signal),
    view.policies.policies,
  )
  const byName = [...Map.groupBy(declared, ({ object }) => getResourceKey(getResourceId(object)))]
  const most = Math.max(0, ...byName.map(([, all]) => all.length))
  // A cluster has one resource per name: of several files each is read without the others.
  return Array.from({ length: most }, (_, at) => at).flatMap((at) => {
    const own = byName.flatMap(([, all]) => all[at] ?? all[0] ?? [])
    const of = createResourceLookup(own.map(({ object }) => object))
    const repository = {
      ...createSourcedRepository(view, { isFiles: true }),
      ...here,
      isHere,
      declared: own,
      configMaps,
    }
    return DISCOVERIES.flatMap(({ read }) => read(of, repository)).flatMap((source) => {
      const all = isRefused(source)
        ? undefined
        : byName.find(([name]) => name === getResourceKey(source.id))?.[1]
      const place = all?.[at]
      return isRefused(source) || place === undefined
        ? []
        : [{ source, at: place, isOneOfSeveral: (all?.length ?? 0) > 1 }]
    })
  })
}

export function getResourceId(object: JsonObject): ResourceId {
  return {
    group: parseApiVersion(getTextAt(object, 'apiVersion')).group,
    kind: getTextAt(object, 'kind'),
    namespace: getMetadataText(object, 'namespace'),
    name: getMetadataText(object, 'name'),
  }
}

export function createSourcedRepository(
  { tree, refs, baseBranch }: RepositoryView,
  { isFiles }: Pick<LiveSyncers, 'isFiles'>,
): Omit<SourcedRepository, 'declared' | 'configMaps' | 'isHere'> {
  const paths = new Set(tree.map(({ path }) => path))
  const isBranch = (name: string): boolean => refs.has(`refs/heads/${name}`)
  return {
    baseBranch,
    isBranch,
    has: (path) => paths.has(path),
    folders: () => [],
    texts: new Map(),
    isFiles,
  }
}

export function createResourceLookup(objects: readonly JsonObject[]): ResourcesOf {
  return (group, kind) =>
    objects.filter(
      (object) =>
        object['kind'] === kind && parseApiVersion(getTextAt(object, 'apiVersion')).group === group,
    )
}

export function isRefused(source: UnitSource | RefusedSource): source is RefusedSource {
  return 'why' in source
}
