/** Ids of episodes: a closed episode's file in the ledger is named by its id alone (design §7), whichever unit it is of. */
import { formatWorkspaceBranch } from '@backporch/git-store/ref-name'
import { episodeIdOf } from '../../drift/compare/fingerprint.ts'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'
import type { Observation } from '../observation/observation.ts'

/**
 * Id of the episode that begins with a fingerprint: the first eight hex digits, with a number behind them where they are taken.
 * Taken for ever, for a workspace that equals a published one hides it in Porch.
 * @param closed every closed episode of the unit
 * @param begun ids that other units begin in the same turn
 */
export function newEpisodeId(
  fingerprint: string,
  observed: Pick<Observation, 'unit' | 'git' | 'policy'>,
  closed: readonly ClosedEpisode[],
  begun: ReadonlySet<string>,
): string {
  const id = episodeIdOf(fingerprint)
  const isUsed = usedIds(observed, closed, begun)
  return isUsed(id) ? numbered(id, isUsed) : id
}

/**
 * For the next state of an episode where Porch approves: a workspace never changes once it is written.
 * @param episode id of the one that it replaces
 */
export function nextEpisodeId(
  episode: string,
  observed: Pick<Observation, 'unit' | 'git' | 'policy'>,
  closed: readonly ClosedEpisode[],
  begun: ReadonlySet<string>,
): string {
  return numbered(
    episode.replace(/-\d+$/, ''),
    usedIds(observed, closed, new Set([...begun, episode])),
  )
}

function numbered(id: string, isUsed: (id: string) => boolean): string {
  let count = 2
  while (isUsed(`${id}-${count}`)) count += 1
  return `${id}-${count}`
}

function usedIds(
  { unit, git, policy }: Pick<Observation, 'unit' | 'git' | 'policy'>,
  closed: readonly ClosedEpisode[],
  begun: ReadonlySet<string>,
): (id: string) => boolean {
  const own = new Set([...git.merged, ...closed].map(({ spec }) => spec.episode))
  // A branch of the unit's own package keeps its name: the caller detects whether it is foreign.
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
