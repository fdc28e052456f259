import { formatLoggableName } from '@backporch/kyaml/redaction'
import { getWrittenWord, type WrittenWord } from '../plan/turn/turn-words.ts'
import type { Transition, TransitionOutcome } from '../ports/log.ts'
import { count } from '../proposal/text/words.ts'
import type { TurnResult } from '../reconcile/turn/run-turn.ts'
import type { SettleOutcome } from '../reconcile/turn/settle.ts'
import type { ClosedEpisode } from '../record/documents/closed-episode.ts'

const ENDS = {
  Merged: 'merged',
  Declined: 'declined',
  Healed: 'healed',
  ResolvedByGit: 'resolved-by-git',
  Published: 'published',
} as const

/** `status` if only that changed. */
export function listTransitions(result: TurnResult): Transition[] {
  return [
    ...(result.updates.length === 0 ? [] : listWrittenTransitions(result)),
    ...result.settled.map(createAppliedTransition),
  ]
}

function listWrittenTransitions(result: TurnResult): Transition[] {
  return result.units.flatMap((unit) => {
    if (unit.state === 'failed' || unit.refused !== undefined) return []
    const { branch, outcomes, report, writes } = unit.plan
    const own = {
      cluster: formatLoggableName(unit.unit.cluster),
      package: formatLoggableName(unit.unit.packageName),
      state: formatLoggableName(report.status.state),
    }
    const word = findChangedOutcome(getWrittenWord(unit))
    const ended = outcomes.flatMap(({ episode }): Transition[] => {
      const outcome = getEnd(episode)
      if (
        word !== undefined &&
        (outcome === 'declined' || outcome === 'healed' || outcome === 'resolved-by-git')
      )
        return []
      return [{ outcome, ...own, episode: formatLoggableName(`drift-${episode.spec.episode}`) }]
    })
    const done =
      word === undefined
        ? ended
        : [...ended, { outcome: word, ...own, ...findLocation(result, branch) }]
    if (done.length > 0) return done
    return writes.ledgerLines.map((line) => ({
      outcome: 'status',
      ...own,
      detail: formatLoggableName(`${line} in ${own.cluster}`),
    }))
  })
}

function findChangedOutcome(word: WrittenWord | undefined): TransitionOutcome | undefined {
  return word === 'unchanged' ? undefined : word
}

function getEnd({ status }: ClosedEpisode): TransitionOutcome {
  if (status.verifiedAt !== undefined) return 'settled'
  return status.failedAt === undefined ? ENDS[status.outcome] : 'not-settled'
}

function findLocation(
  { proposals }: TurnResult,
  branch: string,
): Pick<Transition, 'branch' | 'proposal' | 'url'> {
  if (branch === '') return {}
  const proposal = proposals.get(branch)
  return {
    branch: formatLoggableName(branch),
    ...(proposal === undefined || proposal.label === branch
      ? {}
      : { proposal: formatLoggableName(proposal.label) }),
    ...(proposal === undefined || proposal.url === ''
      ? {}
      : { url: formatLoggableName(proposal.url, 500) }),
  }
}

export function createAppliedTransition({
  pending,
  result,
}: SettleOutcome['settled'][number]): Transition {
  const { cluster, packagePath, record } = pending
  return {
    outcome: 'applied',
    cluster: formatLoggableName(cluster),
    package: formatLoggableName(packagePath || '.'),
    episode: formatLoggableName(record.metadata.name),
    detail: formatLoggableName(formatSettled({ pending, result })),
  }
}

export function formatSettled({
  pending: { record, cluster },
  result,
}: SettleOutcome['settled'][number]): string {
  const { writes, handedOver } = result
  const restored = record.spec.changes.filter(({ resolution }) => resolution === 'Restore').length
  const written = `sent ${count(writes, 'write')} to ${cluster} for ${count(restored, 'approved change')}`
  const handed = `gave ${count(handedOver, 'object')} back to the syncer`
  const parts = [
    ...(writes > 0 || handedOver === 0 ? [written] : []),
    ...(handedOver > 0 ? [handed] : []),
  ]
  return `${parts.join(', ')} (${record.metadata.name})`
}
