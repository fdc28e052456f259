/**
 * The whole turn of design §2, which the command line, the controller and every dry run are: observe, plan, apply. A ref
 * that moved between reading and pushing makes it read and plan again, at most five times; nothing is ever forced.
 */
import { asFailure, Failure, failuresOf } from '../failure.ts'
import type { LabelSelector } from '../krm/label-selector.ts'
import { type FoundPackage, selectPackages } from '../package/find-packages.ts'
import { assertOwnBase, otherBaseNotes } from '../plan/base-branch.ts'
import type { Observation, Wish } from '../plan/observation.ts'
import { planReconcile } from '../plan/plan-reconcile.ts'
import { selectChanges } from '../plan/select-changes.ts'
import { placedPackages } from '../policy/effective-policy.ts'
import type { ClusterIdentity, ClusterReader } from '../ports/cluster.ts'
import type { Forge, OpenedProposal } from '../ports/hosted-forge.ts'
import type { PackageRepository, RefUpdate } from '../ports/package-repository.ts'
import { eachOf } from './each-of.ts'
import { type LoadedPackage, loadPackage, type ObserveOptions, observe } from './observe.ts'
import { selectByLabels } from './package-labels.ts'
import { readProposals } from './read-proposals.ts'
import { type RepositoryView, readRepository } from './repository-view.ts'
import { assertSameCluster } from './same-cluster.ts'
import { ensureProposals, tellOutcomes } from './tell-forge.ts'
import type { UnitResult } from './unit-result.ts'
import { writeTurn } from './write-turn.ts'

export interface TurnPorts {
  readonly repository: PackageRepository
  readonly cluster: ClusterReader
  readonly forge: Forge
}

export interface TurnRequest extends ObserveOptions {
  /** Base branch, short; undefined takes the remote's default. */
  readonly branch: string | undefined
  /** Packages as named on the command line; none means the placed ones, or all. */
  readonly packages: readonly string[]
  /** Of these packages, only the ones whose Kptfile has such labels. */
  readonly labels?: LabelSelector | undefined
  readonly wish: WishRequest | undefined
  /** Version of backporch, for the texts of proposals. */
  readonly version: string
  /** Plans and writes nothing. */
  readonly dryRun: boolean
  /** Told at each step, for a progress line. */
  readonly onProgress?: (step: string) => void
}

export interface WishRequest {
  readonly resolution: Wish['resolution']
  readonly selectors: readonly string[]
  readonly message: string | undefined
}

export interface TurnResult {
  readonly view: RepositoryView
  readonly identity: ClusterIdentity
  readonly units: readonly UnitResult[]
  /** What was pushed; empty in a dry run and when nothing was new. */
  readonly updates: readonly RefUpdate[]
  /** What the forge calls the open proposals, by branch. */
  readonly proposals: ReadonlyMap<string, OpenedProposal>
}

const ATTEMPTS = 5
/** Units read at once. */
const WIDTH = 4

/** @throws Failure when nothing at all could be done; failures of one package are in its result */
export async function runTurn(ports: TurnPorts, request: TurnRequest, signal: AbortSignal): Promise<TurnResult> {
  return withFreshRefs(async () => {
    const seen = await observeUnits(ports, request, signal)
    const begun = new Set<string>()
    const planned = seen.units.map((unit) => planUnit(unit, request, begun))
    if (request.dryRun) return { ...seen, units: planned, updates: [], proposals: new Map() }
    request.onProgress?.('writing')
    const ledger = { head: seen.view.ledger, cluster: ports.cluster.name, at: seen.identity.observedAt }
    await tellOutcomes(ports.forge, seen.view, planned, signal)
    const { units, updates } = await writeTurn(ports.repository, planned, ledger, signal)
    const proposals = await ensureProposals(ports.forge, seen.view, units, updates, request.version, signal)
    return { ...seen, units, updates, proposals }
  })
}

/** Runs again while a ref moved under it. @throws Failure BP2006 after the fifth time */
export async function withFreshRefs<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (thrown) {
      const failure = asFailure(thrown)
      if (failure.code !== 'BP4003') throw thrown
      if (attempt === ATTEMPTS) throw keepsMoving(failure)
    }
  }
}

export type ObservedUnit =
  | { readonly state: 'observed'; readonly observation: Observation; readonly notes: readonly string[] }
  | (UnitResult & { readonly state: 'failed' })

export interface ObservedUnits {
  readonly view: RepositoryView
  readonly identity: ClusterIdentity
  readonly units: readonly ObservedUnit[]
}

export async function observeUnits(ports: TurnPorts, request: TurnRequest, signal: AbortSignal): Promise<ObservedUnits> {
  request.onProgress?.('reading the repository')
  const read = await readRepository(ports.repository, request.branch, signal)
  const view = { ...read, proposals: await readProposals(read, ports.forge, signal) }
  const named = choosePackages(view, ports.cluster.name, request.packages)
  const packages = request.labels === undefined ? named : await selectByLabels(view, named, request.labels, signal)
  request.onProgress?.(`observing ${ports.cluster.name}`)
  const identity = await ports.cluster.identify(signal)
  await assertSameCluster(view, ports.cluster.name, identity, signal)
  let done = 0
  const units = await eachOf(packages, WIDTH, async (found): Promise<ObservedUnit> => {
    try {
      const loaded = await loadPackage(view, found, ports.cluster.name, signal)
      const observation = await observe(view, loaded, ports.cluster, identity, request, signal)
      return { state: 'observed', observation, notes: [...loaded.desired.notes, ...packageNotes(found, loaded)] }
    } catch (thrown) {
      return { state: 'failed', packagePath: found.path, failures: failuresOf(thrown) }
    } finally {
      done += 1
      request.onProgress?.(`observing ${ports.cluster.name}: ${done}/${packages.length} packages`)
    }
  })
  return { view, identity, units }
}

/** `begun` gets the id of the unit's episode: another unit of the turn takes another one. */
function planUnit(unit: ObservedUnit, { wish, dryRun }: TurnRequest, begun: Set<string>): UnitResult {
  if (unit.state === 'failed') return unit
  const { observation, notes } = unit
  try {
    if (!dryRun) assertOwnBase(observation)
    const plan = planReconcile(observation, wish === undefined ? undefined : wishFor(observation, wish), begun)
    if (plan.record !== undefined) begun.add(plan.record.spec.episode)
    return { state: 'planned', unit: observation.unit, observation, plan, notes: [...notes, ...otherBaseNotes(observation)] }
  } catch (thrown) {
    return { state: 'failed', packagePath: observation.unit.packagePath, failures: failuresOf(thrown) }
  }
}

/** Selectors count the changes as a plain turn lists them. */
function wishFor(observation: Observation, wish: WishRequest): Wish {
  const { changes } = planReconcile(observation).report.spec
  return { resolution: wish.resolution, changes: selectChanges(wish.selectors, changes), message: wish.message }
}

function choosePackages(view: RepositoryView, cluster: string, names: readonly string[]): readonly FoundPackage[] {
  if (names.length > 0) return selectPackages(view.packages, names)
  const all = selectPackages(view.packages, [])
  const placed = placedPackages(
    view.policies,
    cluster,
    all.map(({ path }) => path),
  )
  if (placed === undefined) return all
  if (placed.length === 0) throw nothingPlaced(cluster)
  return all.filter(({ path }) => placed.includes(path))
}

/** A name that no placement knows is more likely a slip than a cluster without packages, and "no drift" would hide it. */
function nothingPlaced(cluster: string): Failure {
  return new Failure({
    code: 'BP1011',
    what: `no placement puts a package into ${cluster}`,
    why: 'the repository has placements, and none of them matches this cluster and a package that is there',
    remedy: 'name the cluster as the placements do with --cluster, name packages on the command line, or add a placement',
    retry: 'on-change',
  })
}

function packageNotes({ rootPackage }: FoundPackage, { unit, desired }: LoadedPackage): string[] {
  const notes: string[] = []
  if (rootPackage)
    notes.push(
      `the repository itself is the package ${unit.packageName}: it works here, and a Porch server cannot list it (give the package a folder for that)`,
    )
  if (desired.pipeline === 'not-run')
    notes.push(`the pipeline of ${unit.packageName} was not run: its files are compared as they stand in git`)
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
