import type { ApprovedWrite, ClusterWriter } from '@backporch/cluster/cluster'
import { convertToFailure, Failure, listFailures } from '@backporch/kyaml/failure'
import type { SettleAction } from '../../plan/turn/turn-action.ts'
import type { PendingSettle } from '../../plan/unit/pending-settles.ts'
import {
  assertMayWrite,
  isHandOver,
  planSettle,
  settleTargets,
} from '../../plan/unit/plan-settle.ts'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import type { FleetPorts, TurnPorts, TurnRequest } from '../observe/turn-request.ts'
import { observeUnits } from './observe-turn.ts'

interface Settled {
  readonly writes: number
  readonly handedOver: number
}

export interface SettleOutcome {
  readonly settled: readonly { readonly pending: PendingSettle; readonly result: Settled }[]
  readonly unsettled: readonly Failure[]
}

export async function settleDecisions(
  { clusters, openWriter, ...ports }: FleetPorts,
  request: TurnRequest,
  { cluster: name, pending }: SettleAction,
  signal: AbortSignal,
): Promise<SettleOutcome> {
  const cluster = clusters.find((one) => one.name === name)
  if (cluster === undefined || openWriter === undefined)
    throw new TypeError('a decision is settled in a cluster that was opened')
  const settled: SettleOutcome['settled'][number][] = []
  const unsettled: Failure[] = []
  const orRetained = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work()
    } catch (thrown) {
      signal.throwIfAborted()
      unsettled.push(...listFailures(thrown))
    }
  }
  await orRetained(async () => {
    const { writer, close } = await openWriter(name)
    try {
      for (const one of pending) {
        const own = { ...request, units: { ...request.units, packages: [one.packagePath || '.'] } }
        await orRetained(async () => {
          settled.push({
            pending: one,
            result: await settleByWriting({ ...ports, cluster, writer }, own, one, signal),
          })
        })
      }
    } finally {
      close()
    }
  })
  return { settled, unsettled }
}

/**
 * `settle: backporch`. Observes again and writes exactly the approved items, one request each.
 * @throws Failure BP2005 when live changed since the review, BP3011 when the server refuses, BP3013
 * without a merged commit, BP3017 if the package does not cover an object of the record
 */
export async function settleByWriting(
  ports: TurnPorts & { readonly writer: ClusterWriter },
  request: TurnRequest,
  { record, commit }: Pick<PendingSettle, 'record' | 'commit'>,
  signal: AbortSignal,
): Promise<Settled> {
  const authorisation = { commit, episode: record.spec.episode }
  let handedOver = 0
  const sent = await writeEach(
    () => findNextWrite(ports, request, record, signal),
    async (next) => {
      await ports.writer.write(next, authorisation, signal)
      if (isHandOver(next)) handedOver += 1
    },
    3 * record.spec.changes.length + 1,
  )
  if (sent === undefined) throw keepsChanging(record, ports.cluster.name)
  return { writes: sent - handedOver, handedOver }
}

/** Controllers that write status change an object's version at any time. */
const REFUSALS = 20

/**
 * Each write gives its object a new version, so the next is planned on the present live state. A
 * write that meets a newer version is replanned; `next` throws if the approved fields changed.
 * @returns number of sent writes; undefined when `most` were sent and something was left to write,
 * which only a conflict with another writer can cause
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
      if (convertToFailure(thrown).code !== 'BP2005' || refused > REFUSALS) throw thrown
    }
  }
  return undefined
}

async function findNextWrite(
  ports: TurnPorts,
  request: TurnRequest,
  record: DriftRecord,
  signal: AbortSignal,
): Promise<ApprovedWrite | undefined> {
  const { units, view } = await observeUnits(ports, request, signal)
  const [unit] = units
  if (unit === undefined || unit.state === 'failed')
    throw unit?.failures[0] ?? createNotMergedFailure(view.base)
  const { git } = unit.observation
  const authorises = ({ metadata, spec }: DriftRecord): boolean =>
    spec.lifecycle === 'Proposed' &&
    metadata.name === record.metadata.name &&
    spec.fingerprint === record.spec.fingerprint
  // The copies in the base branch's record are the permanent ones.
  const merged = git.merged.find(authorises)
  if (merged === undefined) throw createNotMergedFailure(view.base)
  const live = await ports.cluster.readLive(settleTargets(unit.observation, merged), signal)
  const [write] = planSettle(unit.observation, merged, live)
  if (write !== undefined) assertMayWrite(unit.observation, write)
  return write
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

function createNotMergedFailure(commit: string): Failure {
  return new Failure({
    code: 'BP3013',
    what: 'nothing is written to the cluster',
    why: `the base branch at ${commit.slice(0, 7)} has no record of this decision`,
    remedy: 'approve the proposal first; only a merged commit authorises a write',
  })
}
