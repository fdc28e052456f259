import { loggableName } from '@backporch/kyaml/redaction'
import { type WrittenWord, writtenWord } from '../plan/turn/turn-words.ts'
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
export function transitionsOf(result: TurnResult): Transition[] {
  return [
    ...(result.updates.length === 0 ? [] : writtenTransitions(result)),
    ...result.settled.map(appliedTransition),
  ]
}

function writtenTransitions(result: TurnResult): Transition[] {
  return result.units.flatMap((unit) => {
    if (unit.state === 'failed' || unit.refused !== undefined) return []
    const { branch, outcomes, report, writes } = unit.plan
    const own = {
      cluster: loggableName(unit.unit.cluster),
      package: loggableName(unit.unit.packageName),
      state: loggableName(report.status.state),
    }
    const word = changedWord(writtenWord(unit))
    const ended = outcomes.flatMap(({ episode }): Transition[] => {
      const outcome = endOf(episode)
      if (
        word !== undefined &&
        (outcome === 'declined' || outcome === 'healed' || outcome === 'resolved-by-git')
      )
        return []
      return [{ outcome, ...own, episode: loggableName(`drift-${episode.spec.episode}`) }]
    })
    const done =
      word === undefined
        ? ended
        : [...ended, { outcome: word, ...own, ...locationOf(result, branch) }]
    if (done.length > 0) return done
    return writes.ledgerLines.map((line) => ({
      outcome: 'status',
      ...own,
      detail: loggableName(`${line} in ${own.cluster}`),
    }))
  })
}

function changedWord(word: WrittenWord | undefined): TransitionOutcome | undefined {
  return word === 'unchanged' ? undefined : word
}

function endOf({ status }: ClosedEpisode): TransitionOutcome {
  if (status.verifiedAt !== undefined) return 'settled'
  return status.failedAt === undefined ? ENDS[status.outcome] : 'not-settled'
}

function locationOf(
  { proposals }: TurnResult,
  branch: string,
): Pick<Transition, 'branch' | 'proposal' | 'url'> {
  if (branch === '') return {}
  const proposal = proposals.get(branch)
  return {
    branch: loggableName(branch),
    ...(proposal === undefined || proposal.label === branch
      ? {}
      : { proposal: loggableName(proposal.label) }),
    ...(proposal === undefined || proposal.url === ''
      ? {}
      : { url: loggableName(proposal.url, 500) }),
  }
}

export function appliedTransition({
  pending,
  result,
}: SettleOutcome['settled'][number]): Transition {
  const { cluster, packagePath, record } = pending
  return {
    outcome: 'applied',
    cluster: loggableName(cluster),
    package: loggableName(packagePath || '.'),
    episode: loggableName(record.metadata.name),
    detail: loggableName(settledText({ pending, result })),
  }
}

export function settledText({
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
