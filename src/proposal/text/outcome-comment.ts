/** What is said on a pull request when something became of it: one comment for each topic, one or two sentences. */
import { markdownCell, markdownCode, markdownLink, markdownProse } from '../../text/markdown-text.ts'
import { time } from './words.ts'

/** Times are RFC 3339 UTC; addresses are empty where there is no page. */
export type Outcome =
  | { readonly kind: 'declined'; readonly silentUntil: string; readonly critical: boolean }
  | { readonly kind: 'healed'; readonly at: string }
  | { readonly kind: 'resolved-by-git'; readonly commit: string; readonly url: string }
  /** The drift changed, and the same pull request is about the new one. */
  | { readonly kind: 'superseded'; readonly at: string }
  /** Git has the merge, and the forge does not know of it. `by`: empty where nobody is named. */
  | { readonly kind: 'merged-in-git'; readonly commit: string; readonly url: string; readonly by: string; readonly forge: string }
  | { readonly kind: 'verified'; readonly at: string; readonly plan: 'Restore' | 'Adopt' | 'Release' | 'Mixed' }
  | { readonly kind: 'not-restored'; readonly at: string; readonly why: string }
  /** `why`: as the beginning of a sentence. */
  | { readonly kind: 'edited'; readonly author: string; readonly why: string }
  | { readonly kind: 'moved-to-mass'; readonly label: string; readonly url: string; readonly clusters: number }

export interface OutcomeComment {
  /** What `ensureComment` edits in place: the same topic is never said twice. */
  readonly topic: string
  readonly body: string
}

const TOPICS: { readonly [kind in Outcome['kind']]: string } = {
  declined: 'outcome',
  healed: 'outcome',
  'resolved-by-git': 'outcome',
  // Beside what becomes of it later: the page itself says "closed".
  'merged-in-git': 'merged',
  verified: 'outcome',
  'not-restored': 'outcome',
  'moved-to-mass': 'outcome',
  superseded: 'superseded',
  edited: 'edited',
}

export function outcomeComment(outcome: Outcome): OutcomeComment {
  return { topic: TOPICS[outcome.kind], body: `${sentence(outcome)}\n` }
}

const VERIFIED = {
  Restore: 'the cluster is what git says again',
  Adopt: 'git says what the cluster has',
  Release: 'git no longer manages these fields, and the cluster kept them',
  Mixed: 'git and the cluster agree as planned',
} as const

function sentence(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'declined':
      return `Closed: the cluster stays as it is, and exactly this drift is not raised again until ${time(outcome.silentUntil)}${outcome.critical ? ' (critical drift is silent for a day at most)' : ''}. Any other change is, and reopening this raises it at once.`
    case 'healed':
      return `Nothing is left to decide: at ${time(outcome.at)} the cluster was what git says again, without a merge. Closed, and the branch deleted.`
    case 'resolved-by-git':
      return `Nothing is left to decide: since ${markdownLink(markdownCell(outcome.commit.slice(0, 7)), outcome.url)} git says what the cluster has. Closed, and the branch deleted.`
    case 'superseded':
      return `The drift changed at ${time(outcome.at)}, so this was rebuilt for what the cluster is now. Look again before you merge: an earlier approval was for something else.`
    case 'merged-in-git':
      return `**Merged**${outcome.by === '' ? '' : ` by ${markdownCell(outcome.by, 60)}`}: ${markdownLink(markdownCell(outcome.commit.slice(0, 7)), outcome.url)} on the base branch has it. ${outcome.forge} does not know of that merge and shows this as closed; the decision is a merge all the same.`
    case 'verified':
      return `Verified at ${time(outcome.at)}: ${VERIFIED[outcome.plan]}.`
    case 'not-restored':
      return `**Merged, and at ${time(outcome.at)} the cluster still differs from git**: ${markdownProse(outcome.why)}`
    case 'edited':
      return `${outcome.author === '' ? 'Somebody' : markdownCell(outcome.author, 60)} pushed to this branch, so it is theirs: backporch no longer touches it, and vouches for nothing on it (${markdownProse(outcome.why)}). \`/recreate\` in a comment discards their commits and builds the branch anew.`
    case 'moved-to-mass':
      return `The same drift is in ${outcome.clusters} clusters, and is decided for all of them in ${markdownLink(markdownCode(outcome.label, 60), outcome.url)}. Closed here.`
  }
}
