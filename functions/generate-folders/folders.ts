/** Values are untyped, as in JavaScript, as far as a hierarchy can contain them. */
import { ID, INDEX, LEGACY_ID, LEGACY_INDEX, LEGACY_PATH, PATH } from '@backporch/kpt/function'
import {
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'

export const HIERARCHIES = [
  'cft.dev/v1alpha1',
  'blueprints.cloud.google.com/v1alpha3',
  'cft.dev/v1alpha2',
] as const
type HierarchyVersion = (typeof HIERARCHIES)[number]

export interface Folder {
  readonly metadata: JsonObject
  readonly spec: JsonObject
}

/** The original fails or behaves undefined. */
export class NoFolders extends Error {}

/** Folders inherit the other annotations, including kpt's runtime annotations. */
const NOT_INHERITED: ReadonlySet<string> = new Set([
  'config.kubernetes.io/local-config',
  'config.k8s.io/function',
  PATH,
  LEGACY_PATH,
  INDEX,
  LEGACY_INDEX,
  ID,
  LEGACY_ID,
])

interface Branch {
  readonly name: Json
  readonly below: readonly Branch[]
}

interface Hierarchy {
  readonly version: HierarchyVersion
  readonly parent: string
  readonly inOrganization: boolean
  readonly annotations: JsonObject
  readonly namespace: Json | undefined
}

/** @throws NoFolders */
export function buildFolders(value: JsonObject, version: HierarchyVersion): readonly Folder[] {
  const [metadata, spec] = [mapAt(value, 'metadata'), mapAt(value, 'spec')]
  const namespace = getKey(metadata, 'namespace')
  if (version === 'cft.dev/v1alpha1') {
    const parent = String(getKey(spec, 'organization'))
    const layers = listTexts(getKey(spec, 'layers'), 'spec.layers').map((layer) =>
      getLayer(spec, layer),
    )
    return walk(
      { version, parent, inOrganization: true, annotations: {}, namespace },
      buildLayeredBranches(layers),
      [],
    )
  }
  const reference = getKey(spec, 'parentRef')
  const external = isJsonObject(reference) ? getKey(reference, 'external') : undefined
  if (!isJsonObject(reference) || external === undefined)
    throw new NoFolders('the hierarchy has no parentRef')
  const kind = getKey(reference, 'kind')
  if (kind !== undefined && kind !== 'Organization' && kind !== 'Folder')
    throw new NoFolders('the kind of the parentRef is not supported')
  const own = getKey(metadata, 'annotations')
  const annotations = Object.fromEntries(
    Object.entries(isJsonObject(own) ? own : {}).filter(([name]) => !NOT_INHERITED.has(name)),
  )
  const subtrees = new Map<string, readonly Branch[]>()
  const trees = getKey(spec, 'subtrees')
  if (trees !== undefined && trees !== null && !isJsonObject(trees))
    throw new NoFolders('spec.subtrees must be a map')
  for (const [name, children] of Object.entries(trees ?? {}))
    subtrees.set(name, buildBranches(children, subtrees))
  const branches = buildBranches(getKey(spec, 'config'), subtrees)
  return walk(
    {
      version,
      parent: String(external),
      inOrganization: kind !== 'Folder',
      annotations,
      namespace,
    },
    branches,
    [],
  )
}

function mapAt(value: JsonObject, name: string): JsonObject {
  const map = getKey(value, name)
  if (!isJsonObject(map)) throw new NoFolders(`${name} must be a map`)
  return map
}

function listTexts(value: Json | undefined, where: string): readonly Json[] {
  if (!isJsonArray(value) || value.some((each) => typeof each === 'object'))
    throw new NoFolders(`${where} must be a list of texts`)
  return value
}

function getLayer(spec: JsonObject, layer: Json): readonly Json[] {
  return listTexts(getKey(mapAt(spec, 'config'), String(layer)), `spec.config.${layer}`)
}

function buildLayeredBranches([layer, ...others]: readonly (readonly Json[])[]): readonly Branch[] {
  const below = layer === undefined ? [] : buildLayeredBranches(others)
  return layer?.map((name) => ({ name, below })) ?? []
}

/**
 * A text is a folder. The first field of a map is a folder with folders or a subtree defined above.
 * Numbers and booleans are ignored.
 */
function buildBranches(
  children: Json | undefined,
  subtrees: ReadonlyMap<string, readonly Branch[]>,
): readonly Branch[] {
  if (!isJsonArray(children)) throw new NoFolders('folders must be a list')
  return children.flatMap((child): readonly Branch[] => {
    if (typeof child === 'string') return [{ name: child, below: [] }]
    if (typeof child !== 'object' || child === null) return []
    const [first] = Object.entries(child)
    if (first === undefined) throw new NoFolders('a folder has no name')
    const [name, below] = first as [string, Json]
    if (isJsonArray(below)) return [{ name, below: buildBranches(below, subtrees) }]
    if (typeof below !== 'object') return [{ name, below: [] }]
    const subtree =
      below === null ? undefined : subtrees.get(String((below as JsonObject).$subtree))
    if (subtree === undefined)
      throw new NoFolders(`the folder ${name} has neither folders nor a subtree that is above it`)
    return [{ name, below: subtree }]
  })
}

function walk(
  hierarchy: Hierarchy,
  branches: readonly Branch[],
  path: readonly string[],
): readonly Folder[] {
  return branches.flatMap(({ name, below }) => [
    createFolder(hierarchy, name, path),
    ...walk(hierarchy, below, [...path, String(name)]),
  ])
}

function createFolder(
  { version, parent, inOrganization, annotations, namespace }: Hierarchy,
  name: Json,
  path: readonly string[],
): Folder {
  const above = path.join('.') || parent
  const isTop = path.length === 0
  const asField = version === 'blueprints.cloud.google.com/v1alpha3'
  const reference: JsonObject = !asField
    ? {}
    : isTop
      ? { [inOrganization ? 'organizationRef' : 'folderRef']: { external: above } }
      : { folderRef: { name: normalizeName(above) } }
  const all: JsonObject = asField
    ? annotations
    : {
        ...annotations,
        [`cnrm.cloud.google.com/${isTop && inOrganization ? 'organization-id' : 'folder-ref'}`]:
          normalizeName(above),
      }
  return {
    metadata: {
      name: normalizeName([...path, String(name)].join('.')),
      ...(Object.keys(all).length === 0 ? {} : { annotations: all }),
      ...(namespace === undefined ? {} : { namespace }),
    },
    spec: { displayName: name, ...reference },
  }
}

function normalizeName(name: string): string {
  return name
    .toLowerCase()
    .replace(/['"]/g, '')
    .replace(/[_ ]/g, '-')
    .replace(/[^a-z0-9.-]/g, '')
}
