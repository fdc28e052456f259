/**
 * Discovers units. The cluster's syncer resources decide; for a recording without any, those that
 * the repository declares.
 */
import type { ClusterReader } from '@backporch/cluster/cluster'
import { type FoundPackage, findPackages } from '@backporch/kpt/package'
import type { Note } from '@backporch/kyaml/note'
import { createAddressMatcher } from '../../../policy/repository-addresses.ts'
import type { RenderChoice, SyncedChoice } from '../../../sources/build/render-choice.ts'
import type {
  RefusedSource,
  SourcedRepository,
  UnitSource,
} from '../../../sources/build/unit-source.ts'
import type { PackageRenderer } from '../../../sources/kpt/render/package-renderer.ts'
import { createUnknownChoice, DISCOVERIES } from '../../../sources/registry.ts'
import { mapConcurrent } from '../each-of.ts'
import type { RepositoryView } from '../repository-view.ts'
import type { RecordedUnit } from '../unit-folders.ts'
import { type BuildInputs, discoverBuiltSources } from './built-sources.ts'
import {
  createResourceLookup,
  createSourcedRepository,
  isRefused,
  readDeclaredAndMade,
} from './declared-syncers.ts'
import { findOtherAddresses, listKnownAddresses } from './other-addresses.ts'
import { type LiveSyncers, readSyncers } from './read-syncers.ts'
import { SourceBuilds } from './source-builds.ts'
import { assignUnitPaths } from './unit-paths.ts'
import { isInside } from './unit-source.ts'

const CLUSTERS_AT_ONCE = 4

export interface ClusterSources {
  readonly cluster: string
  readonly renders: ReadonlyMap<string, SyncedChoice>
  readonly titles: ReadonlyMap<string, string>
  readonly notes: readonly Note[]
}

/** @throws Failure BP30xx if a cluster cannot be asked, BP40xx if git fails */
export async function addSources(
  view: RepositoryView,
  clusters: readonly ClusterReader[],
  renderer: PackageRenderer,
  signal: AbortSignal,
): Promise<RepositoryView> {
  return addDiscoveredUnits(
    view,
    await mapConcurrent(clusters, CLUSTERS_AT_ONCE, (cluster) =>
      discoverSources(view, cluster, renderer, signal),
    ),
  )
}

/** @param found of the clusters that answered: the syncers of others are unknown */
export function addDiscoveredUnits(
  view: RepositoryView,
  found: readonly ClusterSources[],
): RepositoryView {
  const folders = [...new Set(found.flatMap(({ renders }) => [...renders.keys()]))]
  const problems = [...view.problems, ...found.flatMap(({ notes }) => notes)]
  const synced = new Map(found.map(({ cluster, renders }) => [cluster, renders]))
  if (folders.length === 0) return { ...view, problems, policies: { ...view.policies, synced } }
  const named = view.packages.filter(({ source }) => source === 'folder').map(({ path }) => path)
  const packages = findPackages(view.tree, [...named, ...folders])
  return {
    ...view,
    packages,
    problems,
    policies: { ...view.policies, folders: addFolderRenders(view, packages, found), synced },
  }
}

export function listSourceNotes({ problems }: Pick<RepositoryView, 'problems'>): readonly Note[] {
  return problems.filter(({ cause }) => cause === 'source-not-compared')
}

function addFolderRenders(
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

/**
 * @param renderer for units whose objects name further units, if only files are known
 * @throws Failure BP30xx if the cluster cannot be asked, BP40xx if git fails
 */
export async function discoverSources(
  view: RepositoryView,
  cluster: ClusterReader,
  renderer: PackageRenderer,
  signal: AbortSignal,
): Promise<ClusterSources> {
  const notes: Note[] = []
  const note = (subject: string, text: string): void =>
    void notes.push({ cause: 'source-not-compared', subject, text })
  const live = await readSyncers(cluster, signal)
  const remotes = await listKnownAddresses(view.repository, signal)
  const isHere = createAddressMatcher(remotes, view.policies.policies)
  const unitsIn = (all: readonly (UnitSource | RefusedSource)[]): readonly UnitSource[] =>
    all.flatMap((source) => {
      if (isRefused(source)) note(source.title, source.why)
      else if (!isFolder(view, source.folder))
        note(source.title, `the base branch has no folder ${source.folder}`)
      else if (isUnit(view, source.folder)) return [source]
      return []
    })
  const ofSyncers = await discoverLiveSources(view, live, isHere, signal)
  const built = live.isFiles
    ? await discoverBuiltInCluster(
        view,
        cluster,
        { live, isHere, renderer, ofFiles: ofSyncers },
        signal,
      )
    : undefined
  const found = unitsIn(built?.sources ?? ofSyncers)
  const builds = new SourceBuilds(cluster, found, signal, built?.configMaps)
  const [renders, titles] = [new Map<string, SyncedChoice>(), new Map<string, string>()]
  const recorded = view.recorded.filter((unit) => unit.cluster === cluster.name)
  const unknown: { readonly isOf: (unit: RecordedUnit) => boolean; readonly why: string }[] = []
  for (const { parent, kind, failure } of built?.unknown ?? []) {
    const why = `${parent.title} cannot be built: ${failure.why}`
    note(parent.title, `cannot tell which resources of kind ${kind} it applies: ${why}`)
    unknown.push({
      isOf: ({ path, appliedBy }) =>
        appliedBy?.includes(` ${kind} `) === true && isInside(path, parent.folder),
      why,
    })
  }
  for (const [source, path] of assignUnitPaths(view, cluster.name, found)) {
    if (source.pinned !== undefined) note(source.title, source.pinned)
    const why = await builds.findRefusal(source)
    if (why === undefined) {
      renders.set(path, { tool: source.tool, build: await builds.getBuild(source) })
      titles.set(path, source.title)
    } else {
      note(source.title, why)
      unknown.push({ isOf: (unit) => unit.path === path && unit.appliedBy === source.title, why })
    }
  }
  if (renders.size === 0 && view.packages.length === 0)
    notes.push(
      ...(await findOtherAddresses(
        (isNear) => discoverLiveSources(view, live, isNear, signal),
        remotes,
      )),
    )
  for (const { name, failure } of live.unread) {
    const why = `the account cannot read the resources of ${name}: ${failure.why}`
    note(name, `cannot tell what it applies from this repository: ${why}`)
    unknown.push({ isOf: ({ appliedBy }) => appliedBy?.startsWith(`${name} `) === true, why })
  }
  // A unit that was compared with such a build is not compared with the bare files instead.
  for (const { isOf, why } of unknown)
    for (const unit of recorded)
      if (
        unit.appliedBy !== undefined &&
        isOf(unit) &&
        !renders.has(unit.path) &&
        isUnit(view, unit.path)
      )
        renders.set(unit.path, createUnknownChoice(unit.appliedBy, why))
  return { cluster: cluster.name, renders, titles, notes }
}

async function discoverBuiltInCluster(
  view: RepositoryView,
  cluster: ClusterReader,
  { live, isHere, renderer, ofFiles }: FileSources,
  signal: AbortSignal,
): ReturnType<typeof discoverBuiltSources> {
  const { declared, configMaps, here } = await readDeclaredAndMade(view, signal)
  const of = createResourceLookup(declared.map(({ object }) => object))
  const repository = {
    ...createSourcedRepository(view, live),
    ...here,
    isHere,
    declared,
    configMaps,
  }
  const choicesOf: BuildInputs['choicesOf'] = async (all, configMaps) => {
    const units = all.filter(({ folder }) => isFolder(view, folder) && isUnit(view, folder))
    const builds = new SourceBuilds(cluster, units, signal, configMaps)
    return Promise.all(
      units.map(
        async (source) =>
          [source, { tool: source.tool, build: await builds.getBuild(source) }] as const,
      ),
    )
  }
  return discoverBuiltSources({ view, renderer, of, repository, choicesOf }, ofFiles, signal)
}

interface FileSources {
  readonly live: LiveSyncers
  readonly isHere: SourcedRepository['isHere']
  readonly renderer: PackageRenderer
  readonly ofFiles: readonly (UnitSource | RefusedSource)[]
}

async function discoverLiveSources(
  view: RepositoryView,
  live: LiveSyncers,
  isHere: SourcedRepository['isHere'],
  signal: AbortSignal,
): Promise<readonly (UnitSource | RefusedSource)[]> {
  const { listed, unread, isFiles } = live
  const read = (
    { declared, configMaps }: Pick<SourcedRepository, 'declared' | 'configMaps'>,
    here: Partial<SourcedRepository> = {},
  ): readonly (UnitSource | RefusedSource)[] => {
    const of = createResourceLookup(isFiles ? declared.map(({ object }) => object) : listed)
    const repository = {
      ...createSourcedRepository(view, live),
      ...here,
      isHere,
      declared,
      configMaps,
    }
    return DISCOVERIES.flatMap(({ name, read: ofResources }) =>
      unread.some((one) => one.name === name) ? [] : ofResources(of, repository),
    )
  }
  const found = isFiles ? [] : read({ declared: [], configMaps: [] })
  if (!isFiles && found.every(isRefused)) return found
  const { here, ...objects } = await readDeclaredAndMade(view, signal)
  return read(objects, here)
}

function isFolder({ tree }: RepositoryView, folder: string): boolean {
  return folder === '' || tree.some(({ path }) => path.startsWith(`${folder}/`))
}

function isUnit(view: RepositoryView, folder: string): boolean {
  const isPackage = view.packages.some(
    ({ path, source }) => source === 'kpt' && (path === folder || isInside(folder, path)),
  )
  return !isPackage && !hasOnlyPackages(view, folder)
}

function hasOnlyPackages({ packages, tree }: RepositoryView, folder: string): boolean {
  const below = packages.flatMap(({ path, source }) => (source === 'kpt' ? [`${path}/`] : []))
  const own = tree.filter(({ path }) => isInside(path, folder) && !path.startsWith('.drift/'))
  return (
    below.length > 0 &&
    own
      .filter(({ path }) => /\.(?:ya?ml|json)$/.test(path))
      .every(({ path }) => below.some((each) => path.startsWith(each)))
  )
}
