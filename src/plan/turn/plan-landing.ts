import { formatHouseMessage, NO_HOUSE_RULES } from '../../policy/house-rules.ts'
import { formatLandingMessage } from '../../record/commit-message.ts'
import { computeUnixSeconds } from '../observation/closed-episode.ts'
import { listPublishedWorkspaces } from '../unit/porch-decisions.ts'
import type { DecidedUnit } from '../unit/unobserved-decisions.ts'
import { createTextCommit } from './text-commit.ts'
import type { TurnAction } from './turn-action.ts'
import type { TurnGit } from './turn-observation.ts'

/** @param at RFC 3339 UTC */
export function planLanding(
  { baseBranch, base }: Pick<TurnGit, 'baseBranch' | 'base'>,
  units: readonly DecidedUnit[],
  at: string,
): (TurnAction & { readonly kind: 'land' }) | undefined {
  const planned = units.filter(({ plan }) => plan.landing.length > 0)
  const changes = [
    ...new Map(
      planned.flatMap(({ plan }) => plan.landing.map((change) => [change.path, change])),
    ).values(),
  ]
  if (changes.length === 0) return undefined
  const decided = planned.flatMap(({ observation }) =>
    listPublishedWorkspaces(observation).map(
      ({ workspace, revision }) => `${workspace} of ${observation.unit.packageName} (v${revision})`,
    ),
  )
  const names = planned.map(({ observation }) => observation.unit.packageName)
  const { commit: rules } = planned[0]?.observation.policy.house ?? NO_HOUSE_RULES
  const message = formatHouseMessage(
    formatLandingMessage([...new Set(decided.length === 0 ? names : decided)]),
    rules,
  )
  const commit = {
    name: 'landing',
    parents: [base],
    base,
    changes,
    message,
    signOff: rules.signOff,
    at: computeUnixSeconds(at),
  }
  return {
    kind: 'land',
    ref: `refs/heads/${baseBranch}`,
    commit: { ...createTextCommit(commit), base },
  }
}
