/**
 * Plans `drift/fresh` on heads other than proposals that go into the base branch. People may
 * require this status, and a forge then waits for it on every pull request and every merge group
 * (docs/guides/review-a-drift-pull-request.md).
 */
import type { CommitStatus, OpenHead } from '@backporch/forge/hosted-forge'
import type { ObjectId } from '@backporch/kyaml/files'
import { createNoProposalStatus } from '../../../proposal/text/proposal-statuses.ts'

/** Per pass: a repository may have hundreds of pull requests, and all writes share one budget. */
export const MOST_HEADS = 20

export interface HeadStatus {
  readonly commit: ObjectId
  readonly status: CommitStatus
}

export interface PlannedHeads {
  readonly writes: readonly HeadStatus[]
  readonly waiting: number
  /** Heads whose status the forge refused: they do not keep others waiting. */
  readonly refused: readonly ObjectId[]
}

/**
 * @param heads in order of priority
 * @param refusals commits for which the forge accepted no status
 */
export function planOpenHeads(
  heads: readonly OpenHead[],
  refusals: Pick<ReadonlySet<ObjectId>, 'has'> = new Set(),
): PlannedHeads {
  const proposals = new Map(
    heads.flatMap((head) => (head.kind === 'proposal' ? [[head.numbers[0], head] as const] : [])),
  )
  const vouched = new Set([...proposals.values()].map(({ commit }) => commit))
  const wanted = heads.flatMap(({ kind, commit, numbers, status }): HeadStatus[] => {
    // A commit has one status per context, whatever pull requests it is the head of.
    if (kind === 'proposal' || vouched.has(commit)) return []
    const parts = numbers.flatMap((number) => proposals.get(number) ?? [])
    const due =
      parts.length > 0
        ? findWorstStatus(parts)
        : status === undefined
          ? createNoProposalStatus()
          : undefined
    return due === undefined ? [] : [{ commit, status: due }]
  })
  const [refused, writes] = [
    wanted.filter(({ commit }) => refusals.has(commit)),
    wanted.filter(({ commit }) => !refusals.has(commit)),
  ]
  return {
    writes: writes.slice(0, MOST_HEADS),
    waiting: Math.max(0, writes.length - MOST_HEADS),
    refused: refused.map(({ commit }) => commit),
  }
}

/** Undefined if a proposal of the group has no status yet. */
function findWorstStatus(proposals: readonly OpenHead[]): CommitStatus | undefined {
  const all = proposals.map(({ status }) => status)
  if (all.includes(undefined)) return undefined
  const order = ['failure', 'pending', 'success'] as const
  return order
    .map((state) => all.find((status) => status?.state === state))
    .find((status) => status !== undefined)
}
