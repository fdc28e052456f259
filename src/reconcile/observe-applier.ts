/** Reads the resources of the syncers that the package's objects name, and says what they will do. Never fails the unit. */
import { asFailure } from '../failure.ts'
import type { LiveView } from '../krm/live-view.ts'
import { resourceKey } from '../krm/resource-id.ts'
import type { Unit } from '../plan/observation.ts'
import type { ClusterReader } from '../ports/cluster.ts'
import { type Applier, applierOf, decidingClaims } from '../status/applier.ts'
import { claimsOf } from '../status/applier-claims.ts'
import type { ClusterSide } from './observe-cluster.ts'

/**
 * One `readLive` for all of them, and none where no object names any.
 * @throws only the reason of `signal`
 */
export async function observeApplier(
  reader: ClusterReader,
  { live, verdicts, syncer }: Pick<ClusterSide, 'live' | 'verdicts' | 'syncer'>,
  { packagePath }: Pick<Unit, 'packagePath'>,
  pipeline: boolean,
  signal: AbortSignal,
): Promise<Applier> {
  const claims = claimsOf(live)
  const drifts = verdicts.flatMap(({ items }) => items)
  const wanted = decidingClaims({ claims, drifts }).flatMap((claim) => claim.wanted)
  let own: LiveView = new Map()
  if (wanted.length > 0) {
    try {
      own = await reader.readLive(wanted, signal)
    } catch (thrown) {
      signal.throwIfAborted()
      const failure = asFailure(thrown)
      own = new Map(wanted.map(({ id }) => [resourceKey(id), { state: 'unreadable', failure }]))
    }
  }
  return applierOf({ claims, live, own, drifts, syncer, packagePath, pipeline })
}
