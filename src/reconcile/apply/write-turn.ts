/** Writes the plans of all units in one push, or in one push per unit if a rule refuses a ref. */
import { asFailure, Failure } from '../../failure.ts'
import type { DecidedUnit } from '../../plan/decisions/unobserved-decisions.ts'
import type { ClusterLedgerWrites } from '../../plan/ledger/cluster-writes.ts'
import { type GitWrites, isNothing, joinWrites, NO_WRITES } from '../../plan/turn/action.ts'
import type { PlannedResult, UnitResult } from '../../plan/turn/unit-result.ts'
import type { RefUpdate } from '../../ports/package-repository.ts'
import type { PushedBranch } from '../../record/pushed-branch.ts'
import { applyWrites, type CommitWriter, type LedgerTarget } from './apply-writes.ts'

interface WrittenTurn {
  /** A unit whose own push was refused reports that; its plan is not in git. */
  readonly units: readonly UnitResult[]
  readonly updates: readonly RefUpdate[]
  /** Head of the ledger after it. */
  readonly ledger: LedgerTarget['head']
  /** What the ledger has of the branches that moved, by full ref name. */
  readonly pushed: LedgerTarget['pushed']
  /** Why decisions about units that were not observed are not in git. */
  readonly refused: readonly Failure[]
}

/** What a turn planned for its units, and for each cluster as a whole. */
interface PlannedWrites {
  readonly units: readonly UnitResult[]
  readonly clusters: readonly ClusterLedgerWrites[]
  readonly decided: readonly DecidedUnit[]
}

/**
 * A refused ref affects its own unit only. The other units are then written one by one, each with a commit of the ledger.
 * @throws Failure BP4003 when a ref moved since it was read, and every failure that concerns the whole repository
 */
export async function writeTurn(
  repository: CommitWriter,
  { units, clusters, decided }: PlannedWrites,
  { head: start, at, pushed }: Omit<LedgerTarget, 'cluster'>,
  signal: AbortSignal,
): Promise<WrittenTurn> {
  const planned = units.flatMap((unit) => (unit.state === 'planned' ? [unit] : []))
  const writing = [...planned, ...decided].filter(({ plan }) => !isNothing(plan.writes))
  try {
    const { cluster, parts } = ofClusters(writing, clusters)
    const written = await applyWrites(repository, joinWrites(parts), { head: start, at, cluster, pushed }, signal)
    return { units, updates: written.updates, ledger: written.ledger ?? start, pushed: written.pushed, refused: [] }
  } catch (thrown) {
    if (!isRefusal(thrown) || writing.length + clusters.length < 2) throw thrown
  }
  const updates: RefUpdate[] = []
  const moved = new Map<string, PushedBranch>()
  const refused = new Map<DecidedUnit, Failure>()
  let head = start
  for (const unit of writing) {
    try {
      const written = await applyWrites(repository, unit.plan.writes, { head, at, cluster: unit.unit.cluster, pushed }, signal)
      updates.push(...written.updates)
      for (const [ref, branch] of written.pushed) moved.set(ref, branch)
      head = written.ledger ?? head
    } catch (thrown) {
      if (!isRefusal(thrown)) throw thrown
      refused.set(unit, asFailure(thrown))
    }
  }
  // Written after the units, whose observation of the cluster is older.
  for (const { cluster, ...writes } of clusters) {
    // The observation of the cluster does not apply to a unit that was not written.
    if ([...refused.keys()].some(({ unit }) => unit.cluster === cluster)) continue
    const written = await applyWrites(repository, { ...NO_WRITES, ...writes }, { head, at, cluster, pushed }, signal)
    updates.push(...written.updates)
    head = written.ledger ?? head
  }
  // If every unit is refused, the cause is the repository and not a unit.
  const [first] = refused.values()
  if (first !== undefined && refused.size === writing.length) throw first
  const lost = decided.flatMap((unit) => refused.get(unit) ?? [])
  return {
    units: units.map((unit) => (unit.state === 'failed' ? unit : withRefusal(unit, refused.get(unit)))),
    updates,
    ledger: head,
    pushed: moved,
    refused: lost,
  }
}

/** Cluster names for the message of the ledger commit. With several clusters each line names its own. */
function ofClusters(
  units: readonly DecidedUnit[],
  whole: readonly ClusterLedgerWrites[],
): { readonly cluster: string; readonly parts: readonly GitWrites[] } {
  const all = [
    ...units.map(({ unit, plan }) => ({ cluster: unit.cluster, writes: plan.writes })),
    // The later of two texts for one file counts. The text of the cluster covers all its units.
    ...whole.map(({ cluster, ...writes }) => ({ cluster, writes: { ...NO_WRITES, ...writes } })),
  ]
  const clusters = [...new Set(all.map(({ cluster }) => cluster))]
  const [cluster = ''] = clusters
  if (clusters.length < 2) return { cluster, parts: all.map(({ writes }) => writes) }
  const parts = all.map(({ cluster: name, writes }) => ({ ...writes, ledgerLines: writes.ledgerLines.map((line) => `${name}/${line}`) }))
  return { cluster: `${clusters.length} clusters`, parts }
}

/** The remote, or our own rules of names, refused a ref. Any other failure would be the same for every unit. */
export function isRefusal(thrown: unknown): thrown is Failure {
  return thrown instanceof Failure && (thrown.code === 'BP4002' || thrown.code === 'BP4004')
}

function withRefusal(unit: PlannedResult, refused: Failure | undefined): PlannedResult {
  return refused === undefined ? unit : { ...unit, refused }
}
