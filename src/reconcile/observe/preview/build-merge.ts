/**
 * Builds the units before and after a merge. A merge that changes syncer resources also changes how
 * their units are built.
 */
import type { ClusterReader } from '@backporch/cluster/cluster'
import type { DesiredResource } from '@backporch/kpt/desired-set'
import type { Failure } from '@backporch/kyaml/failure'
import { formatCanonicalJson, isJsonEqual } from '@backporch/kyaml/json'
import { getResourceKey } from '@backporch/kyaml/resource'
import type { DeclaredSyncer } from '../../../sources/build/unit-source.ts'
import { readSyncedSource } from '../../../sources/synced/read-synced.ts'
import type { RepositoryView } from '../../repository/repository-view.ts'
import {
  getResourceId,
  isSourceKind,
  readDeclaredAndMade,
} from '../../repository/sources/declared-syncers.ts'
import {
  addDiscoveredUnits,
  type ClusterSources,
  discoverSources,
} from '../../repository/sources/discover-sources.ts'
import { getViewFiles } from '../../repository/sources/shared-sources.ts'
import { createReaderAfterMerge, isSame, type ResourceChange } from './after-merge.ts'
import type { PreviewRequest } from './preview-request.ts'
import {
  type BuiltSide,
  buildTouched,
  findNamedUnits,
  type MergeSide,
  type TouchedUnits,
} from './preview-units.ts'

const MOST_LEVELS = 6

export interface Sides {
  readonly before: RepositoryView
  readonly after: RepositoryView
  readonly edited: ReadonlySet<string>
  readonly reads: { readonly before: MergeSide['reads']; readonly after: MergeSide['reads'] }
}

interface BuiltMerge extends Omit<TouchedUnits, 'applied'> {
  readonly before: RepositoryView
  readonly after: RepositoryView
  readonly found: ClusterSources
  readonly missing: ReadonlyMap<string, Failure>
}

/** @throws Failure BP30xx if the cluster cannot be asked, BP40xx when git fails */
export async function buildMerge(
  sides: Sides,
  reader: ClusterReader,
  request: PreviewRequest,
  signal: AbortSignal,
): Promise<BuiltMerge> {
  const { name: cluster } = reader
  const { renderer, units: selection } = request.observe
  const before = addDiscoveredUnits(sides.before, [
    await discoverSources(sides.before, reader, renderer, signal),
  ])
  const beforeSide: MergeSide = { view: before, renderer, reads: sides.reads.before }
  const mergeRenderer = request.head.fork ? request.untrusted : renderer
  const files = hasSyncers(before, cluster)
    ? await readDeclaredSides(sides, signal)
    : { before: [], after: [] }
  const declaring = new Set([...files.before, ...files.after].map(({ path }) => path))
  let changes: readonly ResourceChange[] = []
  for (let level = 1; ; level += 1) {
    const later = createReaderAfterMerge(reader, changes)
    const found = await discoverSources(sides.after, later, mergeRenderer, signal)
    const after = await addAppliedFiles(
      addDiscoveredUnits(sides.after, [found]),
      before,
      cluster,
      signal,
    )
    const views = [before, after]
    const { wanted, missing } = await findNamedUnits(selection, cluster, views, signal)
    const touched = await buildTouched(
      {
        before: beforeSide,
        after: { view: after, renderer: mergeRenderer, reads: sides.reads.after },
      },
      { cluster, edited: sides.edited, wanted, declaring },
      signal,
    )
    const next = [
      ...listUnitChanges(touched, isRead(views, cluster)),
      ...listFileChanges(files, touched.applied),
    ]
    if (level === MOST_LEVELS || isEqual(next, changes))
      return { ...touched, before, after, found, missing }
    changes = next
  }
}

function hasSyncers({ policies }: RepositoryView, cluster: string): boolean {
  return (policies.synced?.get(cluster)?.size ?? 0) > 0
}

interface DeclaredSides {
  readonly before: readonly DeclaredSyncer[]
  readonly after: readonly DeclaredSyncer[]
}

async function readDeclaredSides(
  { before, after }: Pick<Sides, 'before' | 'after'>,
  signal: AbortSignal,
): Promise<DeclaredSides> {
  const declared = async (view: RepositoryView): Promise<readonly DeclaredSyncer[]> => {
    const found = await readDeclaredAndMade(view, signal)
    return [...found.declared, ...found.configMaps]
  }
  return { before: await declared(before), after: await declared(after) }
}

/**
 * Syncer resources, and cluster content that builds read. A unit built through another one compares
 * its resource on both sides itself.
 */
function isRead(
  views: readonly RepositoryView[],
  cluster: string,
): (change: ResourceChange) => boolean {
  const builds = views.flatMap(({ policies }) =>
    [...(policies.synced?.get(cluster)?.values() ?? [])].map(({ build }) => build),
  )
  const inputs = new Set(builds.flatMap((build) => (build.inputs ?? []).map(getResourceKey)))
  const parts = new Set(
    builds.flatMap(({ parent, object }) =>
      parent === undefined ? [] : [getResourceKey(getResourceId(object))],
    ),
  )
  return ({ id, before, after }) =>
    (isSourceKind(id) || inputs.has(getResourceKey(id))) &&
    (before === undefined || after === undefined || !parts.has(getResourceKey(id)))
}

/**
 * A unit that cannot be built on a side does not show what it applies. A resource with a Secret's
 * value stays, because a unit built with it would show the value.
 */
function listUnitChanges(
  { built }: TouchedUnits,
  isWanted: (change: ResourceChange) => boolean,
): readonly ResourceChange[] {
  const known = built.filter(({ before, after }) => !isFailed(before) && !isFailed(after))
  const [before, after] = [
    indexResources(known.map((unit) => unit.before)),
    indexResources(known.map((unit) => unit.after)),
  ]
  const keys = new Set([...before.keys(), ...after.keys()])
  return [...keys].flatMap((key) => {
    const [was, is] = [before.get(key), after.get(key)]
    const sides = [was, is].filter((side) => side !== undefined)
    const [one] = sides
    if (one === undefined || sides.some(({ hidden = [] }) => hidden.length > 0)) return []
    const change = { id: one.id, before: was?.object, after: is?.object, isBuilt: true }
    return isWanted(change) && !isJsonEqual(was?.object, is?.object) ? [change] : []
  })
}

function indexResources(sides: readonly BuiltSide[]): ReadonlyMap<string, DesiredResource> {
  const resources = sides.flatMap((side) =>
    side === undefined || isFailed(side) ? [] : side.desired.resources,
  )
  return new Map(resources.map((resource) => [getResourceKey(resource.id), resource]))
}

/**
 * Files that no unit applies, and what controllers create. A name that several files declare
 * belongs to one of several clusters; only a unit that applies one shows which is this cluster.
 */
function listFileChanges(
  { before, after }: DeclaredSides,
  applied: ReadonlySet<string>,
): readonly ResourceChange[] {
  const isApplied = ({ path, generator }: DeclaredSyncer): boolean =>
    generator === undefined && applied.has(path)
  const all = [before, after].flatMap((files, side) =>
    files.map((file) => ({ file, side, id: getResourceId(file.object) })),
  )
  // Then a file outside of units belongs to another cluster.
  const isByUnits = all.some(({ file }) => isApplied(file))
  const byName = Map.groupBy(all, ({ id }) => getResourceKey({ ...id, namespace: '' }))
  return [...byName.values()].flatMap((named) =>
    named.flatMap(({ file, side, id }) => {
      const same = named.filter((each) => isSame(each.id, id))
      const [was, is] = [0, 1].map((one) => same.filter((each) => each.side === one))
      if (was === undefined || is === undefined || was.length > 1 || is.length > 1) return []
      const [one, other] = [was[0]?.file, is[0]?.file]
      const isOfOther = one === undefined && isByUnits && file.generator === undefined
      const isSecond = side === 1 && one !== undefined
      if (same.some((each) => isApplied(each.file)) || isOfOther || isSecond) return []
      if (isJsonEqual(one?.object, other?.object)) return []
      return [{ id, before: one?.object, after: other?.object, isBuilt: false }]
    }),
  )
}

function isEqual(one: readonly ResourceChange[], other: readonly ResourceChange[]): boolean {
  const texts = [one, other].map((changes) =>
    formatCanonicalJson(
      changes.map(({ id, before = null, after = null }) => [getResourceKey(id), before, after]),
    ),
  )
  return texts[0] === texts[1]
}

export function isFailed(
  side: BuiltSide,
): side is { readonly failures: readonly [Failure, ...Failure[]] } {
  return side !== undefined && 'failures' in side
}

/**
 * The merge is compared with the cluster's version.
 * @throws Failure BP40xx when git fails
 */
async function addAppliedFiles(
  after: RepositoryView,
  before: RepositoryView,
  cluster: string,
  signal: AbortSignal,
): Promise<RepositoryView> {
  const choices = new Map(after.policies.synced?.get(cluster))
  for (const [path, choice] of choices) {
    const parent = before.policies.synced?.get(cluster)?.get(path)?.build.parent
    if (choice.build.parent === undefined || parent === undefined) continue
    const { source } = await readSyncedSource(
      getViewFiles(before),
      { packagePath: '', files: [] },
      parent,
      signal,
    )
    choices.set(path, { ...choice, build: { ...choice.build, appliedFiles: source.files } })
  }
  return {
    ...after,
    policies: { ...after.policies, synced: new Map(after.policies.synced).set(cluster, choices) },
  }
}
