/**
 * When the base branch got each content of a package. The time of a commit is that of its committer's clock: it may be of any year. So it
 * counts as far as nothing contradicts it: it is not before that of the version below it (git's "corrected commit date",
 * Documentation/technical/commit-graph.adoc), not to come, and not outside of the two observations between which the content came.
 */

/** One content of a package as it is known again: by its commit or, in a history that was rewritten, by what it contains. */
export interface ContentId {
  /** 40 hex digits. */
  readonly commit: string
  /** Hash of the content of the package, 16 hex digits; empty for the time before the package was there. */
  readonly tree: string
}

/** A content that came to the base branch between two observations of it. */
export interface ObservedContent extends ContentId {
  /** RFC 3339 UTC: the last observation without it. */
  readonly after: string
  /** RFC 3339 UTC: the first observation with it. */
  readonly firstSeen: string
}

/** RFC 3339 UTC. Both are the same but for a commit that is dated to come. */
export interface Arrival {
  /** Empty where it is unknown how long it has been there. */
  readonly earliest: string
  readonly latest: string
}

export interface DatedContent extends ContentId {
  /** RFC 3339 UTC, of the committer; empty where there is no commit. */
  readonly at: string
}

/** Seconds by which the clocks of two machines differ without anything being wrong. */
const CLOCKS_DIFFER = 300

/**
 * @param versions newest first
 * @param seenAt what is known of the version at a place beside its commit
 * @param present RFC 3339 UTC
 * @returns one for each version
 */
export function arrivalsOf(
  versions: readonly DatedContent[],
  seenAt: (index: number) => ObservedContent | undefined,
  present: string,
): readonly Arrival[] {
  const arrivals: Arrival[] = []
  let below = ''
  for (const [index, { at }] of versions.toReversed().entries()) {
    const arrival = arrivalOf(at, seenAt(versions.length - 1 - index), below, present)
    below = arrival.earliest
    arrivals.unshift(arrival)
  }
  // What is below another version was there before it.
  let above = present
  return arrivals.map(({ earliest, latest }) => {
    above = latest < above ? latest : above
    return { earliest, latest: above < earliest ? earliest : above }
  })
}

function arrivalOf(at: string, observed: ObservedContent | undefined, below: string, present: string): Arrival {
  if (observed !== undefined) {
    const time = at >= observed.after && at <= observed.firstSeen ? at : observed.firstSeen
    return { earliest: time, latest: time }
  }
  if (at > secondsAfter(present, CLOCKS_DIFFER)) return { earliest: below, latest: present }
  const time = at > present ? present : at < below ? below : at
  return { earliest: time, latest: time }
}

/** RFC 3339 UTC with seconds; empty of a text that is no time. */
export function secondsAfter(at: string, seconds: number): string {
  const time = Date.parse(at)
  return Number.isNaN(time) ? '' : `${new Date(time + seconds * 1_000).toISOString().slice(0, 19)}Z`
}
