/**
 * Results of units from earlier turns. They hold while git and the cluster are unchanged for the
 * unit. An equal uid and resource version mean the same object, so its content is not cached,
 * except for what differs.
 */
import type { ClusterIdentity } from '@backporch/cluster/cluster'
import { getMetadataText, getResourceKey, type LiveState } from '@backporch/kyaml/resource'
import { LRUCache } from 'lru-cache'
import type { ObjectVerdict, SyncerManager } from '../../drift/compare/drift.ts'
import type { Coverage } from '../../policy/coverage.ts'
import type { GroupMember } from '../../status/resource-group.ts'
import type { Claim } from '../../syncers/syncer.ts'
import { LastAnswer } from './last-answer.ts'
import type { LiveSide } from './read-live-sides.ts'

export class CachedUnit {
  readonly claims = new LastAnswer<readonly Claim[]>()
  readonly syncer = new LastAnswer<SyncerManager | undefined>()
  readonly judged = new LastAnswer<readonly ObjectVerdict[]>()
  readonly visible = new LastAnswer<readonly ObjectVerdict[]>()
  readonly coverage = new LastAnswer<Coverage>()
  readonly covered = new LastAnswer<readonly ObjectVerdict[]>()
  readonly reported = new LastAnswer<readonly ObjectVerdict[]>()
  readonly released = new LastAnswer<readonly ObjectVerdict[]>()
  readonly health = new LastAnswer<readonly GroupMember[]>()
  readonly notHandedOver = new LastAnswer<ReadonlySet<string>>()
}

interface Retained {
  readonly parts: readonly unknown[]
  readonly known: CachedUnit
}

type Context = Pick<ClusterIdentity, 'uid' | 'version' | 'recorded'>

const MOST = 50_000

export class UnitCache {
  readonly #units: LRUCache<string, Retained>

  /** @param most objects; least recently used units are dropped first */
  constructor(most = MOST) {
    this.#units = new LRUCache({ maxSize: most })
  }

  get held(): number {
    return this.#units.calculatedSize
  }

  getUnit(
    unit: string,
    { uid, version, recorded }: Context,
    side: Pick<LiveSide, 'resources' | 'live'>,
  ): CachedUnit {
    // A person may have changed a recorded object without its version.
    const parts = [uid, version, ...(recorded ? [{}] : []), ...listParts(side)]
    const before = this.#units.get(unit)
    const isAsBefore =
      before !== undefined &&
      before.parts.length === parts.length &&
      parts.every((part, at) => part === before.parts[at])
    if (isAsBefore) return before.known
    const known = new CachedUnit()
    this.#units.set(unit, { parts, known }, { size: Math.max(1, side.resources.length) })
    return known
  }
}

function listParts({ resources, live }: Pick<LiveSide, 'resources' | 'live'>): readonly unknown[] {
  const parts: unknown[] = []
  for (const each of resources) {
    const { resource } = each
    if ('failure' in each) parts.push(resource, each.failure)
    else
      parts.push(resource, each.schema, ...getVersionParts(live.get(getResourceKey(resource.id))))
  }
  return parts
}

/** A state that cannot be identified again is never equal. */
function getVersionParts(state: LiveState | undefined): readonly unknown[] {
  if (state?.state === 'absent') return ['absent']
  if (state?.state !== 'present') return [{}]
  const uid = getMetadataText(state.object, 'uid') || undefined
  const version = getMetadataText(state.object, 'resourceVersion') || undefined
  return uid === undefined || version === undefined ? [{}] : [uid, version, state.metadataOnly]
}
