import { compareText } from '@backporch/kyaml/text'
import type { UnitSource } from '../../../sources/build/unit-source.ts'
import { joinFolderPath } from '../../../sources/kustomize/files/kustomization-walk.ts'
import type { RepositoryView } from '../repository-view.ts'

/**
 * A unit keeps the ledger's path in the cluster. Of several new units in a folder the first by
 * title gets the folder; the others get the resource name below it, where the repository has no
 * file.
 * @returns in the order of the titles
 */
export function assignUnitPaths(
  { tree, recorded }: Pick<RepositoryView, 'tree' | 'recorded'>,
  cluster: string,
  sources: readonly UnitSource[],
): ReadonlyMap<UnitSource, string> {
  const known = new Map(
    recorded.flatMap(({ cluster: of, path, appliedBy }) =>
      of === cluster && appliedBy !== undefined ? [[appliedBy, path] as const] : [],
    ),
  )
  const isThere = (path: string): boolean =>
    tree.some((file) => file.path === path || file.path.startsWith(`${path}/`))
  const taken = new Map<string, UnitSource>()
  const paths = new Map<UnitSource, string>()
  const take = (source: UnitSource, candidates: readonly string[]): void => {
    const path = candidates.find((each) => !taken.has(each))
    if (path === undefined) return
    taken.set(path, source)
    paths.set(source, path)
  }
  for (const source of sources) {
    const path = known.get(source.title)
    if (path !== undefined && listCandidates(source, () => false).includes(path))
      take(source, [path])
  }
  const sorted = sources.toSorted((one, other) => compareText(one.title, other.title))
  for (const source of sorted) if (!paths.has(source)) take(source, listCandidates(source, isThere))
  return new Map(
    sorted.flatMap((source) =>
      paths.has(source) ? [[source, paths.get(source) ?? ''] as const] : [],
    ),
  )
}

function listCandidates(
  { folder, isPart = false, id }: UnitSource,
  isThere: (path: string) => boolean,
): readonly string[] {
  const kind = id.kind.toLowerCase()
  const names = [id.name, `${kind}-${id.name}`, `${kind}-${id.namespace}-${id.name}`].map((name) =>
    joinFolderPath(folder, name),
  )
  return [...(isPart ? [] : [folder]), ...names.filter((path) => !isThere(path))]
}
