import { parseWorkspaceBranch } from '@backporch/git-store/ref-name'
import { addSeconds, getOpenedTime } from '../../observation/drift-age.ts'
import type { PlannedUnit } from '../../observation/planned-unit.ts'
import type { TurnView } from '../../observation/turn-view.ts'

const HOUR = 3_600

export interface OpenProposals {
  readonly open: ReadonlySet<string>
  /** RFC 3339 UTC, ascending, within the hour before the turn. */
  readonly openings: readonly string[]
}

/**
 * @param units a branch that the turn deletes is not open, and one that it creates is not open yet
 * @param now RFC 3339 UTC
 */
export function openProposals(
  { refs, proposals, closed }: Pick<TurnView, 'refs' | 'proposals' | 'closed'>,
  units: readonly PlannedUnit[],
  now: string,
): OpenProposals {
  const gone = new Set(
    units.flatMap(({ plan }) =>
      plan.writes.updates.flatMap(({ ref, to }) => (to === null ? [ref] : [])),
    ),
  )
  const records = new Map(
    units.flatMap(({ observation }) =>
      observation.git.branches.map(({ ref, record }) => [ref, getOpenedTime(record.spec)] as const),
    ),
  )
  const open = new Set(
    [...refs.keys()].filter(
      (ref) => isOurs(ref) && !gone.has(ref) && (proposals.get(ref)?.state ?? 'open') === 'open',
    ),
  )
  const ended = [
    ...closed,
    ...units.flatMap(({ plan }) => plan.outcomes.map(({ episode }) => episode)),
  ]
  const byEpisode = new Map(ended.map((episode) => [episode.metadata.name, episode]))
  const times = [
    ...[...open].map((ref) => proposals.get(ref)?.openedAt ?? records.get(ref)),
    // Healed drift may have been only a draft, without requested reviews.
    ...[...byEpisode.values()].flatMap(({ spec, status }) =>
      status.outcome === 'Merged' || status.outcome === 'Declined' ? [getOpenedTime(spec)] : [],
    ),
  ]
  const since = addSeconds(now, -HOUR)
  const openings = times.flatMap((at) => (at !== undefined && at > since ? [at] : [])).sort()
  return { open, openings }
}

function isOurs(ref: string): boolean {
  return (
    ref.startsWith('refs/heads/proposed/') &&
    parseWorkspaceBranch(ref)?.workspace.startsWith('drift-') === true
  )
}
