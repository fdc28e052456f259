/** Reads everything that one turn of one unit needs; judges nothing. */
import type { ClusterIdentity, ClusterReader } from '@backporch/cluster/cluster'
import type { DesiredSet } from '@backporch/kpt/desired-set'
import type { Kptfile } from '@backporch/kpt/kptfile'
import {
  type FoundPackage,
  PACKAGE_FILE,
  packageSlug,
  ROOT_FOLDER,
  rootPackageName,
} from '@backporch/kpt/package'
import { Failure, Failures } from '@backporch/kyaml/failure'
import type { Note } from '@backporch/kyaml/note'
import { isSecret } from '@backporch/kyaml/redaction'
import { handedOver, resourceKey } from '@backporch/kyaml/resource'
import { given } from '@backporch/kyaml/text'
import type { Clock } from '@backporch/system/clock'
import type { SyncerManager } from '../../drift/compare/drift.ts'
import { isGoneByDesign } from '../../drift/compare/set-aside-gone.ts'
import { type OtherDeclaration, withOtherDeclarations } from '../../drift/detect/declared-twice.ts'
import type { GitState, Observation, Unit } from '../../plan/observation/observation.ts'
import { isWaiting } from '../../plan/observation/waiting-state.ts'
import { type Boundary, boundaryOf } from '../../policy/boundary.ts'
import { type EffectivePolicy, effectivePolicy } from '../../policy/effective-policy.ts'
import {
  type PackageAnnotations,
  policyOfPackage,
  readPackageAnnotations,
} from '../../policy/package-annotations.ts'
import type { Incomplete } from '../../record/documents/drift-report.ts'
import type { BuiltSource } from '../../sources/build/built-source.ts'
import { AS_FILES } from '../../sources/build/render-choice.ts'
import type { PackageRenderer } from '../../sources/kpt/render/package-renderer.ts'
import { NO_BUILDS } from '../../sources/programs/package-builder.ts'
import { appliedBy, choiceFor, describeChoice, sameChoice } from '../../sources/registry.ts'
import { computeStatus, NOT_FOUND, unknownStatus } from '../../status/kstatus.ts'
import type { GroupMember } from '../../status/resource-group.ts'
import { assertPlainFolder, holdsNothing } from '../repository/plain-folder.ts'
import { withUndone } from '../repository/read-undone.ts'
import { type RepositoryView, readFolder } from '../repository/repository-view.ts'
import { readGitState, type UnitFiles } from '../repository/sources/read-git-state.ts'
import { filesOfView, sharedWith } from '../repository/sources/shared-sources.ts'
import { renderUnit, unitTree } from '../repository/sources/unit-source.ts'
import { AdoptionAnswers } from './adoption-answers.ts'
import { BetweenTurns } from './between-turns.ts'
import { ObjectManifests } from './object-manifests.ts'
import { observeApplier, sourceClaims } from './observe-applier.ts'
import {
  type ClusterSide,
  followOthers,
  incompleteOf,
  observeCluster,
  type PackageSide,
  type ReadCluster,
} from './observe-cluster.ts'
import type { OwnResources } from './own-resources.ts'
import { type FailedPods, readFailedPods } from './read-failed-pods.ts'
import { readPlainValues } from './read-plain-values.ts'
import { setReleasedAside } from './released-fields.ts'
import type { ObserveRequest } from './turn-request.ts'

/** A package of the base branch, read and rendered. */
export interface LoadedPackage {
  readonly unit: Unit
  /** Undefined for a folder that is no package. */
  readonly kptfile: Kptfile | undefined
  readonly files: UnitFiles
  readonly desired: DesiredSet
  /** Files that could not be read: while there is one, no object can be called unexpected. */
  readonly unread: readonly string[]
  /** What another tool than kpt renders it from. */
  readonly source: BuiltSource | undefined
  /** The package's own settings about its drift. */
  readonly annotations: PackageAnnotations
  /** What placements allow it; undefined without a placement. */
  readonly boundary: Boundary | undefined
}

interface LoadedFor {
  readonly cluster: string
  /** What a chart may ask of the cluster. */
  readonly identity?: Partial<Pick<ClusterIdentity, 'version' | 'apiVersions'>>
  readonly renderer: PackageRenderer
}

/** @throws Failures BP11xx, all of them, when the package cannot be read */
export async function loadPackage(
  view: RepositoryView,
  found: FoundPackage,
  { cluster, identity = {}, renderer }: LoadedFor,
  signal: AbortSignal,
): Promise<LoadedPackage> {
  if (
    found.path === '' &&
    found.source === 'folder' &&
    view.packages.some(({ path }) => path === ROOT_FOLDER)
  )
    throw twoOfOneName()
  const read = await readFolder(view, found.path, signal)
  const { render, renderLocation } = effectivePolicy(view.policies, cluster, found.path)
  const choice = choiceFor(render, identity)
  if (found.source === 'folder' && renderLocation === undefined && sameChoice(choice, AS_FILES))
    assertPlainFolder(found, read.files)
  const own = { packagePath: found.path, files: read.files, choice }
  const { rendering, source, outside } = await renderUnit(filesOfView(view), renderer, own, signal)
  if ('failures' in rendering) throw new Failures(atPolicy(rendering.failures, renderLocation))
  if (found.source === 'folder' && rendering.desired.resources.length === 0)
    throw holdsNothing(found.path)
  const { desired, kptfile, unread } = rendering
  const files = { files: read.files, tree: unitTree(view.tree, found.path, outside), outside }
  const name = rootPackageName(kptfile?.name)
  const packageName = found.path === '' ? name : found.path
  const folder = found.path === '' ? '' : `${found.path}/`
  const texts = new Map([
    ...read.files.map(({ path, content }) => [folder + path, content] as const),
    ...[...(source?.files.values() ?? [])].map(({ path, content }) => [path, content] as const),
  ])
  const textOf = (path: string): string | undefined => {
    const content = texts.get(path)
    return content === undefined ? undefined : new TextDecoder().decode(content)
  }
  return {
    unit: {
      cluster,
      packagePath: found.path,
      packageName,
      slug: packageSlug(found.path, name),
      ...(found.source === 'folder' ? { source: found.source } : {}),
      ...appliedBy(choice),
    },
    boundary: boundaryOf(view.policies, cluster, found.path),
    kptfile,
    files,
    desired,
    unread,
    source,
    annotations: readPackageAnnotations(
      { path: folder + PACKAGE_FILE, annotations: kptfile?.annotations ?? NO_ANNOTATIONS },
      desired.resources,
      textOf,
    ),
  }
}

/** Both would have the same branches, tags, records and ledger files. */
function twoOfOneName(): Failure {
  return new Failure({
    code: 'BP4004',
    what: `the repository as a folder and the package ${ROOT_FOLDER} cannot both be compared`,
    where: '.',
    why: `the name of the repository as a folder is ${ROOT_FOLDER} too, so both would have the branches proposed/${ROOT_FOLDER}/drift-…`,
    remedy: `name the folders of the repository in place of ".", or rename the folder ${ROOT_FOLDER}`,
    retry: 'on-change',
  })
}

const NO_ANNOTATIONS: ReadonlyMap<string, string> = new Map()
const NO_FILES: BuiltSource['files'] = new Map()

/** The refusal of a program names the file that configures it. */
function atPolicy(
  [first, ...others]: Failures['failures'],
  location: string | undefined,
): Failures['failures'] {
  const placed = (failure: Failure): Failure => {
    if (failure.code !== 'BP1208' || location === undefined) return failure
    const { code, what, where, why, remedy, retry } = failure
    return new Failure({
      code,
      what,
      where: `${location}, for ${where ?? '.'}`,
      why,
      remedy,
      retry,
    })
  }
  return [placed(first), ...others.map(placed)]
}

/** The repository and the cluster, with what a turn reads once for all packages. */
export interface ObservedFrom extends ReadCluster {
  readonly view: RepositoryView
  readonly own: OwnResources
}

/** One package, loaded and read. */
export interface LoadedSide extends Pick<PackageSide, 'read' | 'unexpected' | 'known'> {
  readonly loaded: LoadedPackage
  /** What other units that are observed with it declare of its objects, by `resourceKey`. */
  readonly otherDeclarations: ReadonlyMap<string, readonly OtherDeclaration[]>
}

/** @throws Failure BP40xx when git fails */
export async function observe(
  { view, reader, identity, own }: ObservedFrom,
  { loaded, otherDeclarations, ...side }: LoadedSide,
  request: ObserveRequest,
  signal: AbortSignal,
): Promise<Observation> {
  const { unit, files, desired, annotations, source, boundary } = loaded
  const policy = policyOfPackage(
    effectivePolicy(view.policies, unit.cluster, unit.packagePath),
    annotations,
  )
  const { key, renderer, clock } = request
  const { fieldManager } = request.policy
  const effective = {
    ...policy,
    render: choiceFor(policy.render, identity),
    ...given({ fieldManager }),
  }
  const git = await readGitState(
    { view, unit },
    files,
    { bot: request.git.bot, writes: request.mode !== 'read' },
    signal,
  )
  const context = { view, renderer, choice: effective.render, namespace: identity.namespace }
  const of = { packagePath: unit.packagePath, outside: files.outside ?? [], desired }
  const between = request.between ?? new BetweenTurns()
  between.outside.set(unit.packagePath, of.outside)
  const history = () => between.histories.read(context, of, signal)
  const present = presentTime(clock)
  const notes: Note[] = []
  const { audit } = request.cluster
  const { render } = effective
  const { synced } = describeChoice(render)
  const claims = synced === undefined ? [] : sourceClaims(synced, [...side.read.live.keys()])
  const sources = {
    unit,
    git,
    history,
    own,
    claims,
    key,
    present,
    audit,
    onNote: (note: Note): void => void notes.push(note),
  }
  const outside = source?.files ?? NO_FILES
  const encrypted = {
    packagePath: unit.packagePath,
    resources: desired.resources,
    files: files.files,
    outside,
  }
  const decrypted = await readPlainValues(renderer, encrypted, signal)
  const rows = between.clusters.get(reader.name)?.ofUnit(unit.packagePath)
  const observed = await observeCluster(
    { reader, identity },
    { ...side, sources, earlier: between, rows, boundary, decrypted },
    effective,
    signal,
  )
  const cluster =
    otherDeclarations.size === 0 ? observed : withDeclaredTwice(observed, otherDeclarations)
  const pipeline = desired.pipeline === 'run'
  const applied = {
    packagePath: unit.packagePath,
    pipeline,
    render: effective.render,
    paths: files.files.map(({ path }) => path),
  }
  notes.push(...cluster.notes, ...(decrypted?.notes ?? []))
  const applier = await observeApplier(own, cluster, applied, signal)
  followOthers({ ...side, rows, sources }, desired.inventory)
  // Needed only for an edit of the files.
  const differs = cluster.verdicts.some(({ items }) => items.length > 0)
  const others =
    source === undefined || !differs ? [] : await sharedWith(view, source, effective.render, signal)
  const { known } = side
  const found = known.released.of(cluster.verdicts, [git.merged, key], () =>
    cluster.verdicts.map((verdict) => setReleasedAside(verdict, git.merged, key)),
  )
  const verdicts = between.lastDrift.unchanged(unitName(unit), found)
  const incomplete = [
    ...verdicts.flatMap(incompleteOf),
    ...cluster.incomplete,
    ...unreadManifests(loaded),
    ...unreadDecisions(git),
  ]
  const ids = verdicts.map(({ id }) => id)
  const { failed, notes: ofPods } = await readFailedPods(
    { reader, identity },
    ids,
    cluster.live,
    signal,
  )
  notes.push(...ofPods)
  const observation: Observation = {
    unit,
    cluster: identity,
    now: present,
    syncer: cluster.syncer,
    applier,
    verdicts,
    health: known.health.of(verdicts, [incomplete, dated(cluster), failed], () =>
      healthOf({ ...cluster, verdicts, incomplete }, failed),
    ),
    notHandedOver: known.notHandedOver.of(known, [cluster.syncer], () => notHandedOver(cluster)),
    inventory: desired.inventory,
    incomplete,
    pipeline,
    functions: renderer.library,
    ...(source === undefined
      ? {}
      : { built: { source, library: renderer.builder?.library ?? NO_BUILDS, others } }),
    ...librariesOf(reader, cluster.syncer, effective, between),
    git,
    proposals: view.proposals,
    policy: effective,
    boundary,
    key,
    ...(notes.length === 0 ? {} : { notes }),
  }
  // Only a turn that writes keeps what it finds.
  return request.mode === 'read'
    ? observation
    : withUndone(observation, { view, bot: request.git.bot }, signal)
}

function withDeclaredTwice(
  cluster: ClusterSide,
  others: LoadedSide['otherDeclarations'],
): ClusterSide {
  const verdicts = cluster.verdicts.map((verdict) =>
    withOtherDeclarations(verdict, others.get(resourceKey(verdict.id)) ?? [], cluster.syncer),
  )
  return { ...cluster, verdicts }
}

/** What the server is asked for once somebody adopts something. */
function librariesOf(
  reader: ClusterReader,
  syncer: SyncerManager | undefined,
  { fieldManager, presets }: EffectivePolicy,
  between: BetweenTurns,
): Pick<Observation, 'manifests' | 'adoptions'> {
  const manager = syncer?.manager ?? fieldManager ?? 'kubectl'
  return {
    manifests: new ObjectManifests(reader, { manager, syncer, presets }, between.manifests),
    adoptions: new AdoptionAnswers(reader, manager, between.adoptions),
  }
}

/** The key of a unit in the caches. */
export function unitName({ cluster, packagePath }: Pick<Unit, 'cluster' | 'packagePath'>): string {
  return `${cluster}/${packagePath}`
}

/** The health of a Pod depends on the time of the observation. */
function dated({ verdicts, identity }: ClusterSide): string {
  return verdicts.some(({ id }) => id.kind === 'Pod') ? identity.observedAt : ''
}

/** RFC 3339 UTC with seconds. */
export function presentTime(clock: Pick<Clock, 'now'>): string {
  return `${clock.now().toISOString().slice(0, 19)}Z`
}

function notHandedOver({ live, syncer }: ClusterSide): Set<string> {
  if (syncer === undefined) return new Set()
  return new Set(
    [...live].flatMap(([key, state]) =>
      state.state === 'present' && handedOver(state.object, syncer) !== undefined ? [key] : [],
    ),
  )
}

/** What a manifest declares that is not read is not compared. */
function unreadManifests({ unread }: LoadedPackage): Incomplete[] {
  return unread.map((path) => ({
    state: 'unverified',
    code: 'BP3012',
    why: `${path} may declare objects and is not read: it is a link, a submodule or a pointer of Git LFS`,
    remedy: 'replace it by the file itself, or leave it out of the package',
  }))
}

/** Unreadable records hide what was released or is being restored, so nothing is proven in sync. */
function unreadDecisions({ unreadable }: GitState): Incomplete[] {
  return unreadable
    .filter(({ location }) => location === 'base')
    .map(({ where, code, why }) => ({
      state: 'unverified',
      code,
      why: `${where}: ${why}`,
      remedy:
        'restore the file from the commit that wrote it, or read it with the version that wrote it',
    }))
}

/** By the same proofs as the report: an object is unverified where the report has it as not observed. */
function healthOf(
  { verdicts, live, identity, incomplete }: ClusterSide,
  failedByPods: FailedPods['failed'],
): GroupMember[] {
  const unproven = new Set(
    incomplete.flatMap(({ ref }) => (ref === undefined ? [] : [resourceKey(ref)])),
  )
  return verdicts.flatMap(({ id, desired, items, setAside }) => {
    if (desired === undefined || isGoneByDesign({ items, setAside })) return []
    const answer = live.get(resourceKey(id))
    const late = setAside.filter(({ state }) => isWaiting(state))
    const waits =
      late.length === 0
        ? 'in-sync'
        : late.some(({ stuckSince }) => stuckSince !== undefined)
          ? 'stuck'
          : 'waiting'
    const drift =
      items.length > 0 ? 'drifted' : unproven.has(resourceKey(id)) ? 'unverified' : waits
    const back = items.find(({ rolledBack }) => rolledBack !== undefined)?.rolledBack
    const to = back === undefined ? '' : `, rolled back to ${back.commit.slice(0, 7) || 'nothing'}`
    const message =
      items.length === 0
        ? ''
        : `${items.length} ${items.length === 1 ? 'difference' : 'differences'} to git${to}`
    // The health of a Secret does not depend on its content.
    const unread =
      answer === undefined ||
      answer.state === 'unreadable' ||
      (answer.state === 'present' && answer.metadataOnly && !isSecret(id))
    const { status, message: health } = unread
      ? unknownStatus('not read')
      : answer.state === 'absent'
        ? NOT_FOUND
        : (failedByPods.get(resourceKey(id)) ??
          computeStatus(answer.object, new Date(identity.observedAt)))
    return [{ id, status, drift, message, health } as const]
  })
}
