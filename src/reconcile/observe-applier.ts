/** Reads the resources of the syncers that the package's objects name, and says what they will do. Never fails the unit. */
import type { Unit } from '../plan/observation.ts'
import { type Applier, applierOf, decidingClaims } from '../status/applier.ts'
import { claimsOf } from '../status/applier-claims.ts'
import type { ClusterSide } from './observe-cluster.ts'
import type { OwnResources } from './own-resources.ts'

/**
 * Reads nothing where no object names a syncer.
 * @throws only the reason of `signal`
 */
export async function observeApplier(
  own: OwnResources,
  { live, verdicts, syncer }: Pick<ClusterSide, 'live' | 'verdicts' | 'syncer'>,
  { packagePath }: Pick<Unit, 'packagePath'>,
  pipeline: boolean,
  signal: AbortSignal,
): Promise<Applier> {
  const claims = claimsOf(live)
  const drifts = verdicts.flatMap(({ items }) => items)
  const answers = await own.read(decidingClaims({ claims, drifts }), signal)
  return applierOf({ claims, live, own: answers, drifts, syncer, packagePath, pipeline })
}
