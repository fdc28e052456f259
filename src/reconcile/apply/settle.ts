/** After the merge: write what the merged commit authorises, or watch until live agrees. Design §8, "Settle". */
import { asFailure, Failure } from '../../failure.ts'
import type { ObjectId } from '../../package/object-id.ts'
import { allChanges, applyingFingerprints, unverifiedMerges } from '../../plan/commands/pick-changes.ts'
import { assertMayWrite, isHandOver, planSettle, restoredObjects, settleTargets } from '../../plan/decisions/plan-settle.ts'
import type { Observation } from '../../plan/turn/observation.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ApprovedWrite, ClusterWriter } from '../../ports/cluster.ts'
import type { DriftRecord } from '../../record/schema.ts'
import { observeUnits, runTurn, type TurnResult } from '../run-turn.ts'
import type { TurnPorts, TurnRequest } from '../turn-request.ts'

/** Milliseconds between two looks. */
const LOOK_EVERY = 2_000

export interface Settled {
  /** Requests that changed a value, or removed something. */
  readonly writes: number
  /** Objects whose restored fields belong to the syncer again. */
  readonly handedOver: number
}

/**
 * `settle: backporch`. Observes once more and writes exactly the approved items, one request each.
 * @throws Failure BP2005 when live changed since the review, BP3011 when the server refuses, BP3013 without a merged commit, BP3017
 * where the package does not cover an object of the record
 */
export async function settleByWriting(
  ports: TurnPorts,
  writer: ClusterWriter,
  request: TurnRequest,
  { record, commit }: Pick<PendingSettle, 'record' | 'commit'>,
  signal: AbortSignal,
): Promise<Settled> {
  const authorisation = { commit, episode: record.spec.episode }
  let handedOver = 0
  const sent = await writeEach(
    () => nextWrite(ports, request, record, signal),
    async (next) => {
      await writer.write(next, authorisation, signal)
      if (isHandOver(next)) handedOver += 1
    },
    3 * record.spec.changes.length + 1,
  )
  if (sent === undefined) throw keepsChanging(record, ports.cluster.name)
  return { writes: sent - handedOver, handedOver }
}

/** Refused writes that are planned anew: a controller that writes status moves the version of an object as often as it likes. */
const REFUSALS = 20

/**
 * Each write gives its object a new version, so every one is planned on what is live then. A write that meets a newer version is
 * planned once more: a status moved it, or `next` finds that the approved fields changed, and throws.
 * @returns how many were sent; undefined when `most` were and there was still something to write, which only a fight can be
 */
export async function writeEach(
  next: () => Promise<ApprovedWrite | undefined>,
  write: (change: ApprovedWrite) => Promise<void>,
  most: number,
): Promise<number | undefined> {
  let refused = 0
  for (let sent = 0; sent < most; ) {
    const change = await next()
    if (change === undefined) return sent
    try {
      await write(change)
      sent += 1
    } catch (thrown) {
      refused += 1
      if (asFailure(thrown).code !== 'BP2005' || refused > REFUSALS) throw thrown
    }
  }
  return undefined
}

async function nextWrite(
  ports: TurnPorts,
  request: TurnRequest,
  record: DriftRecord,
  signal: AbortSignal,
): Promise<ApprovedWrite | undefined> {
  const { units, view } = await observeUnits(ports, request, signal)
  const [unit] = units
  if (unit === undefined || unit.state === 'failed') throw unit?.failures[0] ?? notMerged(view.base)
  const { git } = unit.observation
  // Authorised only by a commit that the base branch has: the record in its tree says so.
  const authorises = ({ metadata, spec }: DriftRecord): boolean =>
    spec.lifecycle === 'Proposed' && metadata.name === record.metadata.name && spec.fingerprint === record.spec.fingerprint
  // The one on the base branch, for its copies are the ones that stay.
  const merged = git.merged.find(authorises)
  if (merged === undefined) throw notMerged(view.base)
  const live = await ports.cluster.readLive(settleTargets(unit.observation, merged), signal)
  const [write] = planSettle(unit.observation, merged, live)
  if (write !== undefined) assertMayWrite(unit.observation, write)
  return write
}

/** A merged decision that backporch itself has to bring to the cluster, and that live was not seen to agree with yet. */
export interface PendingSettle {
  readonly packagePath: string
  readonly record: DriftRecord
  readonly commit: ObjectId
}

/** From what a turn read: also after a process ended between its merge and its write, or between that and the hand-over. */
export function pendingSettles({ units, view }: TurnResult): PendingSettle[] {
  return units.flatMap((unit) => {
    if (unit.state === 'failed') return []
    const { git, notHandedOver } = unit.observation
    const applying = stillApplying(unit.observation)
    const waiting = new Set(
      unverifiedMerges(git.ledger.closed).filter(({ spec }) => spec.changes.some(({ fingerprint }) => applying.has(fingerprint))),
    )
    const held = new Set(notHandedOver)
    return git.ledger.closed.flatMap((episode) => {
      const { spec, status } = episode
      // Who merged decided, and the syncer may apply it: but nobody reviewed that backporch writes it.
      if (status.outcome !== 'Merged' || status.altered !== undefined) return []
      const record = git.merged.find(({ metadata }) => metadata.name === `drift-${spec.episode}`)
      const commit = view.refs.get(`refs/tags/${unit.unit.packageName}/${status.revision}`)
      if (record === undefined || commit === undefined || record.spec.settle !== 'backporch') return []
      const restored = restoredObjects(record)
      const isHeld = [...restored].some((key) => held.has(key))
      if (restored.size === 0 || !(waiting.has(episode) || isHeld)) return []
      for (const key of restored) held.delete(key)
      return [{ packagePath: unit.unit.packagePath, record, commit }]
    })
  })
}

/** Fingerprints of what a merged decision is about and live still shows. */
function stillApplying({ verdicts, key, git }: Observation): ReadonlySet<string> {
  const applying = applyingFingerprints(git.ledger.closed)
  return new Set(allChanges(verdicts, key).flatMap(({ fingerprint }) => (applying.has(fingerprint) ? [fingerprint] : [])))
}

/**
 * Runs turns until the unit is no longer waiting for its merged decision.
 * @param timeout seconds
 * @throws Failure BP3014 when live does not agree in time
 */
export async function waitUntilSettled(
  ports: TurnPorts,
  request: TurnRequest,
  clock: Clock,
  timeout: number,
  signal: AbortSignal,
): Promise<TurnResult> {
  const deadline = clock.now().getTime() + timeout * 1000
  for (;;) {
    const turn = await runTurn(ports, request, signal)
    const [unit] = turn.units
    if (unit?.state === 'failed') throw unit.failures[0]
    // Other drift may be open meanwhile: the state of the unit says more than that.
    if (unit === undefined || stillApplying(unit.observation).size === 0) return turn
    if (clock.now().getTime() + LOOK_EVERY > deadline) throw notSettled(unit.unit.packageName, ports.cluster.name, timeout)
    request.onProgress?.(`waiting for ${ports.cluster.name} to agree with git`)
    await clock.sleep(LOOK_EVERY, signal)
  }
}

function keepsChanging(record: DriftRecord, cluster: string): Failure {
  return new Failure({
    code: 'BP2005',
    what: `${record.metadata.name} is not restored`,
    why: `somebody in ${cluster} changes the approved fields back as they are written`,
    remedy: 'find the other writer with backporch diff, then release the field or stop the writer',
    retry: 'on-change',
  })
}

function notMerged(commit: string): Failure {
  return new Failure({
    code: 'BP3013',
    what: 'nothing is written to the cluster',
    why: `the base branch at ${commit.slice(0, 7)} has no record of this decision`,
    remedy: 'approve the proposal first; only a merged commit authorises a write',
  })
}

function notSettled(name: string, cluster: string, timeout: number): Failure {
  return new Failure({
    code: 'BP3014',
    what: `${name} in ${cluster} does not agree with the merged decision`,
    why: `${timeout} s after the merge the approved changes are still live: nobody applied the package, or somebody changed it back`,
    remedy: `apply the package with its syncer, or set "settle: backporch" in the policy; then run backporch scan ${name}`,
    retry: 'backoff',
  })
}
