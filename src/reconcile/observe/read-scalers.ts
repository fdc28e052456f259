import type { ClusterIdentity, ClusterReader } from '@backporch/cluster/cluster'
import { convertToFailure } from '@backporch/kyaml/failure'
import type { ObjectVerdict } from '../../drift/compare/drift.ts'
import { listWantedScalers } from '../../drift/noise/autoscaling.ts'
import {
  readScaler,
  SCALER_KINDS,
  type Scaler,
  type Scalers,
  type ScalerTool,
} from '../../drift/noise/scaler.ts'

interface KindRead {
  readonly scalers: readonly Scaler[]
  readonly unread: string | undefined
}

/** One identity is one observation of a cluster. */
const READ = new WeakMap<ClusterIdentity, Map<ScalerTool, Promise<KindRead>>>()

/**
 * Even if no preset ignores them, because the plan depends on the field's owner.
 * @throws only the reason of `signal`
 */
export async function readScalers(
  reader: ClusterReader,
  identity: ClusterIdentity,
  verdicts: readonly ObjectVerdict[],
  signal: AbortSignal,
): Promise<Scalers> {
  const wanted = new Set(
    verdicts.flatMap(({ items }) => items.flatMap((item) => listWantedScalers(item))),
  )
  const known = READ.get(identity) ?? new Map<ScalerTool, Promise<KindRead>>()
  READ.set(identity, known)
  const all: Scaler[] = []
  const unread = new Map<ScalerTool, string>()
  for (const [group, kind, tool] of SCALER_KINDS) {
    if (!wanted.has(tool)) continue
    const requested = known.get(tool) ?? readKind(reader, group, kind, signal)
    known.set(tool, requested)
    const read = await requested
    all.push(...read.scalers)
    if (read.unread !== undefined) unread.set(tool, read.unread)
  }
  return { all, unread }
}

/** An unserved kind has no objects; any other error is not absence. */
async function readKind(
  reader: ClusterReader,
  group: string,
  kind: string,
  signal: AbortSignal,
): Promise<KindRead> {
  try {
    const { objects, complete } = await reader.list(group, kind, signal)
    const scalers = objects
      .map((object) => readScaler(object))
      .filter((scaler) => scaler !== undefined)
    return {
      scalers,
      unread: complete ? undefined : 'the recording does not say that it has all of them',
    }
  } catch (thrown) {
    signal.throwIfAborted()
    const { code, why } = convertToFailure(thrown)
    return { scalers: [], unread: code === 'BP3009' ? undefined : why }
  }
}
