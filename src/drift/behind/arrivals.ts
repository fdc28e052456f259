/**
 * Commit dates are arbitrary: a date counts only if it is not before that of the version below
 * (git's "corrected commit date", Documentation/technical/commit-graph.adoc), not in the future,
 * and between the two observations around the arrival.
 */

/** By commit, or in a rewritten history by hash. */
export interface ContentId {
  /** 40 hex digits. */
  readonly commit: string
  /** 16 hex digits; empty for the time before the package. */
  readonly tree: string
}

export interface ObservedContent extends ContentId {
  /** RFC 3339 UTC. */
  readonly after: string
  /** RFC 3339 UTC. */
  readonly firstSeen: string
}

/** RFC 3339 UTC. They differ only for a commit dated in the future. */
export interface Arrival {
  /** Undefined if unknown. */
  readonly earliest: string | undefined
  readonly latest: string
}

export interface DatedContent extends ContentId {
  /** RFC 3339 UTC. */
  readonly at: string
}

/** Seconds between two machines. */
const CLOCKS_DIFFER = 300

/**
 * @param versions newest first
 * @param present RFC 3339 UTC
 */
export function computeArrivals(
  versions: readonly DatedContent[],
  seenAt: (index: number) => ObservedContent | undefined,
  present: string,
): readonly Arrival[] {
  const arrivals: Arrival[] = []
  let below: string | undefined
  for (const [index, { at }] of versions.toReversed().entries()) {
    const arrival = computeArrival(at, seenAt(versions.length - 1 - index), below, present)
    below = arrival.earliest
    arrivals.unshift(arrival)
  }
  let above = present
  return arrivals.map(({ earliest, latest }) => {
    above = latest < above ? latest : above
    return { earliest, latest: earliest !== undefined && above < earliest ? earliest : above }
  })
}

function computeArrival(
  at: string,
  observed: ObservedContent | undefined,
  below: string | undefined,
  present: string,
): Arrival {
  if (observed !== undefined) {
    const time = at >= observed.after && at <= observed.firstSeen ? at : observed.firstSeen
    return { earliest: time, latest: time }
  }
  if (at > computeSecondsAfter(present, CLOCKS_DIFFER)) return { earliest: below, latest: present }
  const time = at > present ? present : below !== undefined && at < below ? below : at
  return { earliest: time, latest: time }
}

/** RFC 3339 UTC with seconds; empty for an invalid time. */
export function computeSecondsAfter(at: string, seconds: number): string {
  const time = Date.parse(at)
  return Number.isNaN(time) ? '' : `${new Date(time + seconds * 1_000).toISOString().slice(0, 19)}Z`
}
