/**
 * Requests the code owners of an undecided proposal. The only text of ours that mentions people, so it contains nothing
 * from a cluster: handles from CODEOWNERS of the base branch, a time, a duration and the beginning of a hash.
 */
import type { OutcomeComment } from './outcome-comment.ts'
import { duration, time } from './words.ts'

export interface Escalation {
  /** RFC 3339 UTC: since when it waits. */
  readonly since: string
  /** Seconds after which the policy requests a person. */
  readonly after: number
  /** Of the undecided drift: another one is requested again, in the same comment. */
  readonly fingerprint: string
  /** `@login` or `@org/team`, as CODEOWNERS has them; what is neither is left out. */
  readonly owners: readonly string[]
}

/** What a forge reads as a mention: GitHub's logins and team names, and those of Gitea. */
const HANDLE = /^@[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,98}[A-Za-z0-9_-])?(?:\/[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,98}[A-Za-z0-9_-])?)?$/
/** A crowd decides nothing. */
const ASKED = 10

/** A comment of its own, so that it is a new one for those whom it mentions. */
export function escalationComment({ since, after, fingerprint, owners }: Escalation): OutcomeComment {
  const handles = [...new Set(owners.filter((owner) => HANDLE.test(owner)))].slice(0, ASKED)
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
