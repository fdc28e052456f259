/**
 * Every method may be called twice: the second call sends no write request. Branches and commits go
 * through git; a commit that only the forge can sign is created there and pushed by git.
 */
import type { CommitDraft, RefUpdate } from '@backporch/git-store/package-repository'
import type { FileMode, ObjectId } from '@backporch/kyaml/files'
import type { ForgeCheckRuns } from './check-run.ts'
import type { ForgeSetup } from './forge-setup.ts'

/** No code tests which forge it is. */
export interface ForgeDialect {
  readonly name: string
  /** UTF-16 code units, as forges count. */
  readonly bodyLimit: number
  readonly titleLimit: number
  readonly alerts: boolean
  readonly folds: boolean
  fileUrl(commit: ObjectId, path: string, line: number | undefined): string
  branchFileUrl(branch: string, path: string): string
}

export interface ProposalMerge {
  readonly proposal: { readonly ref: string; readonly commit: ObjectId }
  readonly base: { readonly ref: string; readonly commit: ObjectId }
  /** Its parents are base and proposal. */
  readonly merge: CommitDraft
  /** If git alone is the forge: the ledger names it. */
  readonly commit?: ObjectId | undefined
  readonly tag: string | undefined
  readonly along: readonly RefUpdate[]
}

export interface ProposalClose {
  readonly proposal: { readonly ref: string; readonly commit: ObjectId }
  readonly along: readonly RefUpdate[]
}

export interface WantedProposal {
  readonly ref: string
  readonly commit: ObjectId
  readonly baseBranch: string
  readonly title: string
  readonly body: string
  /** Created on the forge if missing. People's labels are kept. */
  readonly labels: readonly string[]
  readonly draft: boolean
  /** Logins and `org/team` names, requested once, when the proposal is opened. */
  readonly reviewers: readonly string[]
  /** Logins, assigned once. */
  readonly assignees?: readonly string[]
  /** Title of an open milestone, set once. */
  readonly milestone?: string | undefined
}

export interface OpenedProposal {
  readonly label: string
  readonly url: string
  /** Undefined if git is the forge. */
  readonly number: number | undefined
}

export interface KnownProposal extends OpenedProposal {
  readonly number: number
  /** If found by number, the branch that it was opened from. */
  readonly ref: string
  readonly movedTo?: string
  readonly baseBranch: string
  readonly state: 'open' | 'merged' | 'closed'
  /** For a merged or closed one, the head at that moment. */
  readonly commit: ObjectId
  readonly title: string
  /**
   * With `\n` line breaks. Anybody with write access may have edited it: only ticks of Backporch's
   * own boxes are trusted.
   */
  readonly body: string
  readonly labels: readonly string[]
  readonly draft: boolean
  /** A push to its branch removes it from the merge queue. */
  readonly isQueued?: true
  /** RFC 3339 UTC. */
  readonly openedAt?: string
  /**
   * Undefined while open, if unknown, and if Backporch's account did it: then the commit names the
   * person.
   */
  readonly decidedBy: string | undefined
  /** RFC 3339 UTC; undefined while open. */
  readonly decidedAt: string | undefined
}

export interface WriteCount {
  /** The method that would send the first write throws `HeldBackWrite`. */
  readonly dryRun: boolean
  readonly count: number
}

export class HeldBackWrite extends Error {}

/** @throws Failure BP50xx, from every method */
export interface Forge {
  readonly dialect: ForgeDialect
  readonly setup: ForgeSetup
  readonly writeCount: WriteCount
  /**
   * Open proposals from a branch under `proposed/` or named in `refs`, and the last one of each
   * other ref of `refs`. An untrustworthy answer is a failure, never an absence. @param numbers the
   * ref's last opened proposal, which counts even with a renamed branch or another base. A number
   * that the repository lacks, or of a fork, counts as none
   */
  readProposals(
    baseBranch: string,
    refs: readonly string[],
    signal: AbortSignal,
    numbers?: ReadonlyMap<string, number>,
  ): Promise<readonly KnownProposal[]>
  /**
   * One branch has one proposal. One that ended since keeps its reviewed text. @param known the
   * branch's result of `readProposals`
   * @throws Failure BP4003 if `known` was open and no longer is
   */
  ensureProposal(
    wanted: WantedProposal,
    known: KnownProposal | undefined,
    signal: AbortSignal,
  ): Promise<OpenedProposal>
  /**
   * @returns `queued` if the base branch has a merge queue
   * @throws Failure BP4002, BP4003 as a push does
   */
  merge(decision: ProposalMerge, signal: AbortSignal): Promise<ObjectId | 'queued'>
  /** @throws Failure BP4002, BP4003 as a push does */
  close(decision: ProposalClose, signal: AbortSignal): Promise<void>
}

/**
 * `context` is `drift/fresh`, `drift/render`, `drift/policy`, `drift/applier` or `drift/restored`.
 */
export interface CommitStatus {
  readonly context: string
  readonly state: 'pending' | 'success' | 'failure'
  /** At most 140 characters. */
  readonly description: string
  readonly url: string | undefined
}

export interface OpenHead {
  readonly kind: 'proposal' | 'pull-request' | 'group'
  readonly commit: ObjectId
  readonly numbers: readonly number[]
  readonly status: CommitStatus | undefined
}

export interface WantedHeads {
  readonly baseBranch: string
  readonly context: string
  readonly refs: ReadonlyMap<string, ObjectId>
}

interface ForgeStatuses {
  ensureStatuses(
    commit: ObjectId,
    statuses: readonly CommitStatus[],
    signal: AbortSignal,
  ): Promise<void>
  /** Merge groups first, then pull requests by any author, including forks, newest first. */
  readOpenHeads(wanted: WantedHeads, signal: AbortSignal): Promise<readonly OpenHead[]>
}

export interface ForgeComment {
  readonly id: string
  readonly author: string
  readonly bot: boolean
  readonly body: string
  /** The last editor, or the author; undefined if unknown. */
  readonly writer: string | undefined
  /** RFC 3339 UTC. */
  readonly at: string
  readonly answered: boolean
}

export type Permission = 'none' | 'read' | 'write' | 'admin'

interface ForgeConversation {
  readComments(number: number, signal: AbortSignal): Promise<readonly ForgeComment[]>
  /** Without its mark, with `\n` line breaks. Never another account's. */
  readOwnComment(number: number, topic: string, signal: AbortSignal): Promise<string | undefined>
  /** One per topic, edited in place. */
  ensureComment(number: number, topic: string, body: string, signal: AbortSignal): Promise<void>
  /** `done` and `refused` stay. */
  react(
    comment: ForgeComment,
    reaction: 'seen' | 'done' | 'refused',
    signal: AbortSignal,
  ): Promise<void>
  permissionOf(login: string, signal: AbortSignal): Promise<Permission>
}

export interface ForgePullRequest
  extends Pick<KnownProposal, 'number' | 'label' | 'url' | 'baseBranch' | 'commit'> {
  /** May be in a fork. */
  readonly branch: string
  readonly fork: boolean
  readonly open: boolean
}

interface ForgePullRequests {
  readPullRequest(number: number, signal: AbortSignal): Promise<ForgePullRequest>
  readPullRequests(baseBranch: string, signal: AbortSignal): Promise<readonly ForgePullRequest[]>
}

export interface KnownIssue {
  readonly number: number
  readonly url: string
  readonly open: boolean
  readonly body: string
}

export interface WantedIssue {
  readonly topic: string
  readonly title: string
  readonly body: string
  readonly labels: readonly string[]
}

interface ForgeIssues {
  /** One per topic, rewritten in place and reopened after a person closed it. */
  ensureIssue(wanted: WantedIssue, signal: AbortSignal): Promise<KnownIssue>
  readIssue(topic: string, signal: AbortSignal): Promise<KnownIssue | undefined>
  closeIssue(topic: string, signal: AbortSignal): Promise<void>
}

/** `content: null`: deleted. */
export interface UnmadeFile {
  readonly path: string
  readonly mode: Exclude<FileMode, '160000'>
  readonly content: Uint8Array | null
}

export interface UnmadeCommit {
  readonly parents: readonly ObjectId[]
  readonly base: ObjectId | undefined
  readonly files: readonly UnmadeFile[]
  readonly tree: ObjectId
  readonly message: string
}

/**
 * For a forge that signs commits of accounts that are not persons. The forge sets author and time.
 */
export interface ForgeCommits {
  getAccount(signal: AbortSignal): Promise<string>
  /** Also whether the forge signs this account's commits. @param ref full name */
  areRequired(ref: string, baseBranch: string, signal: AbortSignal): Promise<boolean>
  /**
   * @returns undefined if the forge does not sign it
   * @throws Failure BP5007 where it is another commit
   */
  make(commit: UnmadeCommit, signal: AbortSignal): Promise<Uint8Array | undefined>
}

export interface HostedForge
  extends Forge,
    ForgeStatuses,
    ForgeConversation,
    ForgePullRequests,
    ForgeIssues {
  /**
   * For an open proposal whose merge is in git: a forge records the merge some time later, and a
   * proposal whose branch is deleted before that stays closed forever. So this polls for a few
   * seconds.
   * @throws Failure BP4003 if it ended: read it again
   */
  assertStaysOpen(known: KnownProposal, signal: AbortSignal): Promise<void>
  /**
   * For a proposal whose branch is deleted and whose end is in the ledger: a forge closes it from a
   * queue, which may be lost.
   */
  closeProposal(known: KnownProposal, signal: AbortSignal): Promise<void>
  /** GitHub accepts them only from Apps. */
  readonly checkRuns?: ForgeCheckRuns | undefined
  /** GitHub signs only for Apps. */
  readonly commits?: ForgeCommits | undefined
}
