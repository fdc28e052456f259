/**
 * Mentions the code owners of an undecided proposal. No other text of Backporch mentions people, so it contains nothing from a cluster:
 * only handles from CODEOWNERS of the base branch, a time, a duration and the beginning of a hash.
 */
import type { OutcomeComment } from './outcome-comment.ts'
import { duration, time } from './words.ts'

interface Escalation {
  /** RFC 3339 UTC: the start of the wait. */
  readonly since: string
  /** Seconds after which the policy mentions people. */
  readonly after: number
  /** Of the undecided drift: for other drift the same comment is updated. */
  readonly fingerprint: string
  /** `@login` or `@org/team`, as CODEOWNERS has them; what is neither is left out. */
  readonly owners: readonly string[]
}

/** A mention on GitHub or on Gitea: a login or a team. */
const HANDLE =
  /^@[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,98}[A-Za-z0-9_-])?(?:\/[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,98}[A-Za-z0-9_-])?)?$/
/** Handles that are mentioned. */
const MENTIONED = 10

/** Its own topic, so that people who are mentioned get a new comment. */
export function escalationComment({
  since,
  after,
  fingerprint,
  owners,
}: Escalation): OutcomeComment {
  const handles = [...new Set(owners.filter((owner) => HANDLE.test(owner)))].slice(0, MENTIONED)
  const requested =
    handles.length === 0
      ? 'CODEOWNERS names no owner for these files, so the maintainers of this repository are asked'
      : `${handles.join(' ')}, you own its files`
  const id = /^sha256:([0-9a-f]{8})/.exec(fingerprint)?.[1]
  const about = id === undefined ? '' : ` (drift \`${id}\`)`
  return {
    topic: 'overdue',
    body: `This pull request has waited for a decision since ${time(since)}, longer than ${duration(after)}${about}. ${requested}: please merge or close it, or write \`/snooze 7d\`.\n`,
  }
}
