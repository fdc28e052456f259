/**
 * The units that the syncers of a cluster apply from the repository (design §14). The resources of the cluster decide; of a recording
 * without any, those that the repository declares.
 */
import { asFailure } from '../../failure.ts'
import type { LiveState } from '../../krm/live-view.ts'
import { resourceKey } from '../../krm/resource-id.ts'
import type { Note } from '../../note.ts'
import { type FoundPackage, findPackages } from '../../package/find-packages.ts'
import { addressesOf } from '../../policy/repository-addresses.ts'
import type { ClusterReader } from '../../ports/cluster.ts'
import type { RenderChoice } from '../../render/render-choice.ts'
import { unknownBuild } from '../../render/syncer-build.ts'
import { SYNCERS } from '../../syncers/registry.ts'
import type { DeclaredSyncer, RefusedSource, SourcedRepository, UnitSource, VariablesRef } from '../../syncers/unit-source.ts'
import { given } from '../../text/given.ts'
import { isJsonObject, type JsonObject, partOf } from '../../text/json.ts'
import { eachOf } from '../each-of.ts'
import type { RepositoryView } from '../repository/repository-view.ts'
import { declaredSyncers } from './declared-syncers.ts'
import { otherAddresses } from './other-addresses.ts'
import { type LiveSyncers, readSyncers } from './read-syncers.ts'

const CLUSTERS_AT_ONCE = 4

export interface ClusterSources {
  readonly cluster: string
  /** By folder. */
  readonly renders: ReadonlyMap<string, RenderChoice>
  readonly titles: ReadonlyMap<string, string>
  readonly notes: readonly Note[]
}

/** The view with the units that syncers of the clusters apply. @throws Failure BP30xx where a cluster cannot be asked, BP40xx when git fails */
export async function withSources(view: RepositoryView, clusters: readonly ClusterReader[], signal: AbortSignal): Promise<RepositoryView> {
  return withFound(view, await eachOf(clusters, CLUSTERS_AT_ONCE, (cluster) => discoverSources(view, cluster, signal)))
}

/** @param found of the clusters that answered: what the syncers of another one apply is not known */
export function withFound(view: RepositoryView, found: readonly ClusterSources[]): RepositoryView {
  const folders = [...new Set(found.flatMap(({ renders }) => [...renders.keys()]))]
  const problems = [...view.problems, ...found.flatMap(({ notes }) => notes)]
  const synced = new Map(found.map(({ cluster, renders }) => [cluster, renders]))
  if (folders.length === 0) return { ...view, problems, policies: { ...view.policies, synced } }
  const named = view.packages.filter(({ source }) => source === 'folder').map(({ path }) => path)
  const packages = findPackages(view.tree, [...named, ...folders])
  return { ...view, packages, problems, policies: { ...view.policies, folders: withFolders(view, packages, found), synced } }
}

/** The resources of syncers that are not compared, or not as they stand on the base branch. */
export function sourceNotes({ problems }: Pick<RepositoryView, 'problems'>): readonly Note[] {
  return problems.filter(({ cause }) => cause === 'source-not-compared')
}

/** Each folder is rendered somehow also where no syncer of the cluster applies it. */
function withFolders(
  { policies }: RepositoryView,
  packages: readonly FoundPackage[],
  found: readonly ClusterSources[],
): ReadonlyMap<string, RenderChoice> {
  const folders = new Map(policies.folders)
  for (const { path, source } of packages) {
    const choice = found.flatMap(({ renders }) => renders.get(path) ?? [])[0]
    if (source === 'folder' && !folders.has(path) && choice !== undefined) folders.set(path, choice)
  }
  return folders
}

/** @throws Failure BP30xx where the cluster cannot be asked, BP40xx when git fails */
export async function discoverSources(view: RepositoryView, cluster: ClusterReader, signal: AbortSignal): Promise<ClusterSources> {
  const notes: Note[] = []
  const note = (subject: string, text: string): void => void notes.push({ cause: 'source-not-compared', subject, text })
  const live = await readSyncers(cluster, signal)
  const isHere = addressesOf(view.repository.remote, view.policies.policies)
  const all = await sourcesOf(view, live, isHere, signal)
  const [renders, titles] = [new Map<string, RenderChoice>(), new Map<string, string>()]
  for (const source of all) {
    if (isRefused(source)) note(source.title, source.why)
    else if (titles.has(source.folder)) note(source.title, `${source.folder || '.'} is compared as ${titles.get(source.folder)} applies it`)
    else if (!isFolder(view, source.folder)) note(source.title, `the base branch has no folder ${source.folder}`)
    else if (isUnit(view, source.folder)) {
      if (source.pinned !== undefined) note(source.title, source.pinned)
      renders.set(source.folder, await renderOf(source, cluster, signal))
      titles.set(source.folder, source.title)
    }
  }
  if (renders.size === 0 && view.packages.length === 0)
    notes.push(...(await otherAddresses((isNear) => sourcesOf(view, live, isNear, signal), view.repository.remote)))
  for (const { name, failure } of live.unread) {
    const why = `the account cannot read the resources of ${name}: ${failure.why}`
    note(name, `what it applies from this repository is not known: ${why}`)
    // What was compared with this build is not compared with the bare files instead.
    for (const { path, appliedBy } of view.recorded.filter((unit) => unit.cluster === cluster.name))
      if (appliedBy?.startsWith(`${name} `) === true && !renders.has(path) && isFolder(view, path) && isUnit(view, path))
        renders.set(path, { tool: 'syncer', build: unknownBuild(appliedBy, why) })
  }
  return { cluster: cluster.name, renders, titles, notes }
}

async function sourcesOf(
  view: RepositoryView,
  { listed, unread, isFiles }: LiveSyncers,
  isHere: SourcedRepository['isHere'],
  signal: AbortSignal,
): Promise<readonly (UnitSource | RefusedSource)[]> {
  const paths = new Set(view.tree.map(({ path }) => path))
  const here = {
    isHere,
    baseBranch: view.baseBranch,
    isBranch: (name: string) => view.refs.has(`refs/heads/${name}`),
    has: (path: string) => paths.has(path),
    isFiles,
  }
  const read = (declared: readonly DeclaredSyncer[]): readonly (UnitSource | RefusedSource)[] => {
    const objects = isFiles ? declared.map(({ object }) => object) : listed
    const of = (kind: string): readonly JsonObject[] => objects.filter((object) => object['kind'] === kind)
    return SYNCERS.flatMap(({ name, sources }) =>
      sources === 'none' || unread.some((one) => one.name === name) ? [] : sources.read(of, { ...here, declared }),
    )
  }
  // The files of a repository that no syncer applies are not read.
  const found = isFiles ? [] : read([])
  if (!isFiles && found.every(isRefused)) return found
  return read(await declaredSyncers(view, signal))
}

function isRefused(source: UnitSource | RefusedSource): source is RefusedSource {
  return 'why' in source
}

function isFolder({ tree }: RepositoryView, folder: string): boolean {
  return folder === '' || tree.some(({ path }) => path.startsWith(`${folder}/`))
}

/** A package of kpt stays one. */
function isUnit(view: RepositoryView, folder: string): boolean {
  const isPackage = view.packages.some(
    ({ path, source }) => source === 'kpt' && (path === '' || path === folder || folder.startsWith(`${path}/`)),
  )
  return !isPackage && !hasOnlyPackages(view, folder)
}

/** A folder whose manifests are those of packages of kpt is no unit beside them. */
function hasOnlyPackages({ packages, tree }: RepositoryView, folder: string): boolean {
  const below = packages.flatMap(({ path, source }) => (source === 'kpt' ? [`${path}/`] : []))
  const own = tree.filter(({ path }) => (folder === '' || path.startsWith(`${folder}/`)) && !path.startsWith('.drift/'))
  return (
    below.length > 0 &&
    own.filter(({ path }) => /\.(?:ya?ml|json)$/.test(path)).every(({ path }) => below.some((each) => path.startsWith(each)))
  )
}

/** The choice with the variables of its ConfigMaps and Secrets, or with why they are not known. */
async function renderOf(source: UnitSource, cluster: ClusterReader, signal: AbortSignal): Promise<RenderChoice> {
  const variables = new Map<string, string>()
  const secrets = new Set<string>()
  const problems: string[] = []
  const states = await cluster.readLive(source.variablesFrom.map(wantedOf), signal).catch((thrown: unknown) => {
    signal.throwIfAborted()
    problems.push(asFailure(thrown).why)
    return new Map<string, LiveState>()
  })
  for (const ref of source.variablesFrom) {
    const name = `${ref.kind} ${ref.namespace}/${ref.name}`
    const state = states.get(resourceKey(wantedOf(ref).id))
    if (state?.state === 'unreadable') problems.push(`substituteFrom names the ${name}, which cannot be read: ${state.failure.why}`)
    if (state?.state === 'absent' && !ref.optional) problems.push(`substituteFrom names the ${name}, which is not there`)
    if (state?.state !== 'present') continue
    if (state.metadataOnly) problems.push(`substituteFrom names the ${name}, whose content this account does not read`)
    for (const [key, value] of entriesOf(ref, state.object)) {
      variables.set(key, value)
      if (ref.kind === 'Secret') secrets.add(key)
      else secrets.delete(key)
    }
  }
  const choice = source.render(variables)
  if (choice.tool !== 'syncer') return choice
  const [problem] = problems
  return { ...choice, build: { ...choice.build, secrets, ...given({ problem, pinned: source.pinned }) } }
}

/** As Flux does: a value has one line. */
function entriesOf({ kind }: VariablesRef, object: JsonObject): readonly (readonly [string, string])[] {
  const data = partOf(object, 'data')
  if (!isJsonObject(data)) return []
  const plain = (value: string): string => (kind === 'Secret' ? Buffer.from(value, 'base64').toString('utf8') : value)
  return Object.entries(data).flatMap(([key, value]) =>
    typeof value === 'string' ? [[key, plain(value).replaceAll('\n', '')] as const] : [],
  )
}

function wantedOf({ kind, namespace, name }: VariablesRef) {
  return { id: { group: '', kind, namespace, name }, apiVersion: 'v1' }
}
