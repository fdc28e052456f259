import type { ClusterIdentity, ClusterReader } from '@backporch/cluster/cluster'
import type { Forge } from '@backporch/forge/hosted-forge'
import type { PackageRepository } from '@backporch/git-store/package-repository'
import type { FoundPackage } from '@backporch/kpt/package'
import { convertToFailure, Failure, listFailures } from '@backporch/kyaml/failure'
import type { Note } from '@backporch/kyaml/note'
import { describeResourceId, type ResourceId } from '@backporch/kyaml/resource'
import type { ObjectVerdict } from '../../drift/compare/drift.ts'
import type { Observation } from '../../plan/observation/observation.ts'
import type { ObservedUnit } from '../../plan/turn/turn-observation.ts'
import { listOverruledAnnotations } from '../../policy/package-annotations.ts'
import { RECORDS_FOLDER } from '../../record/record-paths.ts'
import type { PackageRenderer } from '../../sources/kpt/render/package-renderer.ts'
import { createCopiedConditionNotes } from '../repository/copied-condition.ts'
import { mapConcurrent } from '../repository/each-of.ts'
import { splitIntoBatches } from '../repository/package-batches.ts'
import { selectByLabels } from '../repository/package-labels.ts'
import { readProposals } from '../repository/read-proposals.ts'
import {
  listClusterPackages,
  type RepositoryView,
  readAhead,
  readRepository,
} from '../repository/repository-view.ts'
import { chooseUnits } from './choose-units.ts'
import { DeclaredObjects } from './declared-objects.ts'
import { type LoadedPackage, loadPackage } from './load-package.ts'
import { formatPresentTime, observe } from './observe.ts'
import { OwnResources } from './own-resources.ts'
import { type DeclaredFrom, readSides } from './read-sides.ts'
import { readUnmanaged, type UnmanagedObjects } from './read-unmanaged.ts'
import { assertSameCluster } from './same-cluster.ts'
import { TurnCache } from './turn-cache.ts'
import type { ObserveRequest } from './turn-request.ts'

const WIDTH = 4

export interface ObservedCluster {
  readonly cluster: string
  readonly identity: ClusterIdentity
  readonly units: readonly ObservedUnit[]
  readonly unmanaged: UnmanagedObjects | undefined
}

/** @throws Failure BP40xx, BP50xx or BP1003, BP1005 when the repository or the forge cannot be read */
export async function observeRepository(
  { repository, forge }: { readonly repository: PackageRepository; readonly forge: Forge },
  request: ObserveRequest,
  signal: AbortSignal,
): Promise<RepositoryView> {
  const { units, git, policy } = request
  request.onProgress?.('reading the repository')
  for (let attempt = 1; ; attempt += 1) {
    const view = await readRepository(repository, git.branch, signal, {
      ...units,
      ...git,
      operator: policy.operator,
      goodPolicies: request.between?.goodPolicies,
    })
    const proposals = await readProposals(view, forge, formatPresentTime(request.clock), signal)
    if (attempt === ATTEMPTS || !(await isPast(view, proposals, signal)))
      return { ...view, proposals }
  }
}

async function isPast(
  view: RepositoryView,
  proposals: RepositoryView['proposals'],
  signal: AbortSignal,
): Promise<boolean> {
  const merged = [...proposals.values()].some(
    ({ state, ref }) => state === 'merged' && view.refs.has(ref),
  )
  return (
    merged &&
    (await view.repository.listRefs(signal)).refs.get(`refs/heads/${view.baseBranch}`) !== view.base
  )
}

/** @throws Failure when nothing of the cluster can be observed; not for one package */
export async function observeCluster(
  view: RepositoryView,
  cluster: ClusterReader,
  request: ObserveRequest,
  signal: AbortSignal,
): Promise<ObservedCluster> {
  const named = await chooseUnits(view, cluster.name, request.units, signal)
  const { labels } = request.units
  const packages = labels === undefined ? named : await selectByLabels(view, named, labels, signal)
  request.onProgress?.(`observing ${cluster.name}`)
  const identity = await cluster.identify(signal)
  await assertSameCluster(view, cluster.name, identity, signal)
  const own = new OwnResources(cluster)
  const declared = createDeclaredObjects(
    view,
    { cluster: cluster.name, identity, named },
    request.renderer,
    signal,
  )
  const units = await observeBatches(
    packages,
    { view, reader: cluster, identity, own, declared },
    request,
    signal,
  )
  if (request.cluster.unmanaged !== true)
    return { cluster: cluster.name, identity, units, unmanaged: undefined }
  request.onProgress?.(`looking for unmanaged objects in ${cluster.name}`)
  const observed = units.flatMap((unit) =>
    unit.state === 'observed' ? unit.observation.verdicts.flatMap(listCoveredIds) : [],
  )
  return {
    cluster: cluster.name,
    identity,
    units,
    unmanaged: await readUnmanaged(cluster, observed, declared, signal),
  }
}

function getUnitPath(unit: ObservedUnit): string {
  return unit.state === 'observed' ? unit.observation.unit.packagePath : unit.packagePath
}

async function observeBatches(
  packages: readonly FoundPackage[],
  from: Omit<Location, 'onDone'>,
  request: ObserveRequest,
  signal: AbortSignal,
): Promise<readonly ObservedUnit[]> {
  const cluster = from.reader.name
  const marks = request.between?.marks
  const { batches, refused } = splitIntoBatches(packages, { view: from.view, cluster, marks })
  const units = new Map<string, ObservedUnit>()
  for (const [{ path: packagePath }, failure] of refused)
    units.set(packagePath, { state: 'failed', cluster, packagePath, failures: [failure] })
  for (const { packages: some, keys } of batches) {
    const first = units.size
    const onDone = (done: number): void =>
      request.onProgress?.(`observing ${cluster}: ${first + done}/${packages.length} packages`)
    await readAhead(from.view, some, [`${RECORDS_FOLDER}/${cluster}`], signal)
    await marks?.begin(keys)
    try {
      for (const unit of await observeTogether(some, { ...from, onDone }, request, signal))
        units.set(getUnitPath(unit), unit)
    } finally {
      await marks?.end(keys)
    }
  }
  return packages.flatMap(({ path }) => units.get(path) ?? [])
}

/** A neighbour may belong to another tenant. */
function listCoveredIds({ id, state, notSettled }: ObjectVerdict): readonly ResourceId[] {
  return state === 'outside' || notSettled !== undefined ? [] : [id]
}

interface Location extends DeclaredFrom {
  readonly onDone: (done: number) => void
}

async function observeTogether(
  packages: readonly FoundPackage[],
  { onDone, declared, ...from }: Location,
  request: ObserveRequest,
  signal: AbortSignal,
): Promise<readonly ObservedUnit[]> {
  const units = new Map<FoundPackage, ObservedUnit>()
  const orFailed = async <Answer>(
    found: FoundPackage,
    work: () => Promise<Answer>,
  ): Promise<Answer | undefined> => {
    try {
      return await work()
    } catch (thrown) {
      units.set(found, {
        state: 'failed',
        cluster: from.reader.name,
        packagePath: found.path,
        failures: listFailures(thrown),
      })
      return undefined
    }
  }
  const loads = await mapConcurrent(packages, WIDTH, (found) =>
    orFailed(found, async () => ({
      found,
      ...(await loadPackage(
        from.view,
        found,
        { cluster: from.reader.name, identity: from.identity, renderer: request.renderer },
        signal,
      )),
    })),
  )
  const loaded = loads.filter((load) => load !== undefined)
  const sides = await readSides(
    loaded,
    { ...from, declared },
    request.between ?? new TurnCache(),
    signal,
  )
  onDone(units.size)
  await mapConcurrent(sides, WIDTH, async (side) => {
    const { loaded: load } = side
    await orFailed(load.found, async () => {
      const observation = await observe(from, side, request, signal)
      const notes = [
        ...load.desired.notes,
        ...createPackageNotes(load.found, load, observation),
        ...createCopiedConditionNotes(load.found.path, load.files.files, from.view),
        ...listObjectNotes(observation),
        ...(observation.notes ?? []),
      ]
      units.set(load.found, { state: 'observed', observation, notes })
    })
    onDone(units.size)
  })
  return packages.flatMap((found) => units.get(found) ?? [])
}

/**
 * Whatever packages the cluster has.
 * @throws Failure when the cluster cannot be identified
 */
export async function readUnmanagedIn(
  { view, reader }: { readonly view: RepositoryView; readonly reader: ClusterReader },
  place: string,
  renderer: PackageRenderer,
  signal: AbortSignal,
): Promise<UnmanagedObjects> {
  const identity = await reader.identify(signal)
  const declared = createDeclaredObjects(
    view,
    { cluster: reader.name, identity, named: view.packages },
    renderer,
    signal,
  )
  return readUnmanaged(
    reader,
    [{ group: '', kind: 'Namespace', namespace: '', name: place }],
    declared,
    signal,
  )
}

function createDeclaredObjects(
  view: RepositoryView,
  {
    cluster,
    identity,
    named,
  }: {
    readonly cluster: string
    readonly identity: ClusterIdentity
    readonly named: readonly FoundPackage[]
  },
  renderer: PackageRenderer,
  signal: AbortSignal,
): DeclaredObjects {
  const packages = new Map(
    [...listClusterPackages(view, cluster), ...named].map((found) => [found.path, found]),
  )
  const load = async (path: string): Promise<readonly ResourceId[]> => {
    const found = packages.get(path)
    if (found === undefined) return []
    const { desired } = await loadPackage(view, found, { cluster, identity, renderer }, signal)
    return desired.resources.map(({ id }) => id)
  }
  return new DeclaredObjects([...packages.keys()], load, identity.namespace)
}

const ATTEMPTS = 5

/**
 * Runs again if a ref moved meanwhile.
 * @throws Failure BP2006 after the fifth time
 */
export async function retryWithFreshRefs<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (thrown) {
      const failure = convertToFailure(thrown)
      if (failure.code !== 'BP4003') throw thrown
      if (attempt === ATTEMPTS) throw keepsMoving(failure)
    }
  }
}

function createPackageNotes(
  { rootPackage }: FoundPackage,
  { unit, annotations }: LoadedPackage,
  { policy }: Observation,
): Note[] {
  const notes: Note[] = annotations.problems.map((text) => ({
    cause: 'annotation-not-valid',
    subject: '',
    text,
  }))
  for (const text of listOverruledAnnotations(policy, annotations))
    notes.push({ cause: 'annotation-overruled', subject: '', text })
  if (rootPackage)
    notes.push({
      cause: 'package-is-repository',
      subject: '',
      text: `the repository itself is the package ${unit.packageName}: it works here, and a Porch server cannot list it (give the package a folder for that)`,
    })
  return notes
}

function keepsMoving(failure: Failure): Failure {
  return new Failure({
    code: 'BP2006',
    what: 'the repository kept moving while the turn was written',
    ...(failure.where === undefined ? {} : { where: failure.where }),
    why: `${ATTEMPTS} times a ref was moved by somebody else between reading and pushing`,
    remedy: 'run again when the branch is quiet; nothing was written',
    retry: 'backoff',
    cause: failure,
  })
}

function listObjectNotes({ verdicts }: Observation): Note[] {
  return verdicts.flatMap(({ id, desired, notes = [] }) => {
    const location =
      desired === undefined ? '' : `${desired.location.path}:${desired.location.line}: `
    return notes.map((note) => ({ ...note, subject: `${location}${describeResourceId(id)}` }))
  })
}
