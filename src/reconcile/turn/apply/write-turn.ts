/** Pushes a turn. If a rule refuses a ref, the ledger and the other units are pushed without it. */
import { type RefUpdate, RefusedPush } from '@backporch/git-store/package-repository'
import { Failure } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'
import {
  type GitWrites,
  joinWrites,
  type LedgerFile,
  NO_WRITES,
  type PlannedCommit,
} from '../../../plan/observation/action.ts'
import type { ClusterLedgerWrites } from '../../../plan/turn/ledger/cluster-writes.ts'
import {
  formatRefusalName,
  groupUnits,
  type UnitGroup,
} from '../../../plan/turn/ledger/unit-groups.ts'
import { getActionKey, type UnitOutcomes } from '../../../plan/turn/pushed-units.ts'
import { createGitWrites } from '../../../plan/turn/text-commit.ts'
import type { ActionUnit, PushAction, PushedUnit } from '../../../plan/turn/turn-action.ts'
import type { PushedBranch } from '../../../record/pushed-branch.ts'
import type { ProposalTurns } from '../../observe/proposal-turns.ts'
import type { Refusal, RefusedRefs } from '../../observe/refused-refs.ts'
import type { Meanwhile } from '../../observe/turn-request.ts'
import { applyWrites, type CommitWriter, type LedgerTarget } from './apply-writes.ts'

interface WrittenTurn extends UnitOutcomes {
  readonly updates: readonly RefUpdate[]
  readonly ledger: LedgerTarget['head']
  /** What the ledger got. */
  readonly files: readonly LedgerFile[]
  readonly pushed: LedgerTarget['pushed']
  /** Left to the next turn: the ledger has their observation. */
  readonly postponed: readonly ActionUnit[]
  readonly undecided: readonly Failure[]
}

type PushingGroup = UnitGroup<PushingUnit>
type PushingUnit = Omit<PushedUnit, 'writes'> & { readonly writes: GitWrites }

interface TurnTarget extends Omit<LedgerTarget, 'cluster' | 'made'> {
  readonly refusedRefs: RefusedRefs
  readonly proposalTurns: ProposalTurns
  readonly meanwhile: Meanwhile | undefined
  readonly now: number
}

/**
 * Groups with refs in the ledger's push. Servers run hooks per ref. With more groups the ledger
 * goes first, because one more push costs little.
 */
const MOST_MOVING = 6
/** Per turn, to find refused refs. */
const MOST_PUSHES = 24
/** Pushes without what the server named. */
const MOST_NAMED = 3

/**
 * Each push contains the ledger of its moves, so the ledger never names an absent branch
 * (docs/adr/0075-refused-refs.md).
 * @throws Failure BP4003 when a ref moved since it was read, and every failure that concerns the
 * whole repository
 */
export async function writeTurn(
  repository: CommitWriter,
  planned: PushAction,
  target: TurnTarget,
  signal: AbortSignal,
): Promise<WrittenTurn> {
  return new TurnPush(repository, planned, target, signal).write()
}

class TurnPush {
  private readonly repository: CommitWriter
  private readonly planned: PushAction
  private readonly target: TurnTarget
  private readonly signal: AbortSignal
  private readonly units: readonly PushingUnit[]
  private readonly decided: readonly PushingUnit[]
  private readonly made = new Map<PlannedCommit, ObjectId>()
  private readonly updates: RefUpdate[] = []
  private readonly moved = new Map<string, PushedBranch>()
  private readonly refused = new Map<PushingUnit, Failure>()
  private readonly later = new Set<PushingUnit>()
  private readonly findings: (Refusal & { readonly moves: UnitGroup['moves'] })[] = []
  private head: LedgerTarget['head']
  private landed = 0
  private failed = 0
  private suspects = 0

  constructor(
    repository: CommitWriter,
    planned: PushAction,
    target: TurnTarget,
    signal: AbortSignal,
  ) {
    this.repository = repository
    this.planned = planned
    this.target = target
    this.signal = signal
    this.head = target.head
    const pushing = (unit: PushedUnit): PushingUnit => ({
      ...unit,
      writes: createGitWrites(unit.writes),
    })
    this.units = planned.units.map(pushing)
    this.decided = planned.decided.map(pushing)
  }

  async write(): Promise<WrittenTurn> {
    const { isDecision } = this.planned
    const writing = [...this.units, ...this.decided]
    const groups = groupUnits(writing)
    for (const group of groups) this.keepBack(group)
    const all = this.listMovingGroups(groups)
    if (!isDecision && all.length > MOST_MOVING && this.repository.limitsPushes !== true)
      await this.recordFirst(writing, all)
    const tried = all.filter(({ units: [unit] }) => unit !== undefined && !this.later.has(unit))
    try {
      await this.push(writing.filter((unit) => !this.refused.has(unit) && !this.later.has(unit)))
    } catch (thrown) {
      if (!isRefusal(thrown) || (isDecision && writing.length < 2)) throw thrown
      await this.retryWithoutRefused(writing, tried, thrown)
    }
    // If every unit of a decision about several is refused, the cause is the repository.
    const [first] = this.refused.values()
    if (isDecision && first !== undefined && this.refused.size === writing.length) throw first
    for (const { moves } of this.listMovingGroups(tried)) this.target.refusedRefs.remove(moves)
    const unmoved = this.units.filter((unit) => this.refused.has(unit) || this.later.has(unit))
    return {
      updates: mergeUpdates(this.updates),
      ledger: this.head,
      files: [
        ...[...this.units, ...this.decided].flatMap((unit) => this.getWrites(unit).ledger),
        ...this.planned.clusters.flatMap(({ ledger }) => ledger),
      ],
      pushed: this.moved,
      refused: new Map(
        unmoved.flatMap((unit) => {
          const why = this.refused.get(unit)
          return why === undefined ? [] : [[getActionKey(unit), why] as const]
        }),
      ),
      unmoved: new Set(unmoved.map(getActionKey)),
      postponed: unmoved.filter((unit) => this.later.has(unit)),
      undecided: this.decided.flatMap((unit) => this.refused.get(unit) ?? []),
    }
  }

  /** The next observation does not wait for many refs' hooks either, if another turn follows. */
  private async recordFirst(
    writing: readonly PushingUnit[],
    groups: readonly PushingGroup[],
  ): Promise<void> {
    const { proposalTurns, meanwhile } = this.target
    const moving = new Set(groups.flatMap(({ units }) => units))
    const still = writing.filter((unit) => !moving.has(unit) && !this.refused.has(unit))
    await this.push(still, [...moving])
    if (meanwhile?.hasChanged() !== true) return
    const waiting = proposalTurns.sortGroups(groups.filter(mayWait)).slice(MOST_MOVING)
    for (const { units } of waiting) for (const unit of units) this.later.add(unit)
  }

  /** Except for a deciding person, who gets the present answer. */
  private keepBack({ units, moves }: PushingGroup): void {
    const { refusedRefs, now } = this.target
    const waiting = this.planned.isDecision
      ? new Map<string, Failure>()
      : refusedRefs.listWaiting(now)
    const why = moves
      .map((move) => waiting.get(formatRefusalName(move)))
      .find((failure) => failure !== undefined)
    if (why !== undefined) for (const unit of units) this.refused.set(unit, why)
  }

  private listMovingGroups(groups: readonly PushingGroup[]): readonly PushingGroup[] {
    return groups.filter(
      ({ moves, units }) => moves.length > 0 && !units.some((unit) => this.refused.has(unit)),
    )
  }

  /**
   * The ledger comes first: no observation waits for the search, and if the ledger is refused
   * nothing else is pushed.
   */
  private async retryWithoutRefused(
    writing: readonly PushingUnit[],
    tried: readonly PushingGroup[],
    thrown: Failure,
  ): Promise<void> {
    this.suspects = tried.length
    const rest = this.selectNamedGroups(tried, thrown)
    if (tried.length === 1) this.refuse(tried, thrown, true)
    const moving = new Set(this.listMovingGroups(rest).flatMap(({ units }) => units))
    const still = writing.filter((unit) => !moving.has(unit) && !this.refused.has(unit))
    try {
      await this.push(still, [...moving])
      const known = this.refused.size
      if (rest.length < tried.length) await this.land(rest)
      else if (tried.length > 1) await this.halve(tried, thrown)
      if (this.refused.size > known) await this.push([])
    } catch (failed) {
      // If the ledger is refused too, it is unknown whether a rule is about the units.
      if (isRefusal(failed)) this.findings.length = 0
      throw failed
    } finally {
      for (const { moves, ...finding } of this.findings) this.target.refusedRefs.add(moves, finding)
    }
  }

  private selectNamedGroups(
    groups: readonly PushingGroup[],
    thrown: Failure,
  ): readonly PushingGroup[] {
    if (!(thrown instanceof RefusedPush)) return groups
    const own = groups.filter(({ moves }) => moves.some(({ ref }) => thrown.refused.has(ref)))
    if (own.length === groups.length) return groups
    this.refuse(own, thrown, true)
    return groups.filter((group) => !own.includes(group))
  }

  private async land(groups: readonly PushingGroup[]): Promise<void> {
    if (groups.length === 0) return
    try {
      await this.push(groups.flatMap(({ units }) => units))
      this.landed += 1
    } catch (thrown) {
      if (!isRefusal(thrown)) throw thrown
      this.failed += 1
      const rest = this.selectNamedGroups(groups, thrown)
      // A server may name only one of many refs at a time.
      await (rest.length < groups.length && (this.failed < MOST_NAMED || rest.length < 2)
        ? this.land(rest)
        : this.halve(rest, thrown))
    }
  }

  private async halve(groups: readonly PushingGroup[], thrown: Failure): Promise<void> {
    const isVain =
      this.landed === 0 && this.failed > MOST_NAMED + Math.ceil(Math.log2(this.suspects + 1))
    if (groups.length < 2 || isVain || this.landed + this.failed >= MOST_PUSHES)
      return this.refuse(groups, thrown, groups.length < 2)
    const middle = Math.ceil(groups.length / 2)
    await this.land(groups.slice(0, middle))
    await this.land(groups.slice(middle))
  }

  /** @param isSure each of them by itself */
  private refuse(groups: readonly PushingGroup[], thrown: Failure, isSure: boolean): void {
    const { now } = this.target
    const whys = thrown instanceof RefusedPush ? thrown.refused : new Map<string, Failure>()
    for (const { units, moves } of groups) {
      const named = moves.filter(({ ref }) => whys.has(ref))
      const failure =
        named.map(({ ref }) => whys.get(ref)).find((why) => why !== undefined) ?? thrown
      for (const unit of units) this.refused.set(unit, failure)
      this.findings.push({ moves: named.length === 0 ? moves : named, failure, isSure, now })
    }
  }

  /**
   * @param whole with their full plan
   * @param observed only their observation is written yet
   */
  private async push(
    whole: readonly PushingUnit[],
    observed: readonly PushingUnit[] = [],
  ): Promise<void> {
    const { clusters, isDecision } = this.planned
    const without = isDecision
      ? []
      : this.units.filter(
          (unit) => this.refused.has(unit) || this.later.has(unit) || observed.includes(unit),
        )
    const bare = without.map((unit) => ({ ...unit, writes: this.getBarePlan(unit) }))
    const { cluster, parts } = groupByCluster([...whole, ...bare], clusters)
    const { at, pushed } = this.target
    const written = await applyWrites(
      this.repository,
      joinWrites(parts),
      { head: this.head, at, cluster, pushed, made: this.made },
      this.signal,
    )
    this.updates.push(...written.updates)
    for (const [ref, branch] of written.pushed) this.moved.set(ref, branch)
    this.head = written.ledger ?? this.head
  }

  /** What is written of a unit whose refs are not moved. */
  private getBarePlan(unit: PushingUnit): GitWrites {
    const { unmoved } = unit
    if (unmoved === undefined) return NO_WRITES
    return { ...NO_WRITES, ...(this.refused.has(unit) ? unmoved.refused : unmoved.later) }
  }

  private getWrites(unit: PushingUnit): GitWrites {
    return this.refused.has(unit) || this.later.has(unit) ? this.getBarePlan(unit) : unit.writes
  }
}

function mayWait({ units }: PushingGroup): boolean {
  return units.every(({ isAwaited }) => !isAwaited)
}

function mergeUpdates(updates: readonly RefUpdate[]): readonly RefUpdate[] {
  const moves = new Map<string, RefUpdate>()
  for (const update of updates)
    moves.set(update.ref, { ...update, from: (moves.get(update.ref) ?? update).from })
  return [...moves.values()]
}

function groupByCluster(
  units: readonly PushingUnit[],
  whole: readonly ClusterLedgerWrites[],
): { readonly cluster: string; readonly parts: readonly GitWrites[] } {
  const all = [
    ...units.map(({ cluster, writes }) => ({ cluster, writes })),
    ...whole.map(({ cluster, ...writes }) => ({ cluster, writes: { ...NO_WRITES, ...writes } })),
  ]
  const clusters = [...new Set(all.map(({ cluster }) => cluster))]
  const [cluster = ''] = clusters
  if (clusters.length < 2) return { cluster, parts: all.map(({ writes }) => writes) }
  const parts = all.map(({ cluster: name, writes }) => ({
    ...writes,
    ledgerLines: writes.ledgerLines.map((line) => `${name}/${line}`),
  }))
  return { cluster: `${clusters.length} clusters`, parts }
}

/**
 * Refused by the remote or by Backporch's own name rules. Any other failure would be the same for
 * every unit.
 */
export function isRefusal(thrown: unknown): thrown is Failure {
  return thrown instanceof Failure && (thrown.code === 'BP4002' || thrown.code === 'BP4004')
}
