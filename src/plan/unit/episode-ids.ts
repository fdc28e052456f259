/**
 * An episode id is unique in the ledger, because the file of a closed episode is named by the id
 * alone (design §7), whatever its unit is.
 */
import { formatWorkspaceBranch } from '@backporch/git-store/ref-name'
import { getEpisodeId } from '../../drift/compare/fingerprint.ts'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'
import type { Observation } from '../observation/observation.ts'

/**
 * Eight hex digits of the fingerprint, with a number appended if they are taken. An id stays taken
 * forever, because a workspace that equals a published one hides it in Porch.
 * @param closed of the unit
 * @param begun by other units in the same turn
 */
export function createEpisodeId(
  fingerprint: string,
  observed: Pick<Observation, 'unit' | 'git' | 'policy'>,
  closed: readonly ClosedEpisode[],
  begun: ReadonlySet<string>,
): string {
  const id = getEpisodeId(fingerprint)
  const isUsed = matchUsedIds(observed, closed, begun)
  return isUsed(id) ? numberId(id, isUsed) : id
}

/**
 * If Porch approves, a workspace never changes once it is written.
 * @param episode id of the replaced episode
 */
export function computeNextEpisodeId(
  episode: string,
  observed: Pick<Observation, 'unit' | 'git' | 'policy'>,
  closed: readonly ClosedEpisode[],
  begun: ReadonlySet<string>,
): string {
  return numberId(
    episode.replace(/-\d+$/, ''),
    matchUsedIds(observed, closed, new Set([...begun, episode])),
  )
}

function numberId(id: string, isUsed: (id: string) => boolean): string {
  let count = 2
  while (isUsed(`${id}-${count}`)) count += 1
  return `${id}-${count}`
}

function matchUsedIds(
  { unit, git, policy }: Pick<Observation, 'unit' | 'git' | 'policy'>,
  closed: readonly ClosedEpisode[],
  begun: ReadonlySet<string>,
): (id: string) => boolean {
  const own = new Set([...git.merged, ...closed].map(({ spec }) => spec.episode))
  // The caller detects whether the unit's own branch is foreign.
  const isOwn = (state: 'drafts' | 'proposed', id: string): boolean =>
    git.refs.has(
      `refs/heads/${formatWorkspaceBranch({ state, packagePath: unit.packageName, workspace: `drift-${id}` })}`,
    )
  return (id) =>
    own.has(id) ||
    begun.has(id) ||
    git.episodes.closed.has(id) ||
    (policy.approval === 'porch' && git.episodes.pushed.has(id)) ||
    (git.episodes.open.has(id) && !isOwn('drafts', id) && !isOwn('proposed', id))
}
