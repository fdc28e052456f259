/** What a turn did to each unit, as the log reports it. */
import { loggableName } from '../krm/redaction/loggable.ts'
import { type WrittenWord, writtenWord } from '../plan/turn/turn-words.ts'
import type { Transition, TransitionOutcome } from '../ports/log.ts'
import type { TurnResult } from '../reconcile/run-turn.ts'
import type { ClosedEpisode } from '../record/schema.ts'

const ENDS = { Merged: 'merged', Declined: 'declined', Healed: 'healed', ResolvedByGit: 'resolved-by-git' } as const

/** One or more for each package of which something was written; `status` where that alone changed. */
export function transitionsOf(result: TurnResult): Transition[] {
  if (result.updates.length === 0) return []
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
      if (word !== undefined && (outcome === 'declined' || outcome === 'healed' || outcome === 'resolved-by-git')) return []
      return [{ outcome, ...own, episode: loggableName(`drift-${episode.spec.episode}`) }]
    })
    const done = word === undefined ? ended : [...ended, { outcome: word, ...own, ...locationOf(result, branch) }]
    if (done.length > 0) return done
    return writes.ledgerLines.map((line) => ({ outcome: 'status', ...own, detail: loggableName(line) }))
  })
}

function changedWord(word: WrittenWord | undefined): TransitionOutcome | undefined {
  return word === 'unchanged' ? undefined : word
}

function endOf({ status }: ClosedEpisode): TransitionOutcome {
  if (status.verifiedAt !== undefined) return 'settled'
  return status.failedAt === undefined ? ENDS[status.outcome] : 'not-settled'
}

function locationOf({ proposals }: TurnResult, branch: string): Pick<Transition, 'branch' | 'proposal' | 'url'> {
  if (branch === '') return {}
  const proposal = proposals.get(branch)
  return {
    branch: loggableName(branch),
    ...(proposal === undefined || proposal.label === branch ? {} : { proposal: loggableName(proposal.label) }),
    ...(proposal === undefined || proposal.url === '' ? {} : { url: loggableName(proposal.url, 500) }),
  }
}
