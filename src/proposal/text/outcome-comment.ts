import {
  formatMarkdownCell,
  formatMarkdownCode,
  formatMarkdownLink,
  formatMarkdownProse,
} from '@backporch/kyaml/markdown'
import { time } from './words.ts'

/** Times are RFC 3339 UTC; addresses are empty if there is no page. */
export type Outcome =
  | { readonly kind: 'declined'; readonly silentUntil: string; readonly critical: boolean }
  | { readonly kind: 'healed'; readonly at: string }
  | { readonly kind: 'resolved-by-git'; readonly commit: string; readonly url: string }
  /** The pull request is now about the new drift. */
  | { readonly kind: 'superseded'; readonly at: string }
  /** The forge does not recognise the merge. `by` is undefined if no person is named. */
  | {
      readonly kind: 'merged-in-git'
      readonly commit: string
      readonly url: string
      readonly by: string | undefined
      readonly forge: string
    }
  /** `altered` is a part of a sentence, undefined if unaltered. */
  | {
      readonly kind: 'approved-in-porch'
      readonly commit: string
      readonly url: string
      readonly by: string | undefined
      readonly revision: string
      readonly altered: string | undefined
    }
  /** Decides nothing. */
  | { readonly kind: 'published'; readonly revision: string; readonly by: string | undefined }
  | { readonly kind: 'rejected-in-porch'; readonly silentUntil: string; readonly critical: boolean }
  | {
      readonly kind: 'verified'
      readonly at: string
      readonly plan: 'Restore' | 'Adopt' | 'Release' | 'Mixed'
    }
  | { readonly kind: 'not-restored'; readonly at: string; readonly why: string }
  /** `why` is the beginning of a sentence. */
  | { readonly kind: 'edited'; readonly author: string | undefined; readonly why: string }
  | {
      readonly kind: 'moved-to-mass'
      readonly label: string
      readonly url: string
      readonly clusters: number
    }

export interface OutcomeComment {
  /** `ensureComment` edits the comment of the same topic. */
  readonly topic: string
  readonly body: string
}

const TOPICS: { readonly [kind in Outcome['kind']]: string } = {
  declined: 'outcome',
  healed: 'outcome',
  'resolved-by-git': 'outcome',
  // A separate topic from its later outcome.
  'merged-in-git': 'merged',
  'approved-in-porch': 'merged',
  published: 'outcome',
  'rejected-in-porch': 'outcome',
  verified: 'outcome',
  'not-restored': 'outcome',
  'moved-to-mass': 'outcome',
  superseded: 'superseded',
  edited: 'edited',
}

export function createOutcomeComment(outcome: Outcome): OutcomeComment {
  return { topic: TOPICS[outcome.kind], body: `${describeOutcome(outcome)}\n` }
}

const VERIFIED = {
  Restore: 'the cluster matches git again',
  Adopt: 'git matches the cluster',
  Release: 'git no longer manages these fields, and the cluster kept their values',
  Mixed: 'git and the cluster agree as planned',
} as const

function describeOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'declined':
      return `Closed: nothing changes in the cluster. ${silenceText(outcome)} Reopening this pull request ends the silence.`
    case 'healed':
      return `No decision needed: at ${time(outcome.at)} the cluster matched git again without a merge. The pull request is closed and the branch is deleted.`
    case 'resolved-by-git':
      return `No decision needed: since ${formatMarkdownLink(formatMarkdownCell(outcome.commit.slice(0, 7)), outcome.url)} git matches the cluster. The pull request is closed and the branch is deleted.`
    case 'superseded':
      return `The drift changed at ${time(outcome.at)}. This branch was rebuilt for the new state of the cluster. Review it again before you merge: earlier approvals were for the old state.`
    case 'merged-in-git':
      return `**Merged**${formatBy(outcome.by)}: ${formatMarkdownLink(formatMarkdownCell(outcome.commit.slice(0, 7)), outcome.url)} on the base branch contains it. ${outcome.forge} does not recognise that merge and shows this pull request as closed. Backporch treats it as merged.`
    case 'approved-in-porch': {
      const altered =
        outcome.altered === undefined
          ? ''
          : ` What was published is not what was proposed: ${formatMarkdownProse(outcome.altered)}.`
      return `**Approved through Porch**${formatBy(outcome.by)} as ${formatMarkdownCell(outcome.revision, 20)}: ${formatMarkdownLink(formatMarkdownCell(outcome.commit.slice(0, 7)), outcome.url)} on the base branch contains it. Backporch treats it as merged, whatever this page shows.${altered}`
    }
    case 'published':
      return `Published through Porch${formatBy(outcome.by)} as ${formatMarkdownCell(outcome.revision, 20)}, as the draft that it was: nothing is decided about the cluster. The drift is reported again.`
    case 'rejected-in-porch':
      return `Rejected through Porch: nothing changes in the cluster. ${silenceText(outcome)}`
    case 'verified':
      return `Verified at ${time(outcome.at)}: ${VERIFIED[outcome.plan]}.`
    case 'not-restored':
      return `**Merged, and at ${time(outcome.at)} the cluster still differs from git**: ${formatMarkdownProse(outcome.why)}`
    case 'edited':
      return `${outcome.author === undefined ? 'Another author' : formatMarkdownCell(outcome.author, 60)} pushed to this branch. Backporch no longer updates it and makes no statement about it (${formatMarkdownProse(outcome.why)}). \`/recreate\` in a comment discards those commits and rebuilds the branch.`
    case 'moved-to-mass':
      return `The same drift is in ${outcome.clusters} clusters. The decision for all of them is made in ${formatMarkdownLink(formatMarkdownCode(outcome.label, 60), outcome.url)}. This pull request is closed.`
  }
}

function formatBy(by: string | undefined): string {
  return by === undefined ? '' : ` by ${formatMarkdownCell(by, 60)}`
}

function silenceText({
  silentUntil,
  critical,
}: {
  readonly silentUntil: string
  readonly critical: boolean
}): string {
  const most = critical ? ' (critical drift is silenced for one day at most)' : ''
  return `This drift is silenced until ${time(silentUntil)}${most}. New drift is still reported.`
}
