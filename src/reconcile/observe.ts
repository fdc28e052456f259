/** Reads everything that one turn of one unit needs; judges nothing. */
import { Failures } from '../failure.ts'
import { handedOver } from '../krm/hand-over.ts'
import type { RedactionKey } from '../krm/redacted.ts'
import { resourceKey } from '../krm/resource-id.ts'
import { type FoundPackage, packageSlug } from '../package/find-packages.ts'
import type { Kptfile } from '../package/kptfile.ts'
import type { GitState, Observation, Unit } from '../plan/observation.ts'
import { effectivePolicy } from '../policy/effective-policy.ts'
import type { ClusterIdentity, ClusterReader } from '../ports/cluster.ts'
import type { Incomplete } from '../record/schema.ts'
import type { DesiredSet } from '../render/desired-set.ts'
import { renderPackage } from '../render/render-package.ts'
import { computeStatus, NOT_FOUND, unknownStatus } from '../status/kstatus.ts'
import type { GroupMember } from '../status/resource-group.ts'
import type { BotIdentity } from './bot-identity.ts'
import { observeApplier } from './observe-applier.ts'
import { type ClusterSide, observeCluster } from './observe-cluster.ts'
import { readGitState, type UnitFiles } from './read-git-state.ts'
import type { LiveSide } from './read-live-sides.ts'
import { setReleasedAside } from './released-fields.ts'
import { type RepositoryView, readFolder } from './repository-view.ts'

export interface ObserveOptions {
  /** Field manager of the syncer given by hand; wins over policy and over what the objects say. */
  readonly fieldManager: string | undefined
  readonly key: RedactionKey
  readonly bot: BotIdentity
}

/** A package of the base branch, read and rendered. */
export interface LoadedPackage {
  readonly unit: Unit
  readonly kptfile: Kptfile
  readonly files: UnitFiles
  readonly desired: DesiredSet
  /** Files that could not be looked into: while there is one, no object can be called unexpected. */
  readonly unread: readonly string[]
}

/** @throws Failures BP11xx, all of them, when the package cannot be read */
export async function loadPackage(view: RepositoryView, found: FoundPackage, cluster: string, signal: AbortSignal): Promise<LoadedPackage> {
  const files = await readFolder(view, found.path, signal)
  const rendering = renderPackage(found.path, files.files)
  if ('failures' in rendering) throw new Failures(rendering.failures)
  const { desired, kptfile, unread } = rendering
  const packageName = found.path === '' ? kptfile.name : found.path
  return {
    unit: { cluster, packagePath: found.path, packageName, slug: packageSlug(found.path, kptfile.name) },
    kptfile,
    files,
    desired,
    unread,
  }
}

/** @throws Failure BP40xx when git fails */
export async function observe(
  view: RepositoryView,
  loaded: LoadedPackage,
  reader: ClusterReader,
  identity: ClusterIdentity,
  read: LiveSide,
  options: ObserveOptions,
  signal: AbortSignal,
): Promise<Observation> {
  const { unit, files, desired, unread } = loaded
  const policy = effectivePolicy(view.policies, unit.cluster, unit.packagePath)
  const effective = options.fieldManager === undefined ? policy : { ...policy, fieldManager: options.fieldManager }
  const git = await readGitState(view, unit, files, options.bot, signal)
  const cluster = await observeCluster(reader, identity, { unread, read }, effective, signal)
  const applier = await observeApplier(reader, cluster, unit, desired.pipeline === 'not-run', signal)
  const verdicts = cluster.verdicts.map((verdict) => setReleasedAside(verdict, git.merged, options.key))
  return {
    unit,
    cluster: identity,
    syncer: cluster.syncer,
    applier,
    verdicts,
    health: healthOf({ ...cluster, verdicts }),
    notHandedOver: notHandedOver(cluster),
    inventory: desired.inventory,
    incomplete: [...cluster.incomplete, ...unreadDecisions(git)],
    pipeline: desired.pipeline === 'not-run',
    git,
    proposals: view.proposals,
    policy: effective,
    key: options.key,
  }
}

function notHandedOver({ live, syncer }: ClusterSide): Set<string> {
  if (syncer === undefined) return new Set()
  return new Set(
    [...live].flatMap(([key, state]) => (state.state === 'present' && handedOver(state.object, syncer) !== undefined ? [key] : [])),
  )
}

/** Without its records nobody can say what was released or is being restored: what differs is shown, and nothing is proven. */
function unreadDecisions({ unreadable }: GitState): Incomplete[] {
  return unreadable
    .filter(({ place }) => place === 'base')
    .map(({ where, code, why }) => ({
      state: 'unverified',
      code,
      why: `${where}: ${why}`,
      remedy: 'restore the file from the commit that wrote it, or read it with the version that wrote it',
    }))
}

function healthOf({ verdicts, live, identity }: ClusterSide): GroupMember[] {
  return verdicts.flatMap(({ id, desired, state, items }) => {
    if (desired === undefined) return []
    const answer = live.get(resourceKey(id))
    const drift = items.length > 0 ? 'drifted' : state === 'in-sync' ? 'in-sync' : 'unverified'
    const message = items.length === 0 ? '' : items.length === 1 ? '1 difference to git' : `${items.length} differences to git`
    const unread = answer === undefined || answer.state === 'unreadable' || (answer.state === 'present' && answer.metadataOnly)
    const { status, message: health } = unread
      ? unknownStatus('not read')
      : answer.state === 'absent'
        ? NOT_FOUND
        : computeStatus(answer.object, new Date(identity.observedAt))
    return [{ id, status, drift, message, health } as const]
  })
}
