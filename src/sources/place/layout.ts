import type { DesiredResource } from '@backporch/kpt/desired-set'
import type { ResourceId } from '@backporch/kyaml/resource'
import { getParentFolder, joinFolderPath } from '../kustomize/files/kustomization-walk.ts'

interface SiblingFile {
  readonly path: string
  readonly objects: readonly ResourceId[]
  readonly takesDocuments: boolean
}

type Place = { readonly kind: 'append' | 'new'; readonly path: string }

export function listSiblingFiles(resources: readonly DesiredResource[]): readonly SiblingFile[] {
  const authored = resources.filter(({ location: { path } }) => /\.ya?ml$/.test(path))
  return [...Map.groupBy(authored, ({ location }) => location.path)].map(([path, own]) => ({
    path,
    objects: own.map(({ id }) => id),
    takesDocuments: own.every(({ location }) => location.item === undefined),
  }))
}

/**
 * @param folder for a file without siblings, from the repository root
 * @param isTaken the file exists
 */
export function choosePlace(
  id: ResourceId,
  siblings: readonly SiblingFile[],
  folder: string,
  isTaken: (path: string) => boolean,
): Place | undefined {
  const several = siblings.filter(
    ({ objects, takesDocuments }) => objects.length > 1 && takesDocuments,
  )
  const ofKind = several.filter(({ objects }) => objects.some((other) => isSameKind(id, other)))
  const [shared] = siblings.length === 1 ? several : ofKind.length === 1 ? ofKind : []
  if (shared !== undefined) return { kind: 'append', path: shared.path }
  const singles = siblings.filter(({ objects }) => objects.length === 1)
  const like = singles.filter(({ objects }) => objects.every((other) => isSameKind(id, other)))
  const near =
    findMostFrequent((like.length > 0 ? like : singles).map(({ path }) => getParentFolder(path))) ??
    folder
  const ending =
    findMostFrequent(singles.map(({ path }) => path.slice(path.lastIndexOf('.')))) ?? '.yaml'
  const naming = findMostFrequent(singles.flatMap(listNamings))
  const path = [...(naming === undefined ? [] : [naming]), ...NAMINGS.keys()]
    .map((name) => joinFolderPath(near, (NAMINGS.get(name) ?? deriveDefaultName)(id) + ending))
    .find((candidate) => !isTaken(candidate))
  return path === undefined ? undefined : { kind: 'new', path }
}

/** In order of preference, if the siblings show none. */
const NAMINGS: ReadonlyMap<string, (id: ResourceId) => string> = new Map([
  ['kind-name', deriveDefaultName],
  ['name-kind', ({ kind, name }: ResourceId) => normalizeFileName(`${name}-${kind}`)],
  ['kind_name', ({ kind, name }: ResourceId) => normalizeFileName(`${kind}_${name}`)],
  ['name_kind', ({ kind, name }: ResourceId) => normalizeFileName(`${name}_${kind}`)],
  ['kind.name', ({ kind, name }: ResourceId) => normalizeFileName(`${kind}.${name}`)],
  ['name', ({ name }: ResourceId) => normalizeFileName(name)],
  ['kind', ({ kind }: ResourceId) => normalizeFileName(kind)],
  [
    'kind-namespace-name',
    ({ kind, namespace, name }: ResourceId) => normalizeFileName(`${kind}-${namespace}-${name}`),
  ],
])

function deriveDefaultName({ kind, name }: ResourceId): string {
  return normalizeFileName(`${kind}-${name}`)
}

function normalizeFileName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9._-]+/g, '-')
}

function listNamings({ path, objects: [id] }: SiblingFile): readonly string[] {
  const base = path.slice(path.lastIndexOf('/') + 1, path.lastIndexOf('.')).toLowerCase()
  return id === undefined
    ? []
    : [...NAMINGS].flatMap(([naming, nameOf]) => (nameOf(id) === base ? [naming] : []))
}

function isSameKind(one: ResourceId, other: ResourceId): boolean {
  return one.group === other.group && one.kind === other.kind
}

function findMostFrequent(texts: readonly string[]): string | undefined {
  const counts = [...Map.groupBy(texts, (text) => text)].sort(
    ([, one], [, other]) => other.length - one.length,
  )
  return counts[0]?.[0]
}
