/** Writes what a turn planned for all of its units: in one push, or, where a rule refuses a ref, in one push per unit. */
import { asFailure, Failure } from '../../failure.ts'
import type { ClusterLedgerWrites } from '../../plan/ledger/cluster-writes.ts'
import { type GitWrites, isNothing, joinWrites, NO_WRITES } from '../../plan/turn/action.ts'
import type { UnitResult } from '../../plan/turn/unit-result.ts'
import type { RefUpdate } from '../../ports/package-repository.ts'
import { applyWrites, type CommitWriter, type LedgerTarget } from './apply-writes.ts'

export interface WrittenTurn {
  /** A unit whose own push was refused reports that; its plan is not in git. */
  readonly units: readonly UnitResult[]
  readonly updates: readonly RefUpdate[]
}

/** What a turn planned for its units, and for each cluster as a whole. */
interface PlannedWrites {
  readonly units: readonly UnitResult[]
  readonly clusters: readonly ClusterLedgerWrites[]
}

/**
 * A refused ref holds up its own unit only: the others are written one by one, each with its own commit of the ledger.
 * @throws Failure BP4003 when a ref moved since it was read, and whatever else concerns the repository and not one ref of it
 */
export async function writeTurn(
  repository: CommitWriter,
  { units, clusters }: PlannedWrites,
  { head: start, at, pushed }: Omit<LedgerTarget, 'cluster'>,
  signal: AbortSignal,
): Promise<WrittenTurn> {
  const writing = units.filter((unit) => unit.state === 'planned' && !isNothing(unit.plan.writes))
  try {
    const { cluster, parts } = ofClusters(writing, clusters)
    const { updates } = await applyWrites(repository, joinWrites(parts), { head: start, at, cluster, pushed }, signal)
    return { units, updates }
  } catch (thrown) {
    if (!isRefusal(thrown) || writing.length + clusters.length < 2) throw thrown
  }
  const updates: RefUpdate[] = []
  const refused = new Map<UnitResult, Failure>()
  let head = start
  for (const unit of writing) {
    if (unit.state === 'failed') continue
    try {
      const written = await applyWrites(repository, unit.plan.writes, { head, at, cluster: unit.unit.cluster, pushed }, signal)
      updates.push(...written.updates)
      head = written.ledger ?? head
    } catch (thrown) {
      if (!isRefusal(thrown)) throw thrown
      refused.set(unit, asFailure(thrown))
    }
  }
  // After the units, whose own words about the cluster are older.
  for (const { cluster, ...writes } of clusters) {
    // The observation of a cluster does not hold for what could not be written.
    if ([...refused.keys()].some((unit) => unit.state === 'planned' && unit.unit.cluster === cluster)) continue
    const written = await applyWrites(repository, { ...NO_WRITES, ...writes }, { head, at, cluster, pushed }, signal)
    updates.push(...written.updates)
    head = written.ledger ?? head
  }
  // Nothing could be written: that is one problem of the repository, not one of each unit.
  const [first] = refused.values()
  if (first !== undefined && refused.size === writing.length) throw first
  return { units: units.map((unit) => withRefusal(unit, refused.get(unit))), updates }
}

/** The names of the clusters in the message of the ledger's commit; with several of them, each line names its cluster. */
function ofClusters(
  units: readonly UnitResult[],
  whole: readonly ClusterLedgerWrites[],
): { readonly cluster: string; readonly parts: readonly GitWrites[] } {
  const all = [
    ...units.flatMap((unit) => (unit.state === 'planned' ? [{ cluster: unit.unit.cluster, writes: unit.plan.writes }] : [])),
    // Of two texts for one file the later one counts: that of the cluster knows of all its units.
    ...whole.map(({ cluster, ...writes }) => ({ cluster, writes: { ...NO_WRITES, ...writes } })),
  ]
  const clusters = [...new Set(all.map(({ cluster }) => cluster))]
  const [cluster = ''] = clusters
  if (clusters.length < 2) return { cluster, parts: all.map(({ writes }) => writes) }
  const parts = all.map(({ cluster: name, writes }) => ({ ...writes, ledgerLines: writes.ledgerLines.map((line) => `${name}/${line}`) }))
  return { cluster: `${clusters.length} clusters`, parts }
}

/** The remote, or our own rules of names, refused a ref. Everything else would go the same way for each unit. */
export function isRefusal(thrown: unknown): thrown is Failure {
  return thrown instanceof Failure && (thrown.code === 'BP4002' || thrown.code === 'BP4004')
}

function withRefusal(unit: UnitResult, refused: Failure | undefined): UnitResult {
  return refused === undefined || unit.state === 'failed' ? unit : { ...unit, refused }
}
