/**
 * No other Backporch text mentions people, so this contains nothing from a cluster: only handles
 * from the base branch's CODEOWNERS, a time, a duration and the start of a hash.
 */
import type { OutcomeComment } from './outcome-comment.ts'
import { formatDuration, time } from './words.ts'

interface Escalation {
  /** RFC 3339 UTC. */
  readonly since: string
  /** Seconds. */
  readonly after: number
  /** Of the undecided drift: other drift updates the same comment. */
  readonly fingerprint: string
  /** `@login` or `@org/team`; others are omitted. */
  readonly owners: readonly string[]
}

/** On GitHub or Gitea. */
const HANDLE =
  /^@[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,98}[A-Za-z0-9_-])?(?:\/[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,98}[A-Za-z0-9_-])?)?$/
const MENTIONED = 10

/** A separate topic, so that mentioned people get a new comment. */
export function createEscalationComment({
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
    body: `This pull request has waited for a decision since ${time(since)}, longer than ${formatDuration(after)}${about}. ${requested}: please merge or close it, or write \`/snooze 7d\`.\n`,
  }
}
