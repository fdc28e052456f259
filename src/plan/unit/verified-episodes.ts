import { formatRedactedPath, isSecret, redactHashes } from '@backporch/kyaml/redaction'
import { getResourceKey } from '@backporch/kyaml/resource'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'
import { computeUnixSeconds } from '../observation/closed-episode.ts'
import type { Observation } from '../observation/observation.ts'
import { listUnverifiedMerges } from './commands/pick-changes.ts'

/**
 * Nothing differs at the decisions' locations any more, and their objects could be observed. Other
 * objects do not matter: one that can never be read would make every decision wait forever.
 */
export function verifyEpisodes(
  { cluster, incomplete, verdicts }: Observation,
  closed: readonly ClosedEpisode[],
): ClosedEpisode[] {
  const waiting = listUnverifiedMerges(closed)
  if (waiting.length === 0) return []
  // Of a Secret whose content is never read, only ownership shows the edit.
  const open = incomplete.filter(
    ({ ref, state, code }) =>
      !(ref && isSecret(ref) && state === 'unverified' && code === 'BP3012'),
  )
  const unclear = new Set(
    open.map(({ ref }) => (ref === undefined ? 'inventory' : getResourceKey(ref))),
  )
  // A hidden part of a path matches any other: another installation key reports it differently. An
  // older version wrote finalizers of a Secret unhidden.
  const locations = new Set(
    verdicts.flatMap(({ items }) =>
      items.flatMap(({ id, path }) =>
        [id, undefined].map((one) => `${getResourceKey(id)}#${formatRedactedPath(path, one)}`),
      ),
    ),
  )
  return waiting
    .filter(
      ({ spec }) =>
        !spec.changes.some(
          ({ ref, path, change }) =>
            locations.has(`${getResourceKey(ref)}#${redactHashes(path ?? '')}`) ||
            unclear.has(getResourceKey(ref)) ||
            (change === 'unexpected' && unclear.has('inventory')),
        ),
    )
    .map((episode) => ({
      ...episode,
      status: { ...episode.status, verifiedAt: cluster.observedAt },
    }))
}

/** Live does not agree after the policy's time, so the differences are open again. */
export function markFailedEpisodes(
  { cluster, policy }: Observation,
  closed: readonly ClosedEpisode[],
  changes: readonly { readonly fingerprint: string }[],
): ClosedEpisode[] {
  const waiting = listUnverifiedMerges(closed).filter(({ status }) => status.failedAt === undefined)
  if (waiting.length === 0) return []
  const live = new Set(changes.map(({ fingerprint }) => fingerprint))
  return waiting
    .filter(
      ({ status }) =>
        computeUnixSeconds(cluster.observedAt) - computeUnixSeconds(status.seenAt ?? status.at) >=
        policy.verifyTimeout,
    )
    .filter(({ spec }) =>
      spec.changes.some(
        ({ resolution, fingerprint }) => resolution === 'Restore' && live.has(fingerprint),
      ),
    )
    .map((episode) => ({ ...episode, status: { ...episode.status, failedAt: cluster.observedAt } }))
}

export function replaceWithNewer(
  closed: readonly ClosedEpisode[],
  newer: readonly ClosedEpisode[],
): readonly ClosedEpisode[] {
  const byName = new Map(newer.map((episode) => [episode.metadata.name, episode]))
  return closed.map((episode) => byName.get(episode.metadata.name) ?? episode)
}

export function findFailedBefore(
  closed: readonly ClosedEpisode[],
  active: readonly { readonly fingerprint: string }[],
): string | undefined {
  const merged = listUnverifiedMerges(closed).filter(({ status }) => status.failedAt !== undefined)
  if (merged.length === 0) return undefined
  const live = new Set(active.map(({ fingerprint }) => fingerprint))
  const failed = merged.filter(({ spec }) =>
    spec.changes.some(
      ({ resolution, fingerprint }) => resolution === 'Restore' && live.has(fingerprint),
    ),
  )
  return failed.at(-1)?.spec.episode
}
