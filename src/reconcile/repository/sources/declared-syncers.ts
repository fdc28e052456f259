/** The resources of syncers that files of the base branch declare. */
import type { TreeFile } from '@backporch/git-store/package-repository'
import { Failure } from '@backporch/kyaml/failure'
import { isJsonObject, textOf } from '@backporch/kyaml/json'
import { objectsOfDocument, parseGoYaml } from '@backporch/kyaml/read-yaml'
import { parseApiVersion } from '@backporch/kyaml/resource'
import type { DeclaredSyncer, SetRepository } from '../../../sources/build/unit-source.ts'
import { readTexts } from '../../../sources/commit/commit-files.ts'
import { DISCOVERIES } from '../../../sources/registry.ts'
import type { RepositoryView } from '../repository-view.ts'
import { isFile, setRepository } from './set-repository.ts'

const SOURCE_KINDS = DISCOVERIES.flatMap(({ kinds }) => kinds)

const GROUPS = [...new Set(SOURCE_KINDS.map(({ group }) => group))]
/** Files that are read. */
const MOST_FILES = 5_000

const known = new WeakMap<RepositoryView['tree'], Promise<readonly DeclaredSyncer[]>>()

/** Read once for a listing. A file that is no YAML declares none. @throws Failure BP40xx when git fails */
async function declaredSyncers(
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

interface DeclaredAndMade {
  /** With what controllers make of them: Applications of ApplicationSets. */
  readonly declared: readonly DeclaredSyncer[]
  /** What the controllers read. */
  readonly here: SetRepository
}

/** @throws Failure BP40xx when git fails */
export async function declaredAndMade(
  view: RepositoryView,
  signal: AbortSignal,
): Promise<DeclaredAndMade> {
  const own = await declaredSyncers(view, signal)
  const here = await setRepository(view, own, signal)
  const made = DISCOVERIES.flatMap(({ made }) => made?.(own, here) ?? [])
  return { declared: [...own, ...made], here }
}

async function read(
  { repository, tree }: Pick<RepositoryView, 'repository' | 'tree'>,
  signal: AbortSignal,
): Promise<readonly DeclaredSyncer[]> {
  const texts = await readTexts(
    repository,
    tree.filter(isManifest).slice(0, MOST_FILES),
    signal,
    () => undefined,
  )
  return [...texts].flatMap(([path, text]) =>
    GROUPS.some((group) => text.includes(group)) ? declaredIn(path, text) : [],
  )
}

function isManifest({ path, mode }: TreeFile): boolean {
  return isFile(mode) && /\.ya?ml$/.test(path) && !path.startsWith('.')
}

function declaredIn(path: string, text: string): readonly DeclaredSyncer[] {
  try {
    return parseGoYaml(text, path).documents.flatMap((document) =>
      objectsOfDocument(document, text, path).flatMap(({ object, item, line }) =>
        isJsonObject(object) && item === undefined && isSource(object)
          ? [{ object, path, document: document.index, line }]
          : [],
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
