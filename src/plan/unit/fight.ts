/**
 * Detects two writers that undo each other (design §5). No further proposal would end that, so none
 * is opened; the report names the writer and the remedy.
 */
import { redactHashes } from '@backporch/kyaml/redaction'
import { getResourceKey } from '@backporch/kyaml/resource'
import type { Change } from '../../record/documents/change.ts'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'
import { computeUnixSeconds } from '../observation/closed-episode.ts'
import type { Hold } from '../observation/hold.ts'

/** Restores of one field that worked, and after which it differs again. */
const MERGES = 2
/** Seconds: a field that is edited once a month is no fight. */
const MERGES_WITHIN = 7 * 86_400
const FLIPS = 3
const FLIPS_WITHIN = 600

/**
 * Never holds critical drift.
 * @param now RFC 3339 UTC
 */
export function detectFight(
  changes: readonly Change[],
  closed: readonly ClosedEpisode[],
  now: string,
): Hold | undefined {
  if (changes.some(({ risk }) => risk === 'critical')) return undefined
  const recent = (at: string | undefined, seconds: number): boolean =>
    at !== undefined && computeUnixSeconds(now) - computeUnixSeconds(at) < seconds
  const merged = closed.filter(
    ({ status }) => status.outcome === 'Merged' && recent(status.verifiedAt, MERGES_WITHIN),
  )
  const healed = closed.filter(
    ({ status }) => status.outcome === 'Healed' && recent(status.at, FLIPS_WITHIN),
  )
  for (const change of changes) {
    const location = formatLocation(change)
    const restored = merged.filter(({ spec }) =>
      spec.changes.some((one) => one.resolution === 'Restore' && formatLocation(one) === location),
    )
    const flipped = healed.filter(({ spec }) =>
      spec.changes.some((one) => formatLocation(one) === location),
    )
    const who = change.actor.confidence === 'none' ? 'somebody' : change.actor.manager
    const what =
      change.path === undefined
        ? `${change.ref.kind} ${change.ref.name}`
        : `${change.path} of ${change.ref.kind} ${change.ref.name}`
    const times =
      restored.length >= MERGES
        ? `after ${restored.length} merges that restored it`
        : `${flipped.length} times in ten minutes`
    if (restored.length >= MERGES || flipped.length >= FLIPS)
      return {
        reason: 'fight',
        why: `${who} writes ${what} again, ${times}: release the field, or ignore it by a rule of the policy`,
      }
  }
  return undefined
}

function formatLocation({ ref, path, change }: Change): string {
  return `${change} ${getResourceKey(ref)}#${redactHashes(path ?? '')}`
}
