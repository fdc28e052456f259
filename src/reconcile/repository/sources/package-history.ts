/**
 * Reads the history of a package, only if the syncer may be behind. It is cached over turns: if the
 * base branch moved, only the new commits are read.
 */
import {
  type CommitView,
  OversizedRead,
  type TreeFile,
} from '@backporch/git-store/package-repository'
import type { DesiredSet } from '@backporch/kpt/desired-set'
import { Failure } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'
import type { JsonObject } from '@backporch/kyaml/json'
import { getResourceKey } from '@backporch/kyaml/resource'
import { LRUCache } from 'lru-cache'
import type { PackageHistory, PackageVersion } from '../../../drift/behind/sync-evidence.ts'
import { hashContent } from '../../../plan/observation/unit-git.ts'
import { RENDERED_BY_KPT, type RenderChoice } from '../../../sources/build/render-choice.ts'
import { createRequestedFiles } from '../../../sources/commit/commit-files.ts'
import type { PackageRenderer } from '../../../sources/kpt/render/package-renderer.ts'
import { describeChoice } from '../../../sources/registry.ts'
import {
  listFilesBelow,
  omitRecords,
  type RepositoryView,
  readPackageFiles,
} from '../repository-view.ts'
import { renderUnit, selectUnitTree } from './unit-source.ts'

/** Walked commits, and rendered contents. A syncer lags by a few. */
const MOST_COMMITS = 200
const MOST_VERSIONS = 20

interface HistoryContext {
  readonly view: RepositoryView
  readonly renderer: PackageRenderer
  /** Default: kpt renders it. */
  readonly choice?: RenderChoice
  readonly namespace: string
}

interface HistoryOf {
  readonly packagePath: string
  /** From the repository root; read outside of the package. */
  readonly outside: readonly string[]
  readonly desired: DesiredSet
  readonly known?: KnownHistory | undefined
}

interface KnownHistory {
  readonly base: ObjectId
  readonly history: PackageHistory
  /** False if a version temporarily failed to render. */
  readonly lasting: boolean
}

/** Of all histories together, plus one for each history. */
const MOST_OBJECTS = 20_000

export class PackageHistories {
  private readonly known = new LRUCache<string, KnownHistory>({
    maxSize: MOST_OBJECTS,
    sizeCalculation: computeHistorySize,
  })
  private readonly reading = new Map<string, Promise<KnownHistory>>()

  async read(context: HistoryContext, of: HistoryOf, signal: AbortSignal): Promise<PackageHistory> {
    const { view, choice, namespace } = context
    const key = JSON.stringify([
      view.repository.remote,
      view.baseBranch,
      of.packagePath,
      choice,
      namespace,
    ])
    const known = this.known.get(key)
    if (known?.base === view.base) return known.history
    const requested = `${key} ${view.base}`
    const reading =
      this.reading.get(requested) ?? readPackageHistory(context, { ...of, known }, signal)
    this.reading.set(requested, reading)
    try {
      const read = await reading
      if (read.lasting) this.known.set(key, read)
      else this.known.delete(key)
      return read.history
    } finally {
      this.reading.delete(requested)
    }
  }
}

function computeHistorySize({ history }: KnownHistory): number {
  return history.versions.reduce((sum, { objects }) => sum + objects.size, 1)
}

/**
 * Walks the first parents down to the commit whose history is known: merged content counts from the
 * merge on.
 * @throws Failure BP40xx if git fails; the commits that a shallow clone lacks are `cut`
 */
async function readPackageHistory(
  context: HistoryContext,
  { packagePath, outside: outsideNow, desired, known }: HistoryOf,
  signal: AbortSignal,
): Promise<KnownHistory> {
  const { view, namespace } = context
  const locationOf = new Map<string, number>()
  let commit = await view.repository.commit(view.base, signal)
  let outside = outsideNow
  let content = hashContent(selectUnitTree(view.tree, packagePath, outside))
  const versions: PackageVersion[] = [
    { commit: view.base, tree: content, at: '', objects: indexObjects(desired, namespace) },
  ]
  // A resource below a folder that another unit applies has no files of its own.
  const isPart = listFilesBelow(view.tree, packagePath).length === 0
  let complete = false
  let rendered = true
  let lasting = true
  for (let walked = 0; walked < MOST_COMMITS; walked += 1) {
    locationOf.set(commit.id, versions.length - 1)
    const last = versions.length - 1
    const newest = versions[last]
    if (newest !== undefined && rendered)
      versions[last] = { ...newest, commit: commit.id, at: getTime(commit) }
    const [parent] = commit.parents
    const own =
      parent === undefined
        ? []
        : await readPackageTree(view, parent, packagePath, signal).catch(cutOff)
    if (own instanceof Failure)
      return {
        base: view.base,
        history: { versions, locationOf, complete, cut: own },
        lasting: false,
      }
    const isThere =
      parent !== undefined &&
      (own.length > 0 ||
        (isPart && (await readOutsideTree(view, parent, outside, signal)).length > 0))
    if (parent === undefined || !isThere) {
      complete = true
      break
    }
    if (parent === known?.base && known.history.locationOf.size + walked <= 2 * MOST_COMMITS) {
      const same =
        rendered &&
        content === hashContent([...own, ...(await readOutsideTree(view, parent, outside, signal))])
      return {
        base: view.base,
        history: joinHistories({ versions, locationOf, complete }, known.history, same),
        lasting,
      }
    }
    commit = await view.repository.commit(parent, signal)
    const before = hashContent([...own, ...(await readOutsideTree(view, parent, outside, signal))])
    if (before === content) continue
    if (versions.length === MOST_VERSIONS) break
    const version = await render(context, parent, { packagePath, tree: own }, signal)
    outside = version.outside
    content = hashContent([...own, ...(await readOutsideTree(view, parent, outside, signal))])
    const { objects } = version
    rendered = objects !== undefined
    lasting &&= version.lasting
    if (objects !== undefined)
      versions.push({ commit: commit.id, tree: content, at: getTime(commit), objects })
  }
  // The empty state before the first commit is also a version: the content of that commit may not
  // be applied yet.
  if (complete) versions.push({ commit: '', tree: '', at: '', objects: new Map() })
  return { base: view.base, history: { versions, locationOf, complete }, lasting }
}

function joinHistories(
  newer: PackageHistory,
  older: PackageHistory,
  same: boolean,
): PackageHistory {
  const last = newer.versions.length - 1
  const [first, ...rest] = older.versions
  const [oldest] = newer.versions.slice(-1)
  const one = same && first !== undefined && oldest !== undefined
  const versions = one
    ? [...newer.versions.slice(0, last), { ...oldest, commit: first.commit, at: first.at }, ...rest]
    : [...newer.versions, ...older.versions]
  const offset = one ? last : last + 1
  const locations = [...older.locationOf].map(
    ([commit, index]) => [commit, index + offset] as const,
  )
  const retained = versions.slice(0, MOST_VERSIONS + 1)
  return {
    versions: retained,
    locationOf: new Map([
      ...newer.locationOf,
      ...locations.filter(([, position]) => position < retained.length),
    ]),
    complete: older.complete && retained.length === versions.length,
  }
}

/** A value, because the other commits are known. */
function cutOff(thrown: unknown): Failure {
  if (thrown instanceof Failure && thrown.code === 'BP4011') return thrown
  throw thrown
}

async function readPackageTree(
  view: RepositoryView,
  commit: ObjectId,
  packagePath: string,
  signal: AbortSignal,
): Promise<readonly TreeFile[]> {
  const tree = await view.repository.list(commit, packagePath, signal)
  return packagePath === '' ? listFilesBelow(tree, '') : omitRecords(tree)
}

async function readOutsideTree(
  view: RepositoryView,
  commit: ObjectId,
  outside: readonly string[],
  signal: AbortSignal,
): Promise<readonly TreeFile[]> {
  const files: TreeFile[] = []
  for (const path of outside) {
    const found = await createRequestedFiles(view.repository, commit, signal).at(path)
    if (typeof found !== 'string') files.push({ ...found, path: `/${path}` })
  }
  return files
}

interface RenderedVersion {
  /** Undefined if it cannot be rendered: it was never applied. */
  readonly objects: PackageVersion['objects'] | undefined
  readonly outside: readonly string[]
  readonly lasting: boolean
}

async function render(
  { view, renderer, choice = RENDERED_BY_KPT, namespace }: HistoryContext,
  commit: ObjectId,
  { packagePath, tree }: { readonly packagePath: string; readonly tree: readonly TreeFile[] },
  signal: AbortSignal,
): Promise<RenderedVersion> {
  const files = await readPackageFiles(view.repository, tree, signal, {
    folder: packagePath,
    all: describeChoice(choice).reads === 'every file',
  }).catch(expectOversizedRead)
  if (files instanceof OversizedRead) return { objects: undefined, outside: [], lasting: true }
  const at = createRequestedFiles(view.repository, commit, signal)
  const { rendering, outside } = await renderUnit(
    at,
    renderer,
    { packagePath, files, choice },
    signal,
  )
  const failures = 'failures' in rendering ? rendering.failures : []
  const lasting = failures.every(({ retry }) => retry !== 'backoff')
  return {
    objects: 'failures' in rendering ? undefined : indexObjects(rendering.desired, namespace),
    outside,
    lasting,
  }
}

function expectOversizedRead(thrown: unknown): OversizedRead {
  if (thrown instanceof OversizedRead) return thrown
  throw thrown
}

/** The scopes of an earlier version's kinds are unknown: each object may be in either. */
function indexObjects(
  { resources, namespace: own }: DesiredSet,
  context: string,
): ReadonlyMap<string, JsonObject> {
  const namespace = own ?? context
  return new Map(
    resources.flatMap(({ id, object }): [string, JsonObject][] => {
      const locations = id.namespace === '' ? ['', namespace] : [id.namespace, '']
      return locations.map((location) => [getResourceKey({ ...id, namespace: location }), object])
    }),
  )
}

/** Git accepts any number as a time. */
function getTime({ committer }: CommitView): string {
  return `${new Date(Math.min(Math.max(committer.at, 0), LAST_SECOND) * 1000).toISOString().slice(0, 19)}Z`
}

const LAST_SECOND = Date.parse('9999-12-31T23:59:59Z') / 1000
