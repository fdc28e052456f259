/**
 * Where people review. Every method may be called twice: the second call sends no request that writes. Branches and commits go
 * through git, never through a forge's API; a commit that only the forge can sign is made there, and pushed by git.
 */
import type { CommitDraft, RefUpdate } from '@backporch/git-store/package-repository'
import type { FileMode, ObjectId } from '@backporch/kyaml/files'
import type { ForgeCheckRuns } from './check-run.ts'
import type { ForgeSetup } from './forge-setup.ts'

/** How a forge draws text and what it accepts: bodies are rendered from this, and no code tests which forge it is. */
export interface ForgeDialect {
  /** As people call it: `GitHub`, `Gitea`; `git` where git alone is the forge. */
  readonly name: string
  /** Most characters (UTF-16 code units, as forges count) of the body of a proposal, an issue or a comment. */
  readonly bodyLimit: number
  readonly titleLimit: number
  /** Whether `> [!WARNING]` is drawn as a coloured box; a plain quote with the word in bold otherwise. */
  readonly alerts: boolean
  /** Whether a folded `<details>` block is drawn. */
  readonly folds: boolean
  /** Address of a file as a commit has it, at a line that counts from 1; empty where there is no page. */
  fileUrl(commit: ObjectId, path: string, line: number | undefined): string
  /** Address of a file as a branch has it now. */
  branchFileUrl(branch: string, path: string): string
}

/** A decision to merge, with what belongs to it. */
export interface ProposalMerge {
  readonly proposal: { readonly ref: string; readonly commit: ObjectId }
  readonly base: { readonly ref: string; readonly commit: ObjectId }
  /** The merge commit; its parents are base and proposal. */
  readonly merge: CommitDraft
  /** The same, where it is made already because git alone is the forge: the ledger names it. */
  readonly commit?: ObjectId | undefined
  /** Full name of the revision's tag; undefined where it gets none. */
  readonly tag: string | undefined
  /** Refs that move along: the ledger. */
  readonly along: readonly RefUpdate[]
}

export interface ProposalClose {
  readonly proposal: { readonly ref: string; readonly commit: ObjectId }
  readonly along: readonly RefUpdate[]
}

/** The desired state of a proposal: one per branch, however often it is requested. */
export interface WantedProposal {
  /** Full ref name of the pushed branch. */
  readonly ref: string
  readonly commit: ObjectId
  /** Short name of the branch that it is to be merged into. */
  readonly baseBranch: string
  readonly title: string
  readonly body: string
  /** Names; made on the forge where they are not there. Labels of people are left alone: only ours, `drift` and `drift-…/…`, come and go. */
  readonly labels: readonly string[]
  /** Not to be merged yet. */
  readonly draft: boolean
  /** Logins and `org/team` names; the forge leaves out those it cannot request. Requested once, when the proposal is opened. */
  readonly reviewers: readonly string[]
  /** Logins; assigned once, as reviewers are requested. */
  readonly assignees?: readonly string[]
  /** Title of an open milestone; given once, and left out where the forge has none of that title. */
  readonly milestone?: string | undefined
}

export interface OpenedProposal {
  /** What people call it: `#418`, or the name of the branch where git is the forge. */
  readonly label: string
  /** Empty where there is no page. */
  readonly url: string
  /** Number on the forge; undefined where git is the forge. */
  readonly number: number | undefined
}

/** A proposal as the forge has it. */
export interface KnownProposal extends OpenedProposal {
  readonly number: number
  /** Full ref name of its branch: the one that it was opened of, where it was found by its number. */
  readonly ref: string
  /** Full ref name of its branch now, where somebody renamed that. */
  readonly movedTo?: string
  readonly baseBranch: string
  readonly state: 'open' | 'merged' | 'closed'
  /** Head commit as the forge has it; of one that was merged or closed, the head at that moment, wherever its branch went since. */
  readonly commit: ObjectId
  readonly title: string
  /** With `\n` as line break. Anybody with write access may have edited it: nothing in it is believed but ticks of our own boxes. */
  readonly body: string
  readonly labels: readonly string[]
  readonly draft: boolean
  /** Open, and in the merge queue of the base branch: a push to its branch takes it out. */
  readonly isQueued?: true
  /** RFC 3339 UTC; absent where the forge does not report it. */
  readonly openedAt?: string
  /**
   * Login of the person who merged or closed it; empty while open, where the forge does not report it, and where our own account did
   * it: then the commit names the person.
   */
  readonly decidedBy: string
  /** RFC 3339 UTC of the merge or close; empty while open. */
  readonly decidedAt: string
}

/** The requests that write, of everything that was opened together. */
export interface WriteCount {
  /** A dry run sends none of them: the method that would send the first one throws `HeldBackWrite`. */
  readonly dryRun: boolean
  /** How many there were, those included that were held back. */
  readonly count: number
}

/** A dry run did not send a request that writes. */
export class HeldBackWrite extends Error {}

/** @throws Failure BP50xx, from every method */
export interface Forge {
  readonly dialect: ForgeDialect
  readonly setup: ForgeSetup
  readonly writeCount: WriteCount
  /**
   * Every open proposal into the base branch from a branch under `proposed/` or named in `refs`, and for each ref of `refs` that has
   * none, the last one that it had. Never invents absence: an answer that cannot be trusted is a failure.
   * @param numbers by ref, of the last one that was opened of it: it counts also where its branch was renamed, or where it goes into another
   * base. One that the repository does not have, or that is of a fork, is none
   */
  readProposals(
    baseBranch: string,
    refs: readonly string[],
    signal: AbortSignal,
    numbers?: ReadonlyMap<string, number>,
  ): Promise<readonly KnownProposal[]>
  /**
   * Opens or updates; the same branch twice is one proposal. `known` is what `readProposals` gave for the branch. The text of one that
   * ended since stays what was reviewed. @throws Failure BP4003 where `known` was open and is not any more
   */
  ensureProposal(
    wanted: WantedProposal,
    known: KnownProposal | undefined,
    signal: AbortSignal,
  ): Promise<OpenedProposal>
  /**
   * Merges, tags and deletes the branch. @returns the merge commit, or `queued`: the base branch has a merge queue, and what happens there
   * is found later. @throws Failure BP4002, BP4003 as a push does
   */
  merge(decision: ProposalMerge, signal: AbortSignal): Promise<ObjectId | 'queued'>
  /** Closes without a merge. @throws Failure BP4002, BP4003 as a push does */
  close(decision: ProposalClose, signal: AbortSignal): Promise<void>
}

/** `context` is ours: `drift/fresh`, `drift/render`, `drift/policy`, `drift/applier`, `drift/restored`. */
export interface CommitStatus {
  readonly context: string
  readonly state: 'pending' | 'success' | 'failure'
  /** At most 140 characters. */
  readonly description: string
  readonly url: string
}

/** A commit that is to go into the base branch. */
export interface OpenHead {
  /** A pull request of a branch under `proposed/`, any other one, or a merge group of some. */
  readonly kind: 'proposal' | 'pull-request' | 'group'
  readonly commit: ObjectId
  /** Numbers of the pull requests whose changes it has, its own first. */
  readonly numbers: readonly number[]
  /** Of the context that was asked for; undefined where it has none, and for a group. */
  readonly status: CommitStatus | undefined
}

export interface WantedHeads {
  readonly baseBranch: string
  /** Of the status that the heads may have. */
  readonly context: string
  /** Of the repository, by full name: a merge group has a branch. */
  readonly refs: ReadonlyMap<string, ObjectId>
}

interface ForgeStatuses {
  /** Makes the commit have these statuses; one that it has already is not sent again. */
  ensureStatuses(
    commit: ObjectId,
    statuses: readonly CommitStatus[],
    signal: AbortSignal,
  ): Promise<void>
  /**
   * Merge groups first, then the pull requests of whoever, those of forks included, newest first: a required status is waited for on each.
   */
  readOpenHeads(wanted: WantedHeads, signal: AbortSignal): Promise<readonly OpenHead[]>
}

export interface ForgeComment {
  readonly id: string
  /** Login of its author. */
  readonly author: string
  /** The author is a bot account, ours included. */
  readonly bot: boolean
  /** With `\n` as line break. */
  readonly body: string
  /** Login of the person who wrote this text: the last editor, or the author. Undefined where the forge does not report who that is. */
  readonly writer: string | undefined
  /** RFC 3339 UTC: when this text was written. */
  readonly at: string
  /** We answered it already: it has our own reaction `done` or `refused`. */
  readonly answered: boolean
}

export type Permission = 'none' | 'read' | 'write' | 'admin'

interface ForgeConversation {
  /** Comments on a proposal or issue, oldest first, without our own. */
  readComments(number: number, signal: AbortSignal): Promise<readonly ForgeComment[]>
  /** Our own comment of the topic, without its mark, with `\n` as line break; undefined where there is none. Never another account's. */
  readOwnComment(number: number, topic: string, signal: AbortSignal): Promise<string | undefined>
  /** One comment of ours per topic, edited in place; `topic` is a word of ours. */
  ensureComment(number: number, topic: string, body: string, signal: AbortSignal): Promise<void>
  /** `seen` at once, then `done` or `refused`, which stay. */
  react(
    comment: ForgeComment,
    reaction: 'seen' | 'done' | 'refused',
    signal: AbortSignal,
  ): Promise<void>
  /** What a person may do in the repository, read from the forge each time. */
  permissionOf(login: string, signal: AbortSignal): Promise<Permission>
}

/** A pull request of whoever, ours or not. */
export interface ForgePullRequest
  extends Pick<KnownProposal, 'number' | 'label' | 'url' | 'baseBranch' | 'commit'> {
  /** Short name of its branch, which may be in a fork. */
  readonly branch: string
  /** Its branch is in another repository, or in none any more. */
  readonly fork: boolean
  readonly open: boolean
}

interface ForgePullRequests {
  readPullRequest(number: number, signal: AbortSignal): Promise<ForgePullRequest>
  /** The open ones into the branch, oldest first. */
  readPullRequests(baseBranch: string, signal: AbortSignal): Promise<readonly ForgePullRequest[]>
}

export interface KnownIssue {
  readonly number: number
  readonly url: string
  readonly open: boolean
  readonly body: string
}

export interface WantedIssue {
  /** The dashboard, a storm. */
  readonly topic: string
  readonly title: string
  readonly body: string
  readonly labels: readonly string[]
}

interface ForgeIssues {
  /** One issue of ours per topic, rewritten in place and reopened after a person closed it. */
  ensureIssue(wanted: WantedIssue, signal: AbortSignal): Promise<KnownIssue>
  readIssue(topic: string, signal: AbortSignal): Promise<KnownIssue | undefined>
  closeIssue(topic: string, signal: AbortSignal): Promise<void>
}

/** A file of a commit to make, by its path from the root; `content: null` where the base has it and the commit has not. */
export interface UnmadeFile {
  readonly path: string
  readonly mode: Exclude<FileMode, '160000'>
  readonly content: Uint8Array | null
}

/** A commit that is in no repository yet, and whose parents are. */
export interface UnmadeCommit {
  readonly parents: readonly ObjectId[]
  /** The tree over which the files are laid; undefined for the empty one. */
  readonly base: ObjectId | undefined
  readonly files: readonly UnmadeFile[]
  /** What must come of it. */
  readonly tree: ObjectId
  readonly message: string
}

/** Of a forge that signs the commits which it makes for an account that is no person. Its author and its time are then the forge's. */
export interface ForgeCommits {
  /** Login of the author. */
  account(signal: AbortSignal): Promise<string>
  /** Whether commits that go to the ref have to be signed, and the forge signs those of this account. @param ref full name of a branch of ours */
  areRequired(ref: string, baseBranch: string, signal: AbortSignal): Promise<boolean>
  /** @returns content of the commit object; undefined where the forge does not sign it @throws Failure BP5007 where it is another commit */
  make(commit: UnmadeCommit, signal: AbortSignal): Promise<Uint8Array | undefined>
}

/** Everything that a forge with pages has. */
export interface HostedForge
  extends Forge,
    ForgeStatuses,
    ForgeConversation,
    ForgePullRequests,
    ForgeIssues {
  /**
   * Of an open proposal whose merge git has: a forge enters its own merge some time after git has it, and one whose branch is deleted
   * before that stays closed for ever. So this polls for a few seconds. @throws Failure BP4003 where it ended: read it again
   */
  assertStaysOpen(known: KnownProposal, signal: AbortSignal): Promise<void>
  /** Of an open proposal whose branch is gone and whose end the ledger has: a forge closes it from a queue, which may be lost. */
  closeProposal(known: KnownProposal, signal: AbortSignal): Promise<void>
  /** Undefined where the forge has none, or none for this credential: GitHub takes them from Apps only. */
  readonly checkRuns?: ForgeCheckRuns | undefined
  /** Undefined where the forge signs nothing, or nothing for this credential: GitHub signs for Apps only. */
  readonly commits?: ForgeCommits | undefined
}
