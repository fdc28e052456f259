/** Which merged decisions live agrees with now. */
import { isSecret } from '../krm/redacted.ts'
import { resourceKey } from '../krm/resource-id.ts'
import { shownPathOnly, withoutHashes } from '../krm/shown-path.ts'
import { closedPath } from '../record/record-paths.ts'
import type { ClosedEpisode } from '../record/schema.ts'
import { formatDocument } from '../record/write-document.ts'
import type { LedgerFile } from './action.ts'
import type { Observation } from './observation.ts'
import { unverifiedMerges } from './pick-changes.ts'

/**
 * The ledger's files of the merged decisions that are verified by this observation: nothing differs any more at the places that they
 * were about, and their objects could be observed. Others do not matter: one that can never be read would make every
 * decision hold for ever.
 */
export function verifiedEpisodes({ cluster, incomplete, verdicts }: Observation, closed: readonly ClosedEpisode[]): LedgerFile[] {
  // Of a Secret whose content is never read, ownership alone says whether the edit is still there.
  const open = incomplete.filter(({ ref, state, code }) => !(ref && isSecret(ref) && state === 'unverified' && code === 'BP3012'))
  const unclear = new Set(open.map(({ ref }) => (ref === undefined ? 'inventory' : resourceKey(ref))))
  // A hidden part of a path counts as any other: under another installation key it would not be told again.
  const places = new Set(verdicts.flatMap(({ items }) => items.map(({ id, path }) => `${resourceKey(id)}#${shownPathOnly(path)}`)))
  return unverifiedMerges(closed)
    .filter(
      ({ spec }) =>
        !spec.changes.some(
          ({ ref, path, change }) =>
            places.has(`${resourceKey(ref)}#${withoutHashes(path ?? '')}`) ||
            unclear.has(resourceKey(ref)) ||
            (change === 'unexpected' && unclear.has('inventory')),
        ),
    )
    .map((episode) => ({
      path: closedPath(episode.spec.began, episode.spec.episode),
      text: formatDocument({ ...episode, status: { ...episode.status, verifiedAt: cluster.observedAt } }),
    }))
}
