import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'
import { getUnitName } from '../../record/unit-name.ts'
import { type GitWrites, joinWrites, type LedgerFile, NO_WRITES } from '../observation/action.ts'
import { createClosedFile } from '../observation/closed-episode.ts'
import type { Observation } from '../observation/observation.ts'
import type { UnitPlan } from '../observation/unit-plan.ts'

export interface Raised {
  readonly observation: Observation
  readonly ledger: readonly LedgerFile[]
}

export function raiseAgain(
  observed: Observation,
  isRequested: (fingerprint: string) => boolean,
): Raised | undefined {
  const { git, cluster } = observed
  const now = cluster.observedAt
  const isSilent = ({ spec, status }: ClosedEpisode): boolean =>
    status.outcome === 'Declined' &&
    status.silentUntil !== undefined &&
    status.silentUntil > now &&
    isRequested(spec.fingerprint)
  const silent = git.ledger.closed.filter(isSilent)
  if (silent.length === 0) return undefined
  const ended = (episode: ClosedEpisode): ClosedEpisode => ({
    ...episode,
    status: { ...episode.status, silentUntil: now },
  })
  return {
    observation: {
      ...observed,
      git: {
        ...git,
        ledger: {
          ...git.ledger,
          closed: git.ledger.closed.map((episode) =>
            isSilent(episode) ? ended(episode) : episode,
          ),
        },
      },
    },
    ledger: silent.map((episode) => createClosedFile(ended(episode))),
  }
}

export function addRaised(plan: UnitPlan, raised: Raised | undefined): UnitPlan {
  if (raised === undefined) return plan
  const { writes, report } = plan
  const ends: GitWrites = {
    ...NO_WRITES,
    ledger: raised.ledger,
    ledgerLines: [`${getUnitName(report.spec.unit)}: raised again`],
  }
  return { ...plan, writes: joinWrites([ends, writes]) }
}
