/** Reads the resources of the syncers that the package's objects name, and says what they will do. Never fails the unit. */
import type { Unit } from '../plan/observation.ts'
import type { RenderChoice } from '../render/render-choice.ts'
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
  { packagePath, render }: Pick<Unit, 'packagePath'> & { readonly render?: RenderChoice },
  pipeline: boolean,
  signal: AbortSignal,
): Promise<Applier> {
  const claims = claimsOf(live)
  const drifts = verdicts.flatMap(({ items }) => items)
  const answers = await own.read(decidingClaims({ claims, drifts }), signal)
  return applierOf({
    claims,
    live,
    own: answers,
    drifts,
    syncer,
    packagePath,
    pipeline,
    files: filesOf(verdicts),
    ...(render === undefined ? {} : { render }),
  })
}

/** Undefined where a function makes one of the objects: then it is in a file only once somebody has rendered. */
function filesOf(verdicts: ClusterSide['verdicts']): readonly string[] | undefined {
  const locations = verdicts.flatMap(({ desired }) => desired?.location ?? [])
  return locations.some(({ step }) => step !== undefined) ? undefined : [...new Set(locations.map(({ path }) => path))].sort()
}
