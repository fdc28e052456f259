/**
 * Previews a merge for one cluster. An unreadable cluster has its changes too, with unknown live
 * state.
 */
import type { ClusterIdentity, ClusterReader } from '@backporch/cluster/cluster'
import type { DesiredSet } from '@backporch/kpt/desired-set'
import { convertToFailure, Failure, type FailureCode } from '@backporch/kyaml/failure'
import { UNKNOWN_SCHEMA } from '@backporch/kyaml/field'
import { isJsonEqual } from '@backporch/kyaml/json'
import { formatNoteSentence, type Note } from '@backporch/kyaml/note'
import { getResourceKey, type LiveState } from '@backporch/kyaml/resource'
import { omitUndefined } from '@backporch/kyaml/text'
import { type PreviewedObject, previewChanges } from '../../../plan/unit/preview-changes.ts'
import type { Boundary } from '../../../policy/boundary.ts'
import { deriveEffectivePolicy } from '../../../policy/effective-policy.ts'
import type {
  PreviewCluster,
  PreviewFailure,
  PreviewUnit,
} from '../../../record/documents/preview.ts'
import type { RepositoryView } from '../../repository/repository-view.ts'
import { type ClusterSources, listSourceNotes } from '../../repository/sources/discover-sources.ts'
import { isInside } from '../../repository/sources/unit-source.ts'
import type { LoadedPackage } from '../load-package.ts'
import { observeCluster } from '../observe-units.ts'
import { isPlaced, type LiveSide, readLiveSides } from '../read-live-sides.ts'
import { assertSameCluster } from '../same-cluster.ts'
import { buildMerge, isFailed, type Sides } from './build-merge.ts'
import type { PreviewRequest } from './preview-request.ts'
import type { BuiltUnit } from './preview-units.ts'

export interface PreviewedCluster {
  readonly reader: ClusterReader
  readonly offline: ClusterReader
}

interface ClusterPreview {
  readonly cluster: PreviewCluster
  readonly units: readonly PreviewUnit[]
  readonly untouched: number
  readonly notes: readonly string[]
  readonly found: ClusterSources
  readonly missing: ReadonlyMap<string, Failure>
}

/** @throws Failure BP40xx when git fails */
export async function previewCluster(
  sides: Sides,
  { reader, offline }: PreviewedCluster,
  request: PreviewRequest,
  signal: AbortSignal,
): Promise<ClusterPreview> {
  if (request.head.fork)
    return previewIn(sides, offline, { request, failure: createForkNotReadFailure() }, signal)
  try {
    await assertSameCluster(sides.before, reader.name, await reader.identify(signal), signal)
    return await previewIn(sides, reader, { request, failure: undefined }, signal)
  } catch (thrown) {
    signal.throwIfAborted()
    const failure = convertToFailure(thrown)
    // An unusable kubeconfig is an unreadable cluster. A git failure does not concern the cluster.
    if (!/^BP(?:3|1006|1008|1010)/.test(failure.code)) throw thrown
    return previewIn(sides, offline, { request, failure }, signal)
  }
}

interface PreviewOf {
  readonly request: PreviewRequest
  readonly failure: Failure | undefined
}

async function previewIn(
  sides: Sides,
  reader: ClusterReader,
  of: PreviewOf,
  signal: AbortSignal,
): Promise<ClusterPreview> {
  const { request } = of
  const cluster = reader.name
  const { before, after, found, missing, units, untouched } = await buildMerge(
    sides,
    reader,
    request,
    signal,
  )
  const identity = await reader.identify(signal)
  const changed = units.filter(
    ({ before: was, after: is }) => !isFailed(was) && !isFailed(is) && differ(was, is),
  )
  const observed =
    of.failure === undefined
      ? await listCoveredObjects({ before, reader }, changed, request, signal)
      : NOTHING_COVERED
  const previews: PreviewUnit[] = []
  for (const unit of units) {
    const covered = observed.covered.get(unit.path) ?? new Set<string>()
    const of = {
      before,
      reader,
      identity,
      covered,
      request,
      failures: observed.failures.get(unit.path) ?? [],
    }
    previews.push(await previewUnit(unit, of, signal))
  }
  const { failure } = of
  return {
    cluster: {
      name: cluster,
      ...(failure === undefined
        ? { observedAt: identity.observedAt }
        : { failure: createShownFailure('live', failure) }),
    },
    units: previews,
    untouched,
    missing,
    found,
    notes: [...new Set(listNotes(before, after).map(formatNoteSentence))],
  }
}

function listNotes(before: RepositoryView, after: RepositoryView): readonly Note[] {
  return [...listSourceNotes(before), ...listSourceNotes(after)]
}

interface CoveredObjects {
  readonly covered: ReadonlyMap<string, ReadonlySet<string>>
  readonly failures: ReadonlyMap<string, readonly Failure[]>
}

const NOTHING_COVERED: CoveredObjects = { covered: new Map(), failures: new Map() }

async function listCoveredObjects(
  { before, reader }: { readonly before: RepositoryView; readonly reader: ClusterReader },
  changed: readonly BuiltUnit[],
  request: PreviewRequest,
  signal: AbortSignal,
): Promise<CoveredObjects> {
  const packages = changed.flatMap(({ path, before: was }) =>
    was === undefined ? [] : [path || '.'],
  )
  if (packages.length === 0) return NOTHING_COVERED
  const observe = { ...request.observe, mode: 'read', units: { packages }, cluster: {} } as const
  const { units } = await observeCluster(before, reader, observe, signal)
  const covered = new Map<string, ReadonlySet<string>>()
  const failures = new Map<string, readonly Failure[]>()
  for (const unit of units) {
    if (unit.state === 'failed') failures.set(unit.packagePath, unit.failures)
    else {
      const keys = unit.observation.verdicts.flatMap(({ id, state }) =>
        state === 'outside' || state === 'unreadable' ? [] : [getResourceKey(id)],
      )
      covered.set(unit.observation.unit.packagePath, new Set(keys))
    }
  }
  return { covered, failures }
}

interface UnitContext {
  readonly before: RepositoryView
  readonly reader: ClusterReader
  readonly identity: ClusterIdentity
  readonly covered: ReadonlySet<string>
  readonly failures: readonly Failure[]
  readonly request: PreviewRequest
}

async function previewUnit(
  unit: BuiltUnit,
  context: UnitContext,
  signal: AbortSignal,
): Promise<PreviewUnit> {
  const { path, edited, before: was, after: is } = unit
  const { request, reader } = context
  const built = [is, was].find(
    (side): side is LoadedPackage => side !== undefined && !isFailed(side),
  )
  const failures = [
    ...listFailuresAt('base', was),
    ...(isFailed(is)
      ? is.failures.map((one) =>
          createShownFailure('merge', request.head.fork ? forkFailure(one) : one),
        )
      : []),
  ]
  const appliedBy = built?.unit.appliedBy
  const head = {
    package: path,
    cluster: reader.name,
    ...omitUndefined({ appliedBy }),
    presence:
      was === undefined
        ? ('new' as const)
        : is === undefined
          ? ('gone' as const)
          : ('both' as const),
    edited: [...edited],
    shared: edited.filter((file) => !isInside(file, path)),
  }
  if (isFailed(was) || isFailed(is)) return { ...head, state: 'failed', changes: [], failures }
  if (!differ(was, is)) return { ...head, state: 'same', changes: [], failures }
  const { visibility, riskOverrides } = deriveEffectivePolicy(
    context.before.policies,
    reader.name,
    path,
  )
  const sides = await readSides({ was, is }, context, signal)
  const live = new Map<string, LiveState>([...(sides.was?.live ?? []), ...(sides.is?.live ?? [])])
  const changes = previewChanges(
    {
      before: listPreviewedObjects(sides.was),
      after: listPreviewedObjects(sides.is),
      live,
      covered: context.covered,
    },
    { visibility, riskOverrides },
    request.observe.key,
  )
  const unread = context.failures.map((failure) => createShownFailure('live', failure))
  return {
    ...head,
    state: changes.length === 0 ? 'same' : 'changes',
    changes: [...changes],
    failures: [...failures, ...unread],
  }
}

async function readSides(
  { was, is }: { readonly was: LoadedPackage | undefined; readonly is: LoadedPackage | undefined },
  { reader, identity }: UnitContext,
  signal: AbortSignal,
): Promise<{ readonly was: LiveSide | undefined; readonly is: LiveSide | undefined }> {
  const other = (of: LoadedPackage | undefined) =>
    new Map(of?.desired.resources.map((each) => [getResourceKey(each.id), each.object]))
  const [before, after] = [other(was), other(is)]
  const differing = (
    side: LoadedPackage | undefined,
  ): { readonly desired: DesiredSet; readonly boundary: Boundary | undefined } | undefined =>
    side && {
      boundary: side.boundary,
      desired: {
        ...side.desired,
        inventory: undefined,
        resources: side.desired.resources.filter(
          ({ id }) => !isJsonEqual(before.get(getResourceKey(id)), after.get(getResourceKey(id))),
        ),
      },
    }
  const [one, two] = [differing(was), differing(is)]
  const read = await readLiveSides(
    reader,
    identity.namespace,
    [one, two].filter((side) => side !== undefined),
    signal,
  )
  const sideOf = (wanted: typeof one): LiveSide | undefined =>
    read.find(({ of }) => of === wanted)?.side
  return { was: sideOf(one), is: sideOf(two) }
}

function listPreviewedObjects(side: LiveSide | undefined): readonly PreviewedObject[] {
  return (side?.resources ?? []).map((each) => ({
    resource: each.resource,
    schema: isPlaced(each) ? each.schema : UNKNOWN_SCHEMA,
  }))
}

function differ(was: LoadedPackage | undefined, is: LoadedPackage | undefined): boolean {
  const objects = (side: LoadedPackage | undefined) =>
    new Map(side?.desired.resources.map(({ id, object }) => [getResourceKey(id), object]))
  const [before, after] = [objects(was), objects(is)]
  return (
    before.size !== after.size ||
    [...after].some(([key, object]) => !isJsonEqual(before.get(key), object))
  )
}

function listFailuresAt(
  at: PreviewFailure['at'],
  side: BuiltUnit['before'],
): readonly PreviewFailure[] {
  return isFailed(side) ? side.failures.map((failure) => createShownFailure(at, failure)) : []
}

function createShownFailure(
  at: PreviewFailure['at'],
  { code, what, where, why, remedy }: Failure,
): PreviewFailure {
  return { at, code, what, ...omitUndefined({ where }), why, remedy }
}

const NOT_RUN: ReadonlySet<FailureCode> = new Set(['BP1201', 'BP1206', 'BP1208'])

/** Nothing that a fork's head names is run. */
function forkFailure(failure: Failure): Failure {
  if (!NOT_RUN.has(failure.code)) return failure
  const { code, what, where } = failure
  return new Failure({
    code,
    what,
    ...(where === undefined ? {} : { where }),
    why: 'the pull request comes from a fork; programs that a fork names are never run, even if the operator allows them for the repository itself',
    remedy: 'review it, and push the commits to a branch of the repository',
    retry: 'on-change',
  })
}

/** Its author could ask the cluster about any object by declaring it. */
function createForkNotReadFailure(): Failure {
  return new Failure({
    code: 'BP3012',
    what: 'the live objects were not read',
    why: 'the pull request comes from a fork, whose author could name any object',
    remedy: 'review it, and push the commits to a branch of the repository',
    retry: 'on-change',
  })
}
