/** The resources of syncers that files of the base branch declare. */
import { Failure } from '../../failure.ts'
import { parseApiVersion } from '../../krm/resource-id.ts'
import { addressesOf } from '../../policy/repository-addresses.ts'
import type { PackageRepository, TreeFile } from '../../ports/package-repository.ts'
import { filePatterns, type SetRepository } from '../../render/argo/application-set.ts'
import { isFileMatch } from '../../render/argo/path-match.ts'
import { SYNCERS } from '../../syncers/registry.ts'
import type { DeclaredSyncer } from '../../syncers/unit-source.ts'
import { isJsonObject, textOf } from '../../text/json.ts'
import { objectsIn, parseGoYaml } from '../../yaml/read/go-yaml.ts'
import { type RepositoryView, readTexts } from '../repository/repository-view.ts'

const SOURCE_KINDS = SYNCERS.flatMap(({ sources }) => (sources === 'none' ? [] : sources.kinds))

const GROUPS = [...new Set(SOURCE_KINDS.map(({ group }) => group))]
/** Files that are read. */
const MOST_FILES = 5_000

const known = new WeakMap<RepositoryView['tree'], Promise<readonly DeclaredSyncer[]>>()

/** Read once for a listing. A file that is no YAML declares none. @throws Failure BP40xx when git fails */
export async function declaredSyncers(
  view: Pick<RepositoryView, 'repository' | 'tree'>,
  signal: AbortSignal,
): Promise<readonly DeclaredSyncer[]> {
  const reading = known.get(view.tree) ?? read(view, signal)
  known.set(view.tree, reading)
  try {
    return await reading
  } catch (thrown) {
    known.delete(view.tree)
    throw thrown
  }
}

/** With what controllers make of them: Applications of ApplicationSets. @throws Failure BP40xx when git fails */
export async function declaredAndMade(view: RepositoryView, signal: AbortSignal): Promise<readonly DeclaredSyncer[]> {
  const declared = await declaredSyncers(view, signal)
  const here = await setRepository(view, declared, signal)
  const made = SYNCERS.flatMap(({ sources }) => (sources === 'none' ? [] : (sources.made?.(declared, here) ?? [])))
  return [...declared, ...made]
}

/** What generators of ApplicationSets read of the base branch. @throws Failure BP40xx when git fails */
export async function setRepository(
  view: RepositoryView,
  declared: readonly DeclaredSyncer[],
  signal: AbortSignal,
): Promise<SetRepository> {
  const { repository, policies, baseBranch, tree } = view
  const isHere = addressesOf(await knownAddresses(repository, signal), policies.policies)
  const patterns = declared.flatMap(({ object }) => filePatterns(object))
  const named = tree.filter(({ path, mode }) => isFile(mode) && patterns.some((pattern) => isFileMatch(pattern, path)))
  const inOrder = named.slice(0, MOST_FILES).toSorted((one, other) => (one.path < other.path ? -1 : 1))
  const texts = inOrder.length === 0 ? new Map<string, string>() : await readTexts(repository, inOrder, signal, () => undefined)
  const paths = new Set(tree.map(({ path }) => path))
  return { isHere, baseBranch, folders: () => foldersOf(paths), texts }
}

/** Addresses that syncers may have of the repository. */
export async function knownAddresses(repository: PackageRepository, signal: AbortSignal): Promise<readonly string[]> {
  return [repository.remote, ...((await repository.clonedFrom?.(signal)) ?? [])]
}

function foldersOf(paths: ReadonlySet<string>): readonly string[] {
  const found = new Map<string, readonly string[]>()
  for (const path of paths) {
    const parts = path.split('/').slice(0, -1)
    const visible = parts.findIndex((part) => part.startsWith('.'))
    const kept = visible === -1 ? parts : parts.slice(0, visible)
    for (let end = kept.length; end > 0; end -= 1) found.set(kept.slice(0, end).join('/'), kept.slice(0, end))
  }
  const inOrder = (one: readonly string[], other: readonly string[]): number => {
    const at = one.findIndex((part, index) => part !== other[index])
    return at === -1 ? one.length - other.length : (one[at] ?? '') < (other[at] ?? '') ? -1 : 1
  }
  return [...found].sort(([, one], [, other]) => inOrder(one, other)).map(([folder]) => folder)
}

async function read(
  { repository, tree }: Pick<RepositoryView, 'repository' | 'tree'>,
  signal: AbortSignal,
): Promise<readonly DeclaredSyncer[]> {
  const texts = await readTexts(repository, tree.filter(isManifest).slice(0, MOST_FILES), signal, () => undefined)
  return [...texts].flatMap(([path, text]) => (GROUPS.some((group) => text.includes(group)) ? declaredIn(path, text) : []))
}

function isFile(mode: TreeFile['mode']): boolean {
  return mode === '100644' || mode === '100755'
}

function isManifest({ path, mode }: TreeFile): boolean {
  return isFile(mode) && /\.ya?ml$/.test(path) && !path.startsWith('.')
}

function declaredIn(path: string, text: string): readonly DeclaredSyncer[] {
  try {
    return parseGoYaml(text, path).documents.flatMap((document) =>
      objectsIn(document, text, path).flatMap(({ object, item, line }) =>
        isJsonObject(object) && item === undefined && isSource(object) ? [{ object, path, document: document.index, line }] : [],
      ),
    )
  } catch (thrown) {
    if (thrown instanceof Failure) return []
    throw thrown
  }
}

function isSource(object: DeclaredSyncer['object']): boolean {
  const { group } = parseApiVersion(textOf(object, 'apiVersion'))
  return SOURCE_KINDS.some((each) => each.group === group && each.kind === textOf(object, 'kind'))
}
