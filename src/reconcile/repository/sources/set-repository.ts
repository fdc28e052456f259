import type { TreeFile } from '@backporch/git-store/package-repository'
import { createAddressMatcher } from '../../../policy/repository-addresses.ts'
import { listFilePatterns } from '../../../sources/argo-cd/application-set.ts'
import { isFileMatch } from '../../../sources/argo-cd/path-match.ts'
import type { DeclaredSyncer, SetRepository } from '../../../sources/build/unit-source.ts'
import { readTexts } from '../../../sources/commit/commit-files.ts'
import type { RepositoryView } from '../repository-view.ts'
import { listKnownAddresses } from './other-addresses.ts'

const MOST_FILES = 5_000

/**
 * @param declared their generators name files
 * @throws Failure BP40xx if git fails
 */
export async function setRepository(
  view: RepositoryView,
  declared: readonly DeclaredSyncer[],
  signal: AbortSignal,
): Promise<SetRepository> {
  const { repository, policies, baseBranch, tree } = view
  const isHere = createAddressMatcher(
    await listKnownAddresses(repository, signal),
    policies.policies,
  )
  const patterns = declared.flatMap(({ object }) => listFilePatterns(object))
  const named = tree.filter(
    ({ path, mode }) => isFile(mode) && patterns.some((pattern) => isFileMatch(pattern, path)),
  )
  const inOrder = named
    .slice(0, MOST_FILES)
    .toSorted((one, other) => (one.path < other.path ? -1 : 1))
  const texts =
    inOrder.length === 0
      ? new Map<string, string>()
      : await readTexts(repository, inOrder, signal, () => undefined)
  const paths = new Set(tree.map(({ path }) => path))
  return { isHere, baseBranch, folders: () => listFolders(paths), texts }
}

function listFolders(paths: ReadonlySet<string>): readonly string[] {
  const found = new Map<string, readonly string[]>()
  for (const path of paths) {
    const parts = path.split('/').slice(0, -1)
    const visible = parts.findIndex((part) => part.startsWith('.'))
    const kept = visible === -1 ? parts : parts.slice(0, visible)
    for (let end = kept.length; end > 0; end -= 1)
      found.set(kept.slice(0, end).join('/'), kept.slice(0, end))
  }
  const inOrder = (one: readonly string[], other: readonly string[]): number => {
    const at = one.findIndex((part, index) => part !== other[index])
    return at === -1 ? one.length - other.length : (one[at] ?? '') < (other[at] ?? '') ? -1 : 1
  }
  return [...found].sort(([, one], [, other]) => inOrder(one, other)).map(([folder]) => folder)
}

export function isFile(mode: TreeFile['mode']): boolean {
  return mode === '100644' || mode === '100755'
}
