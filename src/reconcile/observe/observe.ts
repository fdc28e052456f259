import type { ClusterReader } from '@backporch/cluster/cluster'
import type { Note } from '@backporch/kyaml/note'
import { isSecret } from '@backporch/kyaml/redaction'
import { getResourceKey, handOverFields } from '@backporch/kyaml/resource'
import { omitUndefined } from '@backporch/kyaml/text'
import type { Clock } from '@backporch/system/clock'
import type { SyncerManager } from '../../drift/compare/drift.ts'
import { isGoneByDesign } from '../../drift/compare/set-aside-gone.ts'
import { addOtherDeclarations, type OtherDeclaration } from '../../drift/detect/declared-twice.ts'
import type { GitState, Observation, Unit } from '../../plan/observation/observation.ts'
import { isWaiting } from '../../plan/observation/waiting-state.ts'
import { deriveEffectivePolicy, type EffectivePolicy } from '../../policy/effective-policy.ts'
import { applyPackageAnnotations } from '../../policy/package-annotations.ts'
import type { Incomplete } from '../../record/documents/drift-report.ts'
import type { BuiltSource } from '../../sources/build/built-source.ts'
import { NO_BUILDS } from '../../sources/programs/package-builder.ts'
import { adjustChoice, describeChoice } from '../../sources/registry.ts'
import { computeStatus, createUnknownStatus, NOT_FOUND } from '../../status/kstatus.ts'
import type { GroupMember } from '../../status/resource-group.ts'
import { addUndone } from '../repository/read-undone.ts'
import type { RepositoryView } from '../repository/repository-view.ts'
import { readGitState } from '../repository/sources/read-git-state.ts'
import { listSharingUnits } from '../repository/sources/shared-sources.ts'
import { AdoptionAnswers } from './adoption-answers.ts'
import type { LoadedPackage } from './load-package.ts'
import { ObjectManifests } from './object-manifests.ts'
import { listSourceClaims, observeApplier } from './observe-applier.ts'
import {
  type ClusterSide,
  followOthers,
  listVerdictIncomplete,
  observeCluster,
  type PackageSide,
  type ReadCluster,
} from './observe-cluster.ts'
import type { OwnResources } from './own-resources.ts'
import { type FailedPods, readFailedPods } from './read-failed-pods.ts'
import { readPlainValues } from './read-plain-values.ts'
import { setReleasedAside } from './released-fields.ts'
import { TurnCache } from './turn-cache.ts'
import type { ObserveRequest } from './turn-request.ts'

export interface ObservedFrom extends ReadCluster {
  readonly view: RepositoryView
  readonly own: OwnResources
}

export interface LoadedSide extends Pick<PackageSide, 'read' | 'unexpected' | 'known'> {
  readonly loaded: LoadedPackage
  /** By `getResourceKey`. */
  readonly otherDeclarations: ReadonlyMap<string, readonly OtherDeclaration[]>
}

const NO_FILES: BuiltSource['files'] = new Map()

/** @throws Failure BP40xx when git fails */
export async function observe(
  { view, reader, identity, own }: ObservedFrom,
  { loaded, otherDeclarations, ...side }: LoadedSide,
  request: ObserveRequest,
  signal: AbortSignal,
): Promise<Observation> {
  const { unit, files, desired, annotations, source, boundary } = loaded
  const policy = applyPackageAnnotations(
    deriveEffectivePolicy(view.policies, unit.cluster, unit.packagePath),
    annotations,
  )
  const { key, renderer, clock } = request
  const { fieldManager } = request.policy
  const effective = {
    ...policy,
    render: adjustChoice(policy.render, identity),
    ...omitUndefined({ fieldManager }),
  }
  const git = await readGitState(
    { view, unit },
    files,
    { bot: request.git.bot, writes: request.mode !== 'read' },
    signal,
  )
  const context = { view, renderer, choice: effective.render, namespace: identity.namespace }
  const of = { packagePath: unit.packagePath, outside: files.outside ?? [], desired }
  const between = request.between ?? new TurnCache()
  between.outside.set(unit.packagePath, of.outside)
  const history = () => between.histories.read(context, of, signal)
  const present = formatPresentTime(clock)
  const notes: Note[] = []
  const { audit } = request.cluster
  const { render } = effective
  const { synced } = describeChoice(render)
  const claims = synced === undefined ? [] : listSourceClaims(synced, [...side.read.live.keys()])
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
  const rows = between.clusters.get(reader.name)?.getUnitVerdicts(unit.packagePath)
  const observed = await observeCluster(
    { reader, identity },
    { ...side, sources, earlier: between, rows, boundary, decrypted },
    effective,
    signal,
  )
  const cluster =
    otherDeclarations.size === 0 ? observed : addDeclaredTwice(observed, otherDeclarations)
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
  const differs = cluster.verdicts.some(({ items }) => items.length > 0)
  const others =
    source === undefined || !differs
      ? []
      : await listSharingUnits(view, source, effective.render, signal)
  const { known } = side
  const found = known.released.getAnswer(cluster.verdicts, [git.merged, key], () =>
    cluster.verdicts.map((verdict) => setReleasedAside(verdict, git.merged, key)),
  )
  const verdicts = between.lastDrift.retainUnchanged(formatUnitName(unit), found)
  const incomplete = [
    ...verdicts.flatMap(listVerdictIncomplete),
    ...cluster.incomplete,
    ...listUnreadManifests(loaded),
    ...listUnreadDecisions(git),
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
    health: known.health.getAnswer(verdicts, [incomplete, getObservedDate(cluster), failed], () =>
      computeHealth({ ...cluster, verdicts, incomplete }, failed),
    ),
    notHandedOver: known.notHandedOver.getAnswer(known, [cluster.syncer], () =>
      listNotHandedOver(cluster),
    ),
    inventory: desired.inventory,
    incomplete,
    pipeline,
    functions: renderer.library,
    ...(source === undefined
      ? {}
      : {
          built: {
            source: {
              ...source,
              isTaken: (path: string) => view.tree.some((file) => file.path === path),
            },
            library: renderer.builder?.library ?? NO_BUILDS,
            others,
          },
        }),
    ...createLibraries(reader, cluster.syncer, effective, between),
    git,
    proposals: view.proposals,
    policy: effective,
    boundary,
    key,
    ...(notes.length === 0 ? {} : { notes }),
  }
  return request.mode === 'read'
    ? observation
    : addUndone(observation, { view, bot: request.git.bot }, signal)
}

function addDeclaredTwice(
  cluster: ClusterSide,
  others: LoadedSide['otherDeclarations'],
): ClusterSide {
  const verdicts = cluster.verdicts.map((verdict) =>
    addOtherDeclarations(verdict, others.get(getResourceKey(verdict.id)) ?? [], cluster.syncer),
  )
  return { ...cluster, verdicts }
}

function createLibraries(
  reader: ClusterReader,
  syncer: SyncerManager | undefined,
  { fieldManager, presets }: EffectivePolicy,
  between: TurnCache,
): Pick<Observation, 'manifests' | 'adoptions'> {
  const manager = syncer?.manager ?? fieldManager ?? 'kubectl'
  return {
    manifests: new ObjectManifests(reader, { manager, syncer, presets }, between.manifests),
    adoptions: new AdoptionAnswers(reader, manager, between.adoptions),
  }
}

export function formatUnitName({
  cluster,
  packagePath,
}: Pick<Unit, 'cluster' | 'packagePath'>): string {
  return `${cluster}/${packagePath}`
}

function getObservedDate({ verdicts, identity }: ClusterSide): string {
  return verdicts.some(({ id }) => id.kind === 'Pod') ? identity.observedAt : ''
}

export function formatPresentTime(clock: Pick<Clock, 'now'>): string {
  return `${clock.now().toISOString().slice(0, 19)}Z`
}

function listNotHandedOver({ live, syncer }: ClusterSide): Set<string> {
  if (syncer === undefined) return new Set()
  return new Set(
    [...live].flatMap(([key, state]) =>
      state.state === 'present' && handOverFields(state.object, syncer) !== undefined ? [key] : [],
    ),
  )
}

function listUnreadManifests({ unread }: LoadedPackage): Incomplete[] {
  return unread.map((path) => ({
    state: 'unverified',
    code: 'BP3012',
    why: `${path} may declare objects and is not read: it is a link, a submodule or a pointer of Git LFS`,
    remedy: 'replace it by the file itself, or leave it out of the package',
  }))
}

/** They hide what was released or is being restored, so nothing is proven in sync. */
function listUnreadDecisions({ unreadable }: GitState): Incomplete[] {
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

/** An object is unverified if the report has it as not observed. */
function computeHealth(
  { verdicts, live, identity, incomplete }: ClusterSide,
  failedByPods: FailedPods['failed'],
): GroupMember[] {
  const unproven = new Set(
    incomplete.flatMap(({ ref }) => (ref === undefined ? [] : [getResourceKey(ref)])),
  )
  return verdicts.flatMap(({ id, desired, items, setAside }) => {
    if (desired === undefined || isGoneByDesign({ items, setAside })) return []
    const answer = live.get(getResourceKey(id))
    const late = setAside.filter(({ state }) => isWaiting(state))
    const waits =
      late.length === 0
        ? 'in-sync'
        : late.some(({ stuckSince }) => stuckSince !== undefined)
          ? 'stuck'
          : 'waiting'
    const drift =
      items.length > 0 ? 'drifted' : unproven.has(getResourceKey(id)) ? 'unverified' : waits
    const back = items.find(({ rolledBack }) => rolledBack !== undefined)?.rolledBack
    const to = back === undefined ? '' : `, rolled back to ${back.commit.slice(0, 7) || 'nothing'}`
    const message =
      items.length === 0
        ? ''
        : `${items.length} ${items.length === 1 ? 'difference' : 'differences'} to git${to}`
    // A Secret's health does not depend on its content.
    const unread =
      answer === undefined ||
      answer.state === 'unreadable' ||
      (answer.state === 'present' && answer.metadataOnly && !isSecret(id))
    const { status, message: health } = unread
      ? createUnknownStatus('not read')
      : answer.state === 'absent'
        ? NOT_FOUND
        : (failedByPods.get(getResourceKey(id)) ??
          computeStatus(answer.object, new Date(identity.observedAt)))
    return [{ id, status, drift, message, health } as const]
  })
}
