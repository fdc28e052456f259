import { houseMessage, NO_HOUSE_RULES } from '../../policy/house-rules.ts'
import { formatLandingMessage } from '../../record/commit-message.ts'
import { secondsSince1970 } from '../observation/closed-episode.ts'
import { publishedWorkspaces } from '../unit/porch-decisions.ts'
import type { DecidedUnit } from '../unit/unobserved-decisions.ts'
import { textCommit } from './text-commit.ts'
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
    publishedWorkspaces(observation).map(
      ({ workspace, revision }) => `${workspace} of ${observation.unit.packageName} (v${revision})`,
    ),
  )
  const names = planned.map(({ observation }) => observation.unit.packageName)
  const { commit: rules } = planned[0]?.observation.policy.house ?? NO_HOUSE_RULES
  const message = houseMessage(
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
    at: secondsSince1970(at),
  }
  return { kind: 'land', ref: `refs/heads/${baseBranch}`, commit: { ...textCommit(commit), base } }
}
