/** A forge in memory over a `MemoryRepository`: people merge, close and reopen there; every write is listed. */
import {
  assertSeen,
  createEndedFailure,
  createMovedFailure,
  finishMerge,
  readByNumber,
} from '@backporch/forge/adapter'
import { GITEA_SETUP } from '@backporch/forge/gitea'
import {
  type CommitStatus,
  type ForgeComment,
  type ForgeDialect,
  type ForgePullRequest,
  HeldBackWrite,
  type HostedForge,
  type KnownIssue,
  type KnownProposal,
  type OpenedProposal,
  type OpenHead,
  type Permission,
  type ProposalClose,
  type ProposalMerge,
  type WantedHeads,
  type WantedIssue,
  type WantedProposal,
} from '@backporch/forge/hosted-forge'
import { LocalForge } from '@backporch/forge/local-forge'
import { Failure } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'
import type { MemoryRepository } from './memory-repository.ts'

export class MemoryForge implements HostedForge {
  readonly dialect: ForgeDialect = {
    name: 'Memory',
    bodyLimit: 58_000,
    titleLimit: 256,
    alerts: true,
    folds: true,
    fileUrl: (commit, path, line) =>
      `https://forge.example/${commit}/${path}${line === undefined ? '' : `#L${line}`}`,
    branchFileUrl: (branch, path) => `https://forge.example/${branch}/${path}`,
  }
  readonly setup = GITEA_SETUP
  /** Every request that changed something but issues, in order: `open #1`, `comment #1 outcome`. */
  readonly writes: string[] = []
  readonly writeCount = { dryRun: false, count: 0 }
  readonly proposals: KnownProposal[] = []
  /** Every request to ensure a proposal, in order. */
  readonly wanted: WantedProposal[] = []
  readonly comments: { readonly number: number; readonly topic: string; readonly body: string }[] =
    []
  readonly conversation: {
    readonly number: number
    readonly comment: ForgeComment
    reaction: string | undefined
  }[] = []
  readonly permissions = new Map<string, Permission>()
  readonly statuses = new Map<string, CommitStatus>()
  /** The same for issues: `open dashboard`. */
  readonly issueWrites: string[] = []
  /** By topic. */
  readonly issues = new Map<string, KnownIssue & { readonly title: string }>()
  /** RFC 3339 UTC; a test with limits on openings says what time it is. */
  now: (() => string) | undefined
  /** Called before each write: a test ends the process there. */
  beforeWrite: (write: string) => void = () => undefined
  /** Called when a write is done: a test loses the answer there. */
  afterWrite: (write: string) => void = () => undefined
  /** Called before the proposals are read: a test lets somebody decide there. */
  beforeRead: () => void = () => undefined
  /** Called when it is asked whether what git merged stays open: a test lets the forge enter its own merge there. */
  beforeEndCheck: (known: KnownProposal) => void = () => undefined
  /** Whether its queue is lost: one whose branch is gone stays open. */
  leavesOpen = false
  private readonly repository: MemoryRepository

  constructor(repository: MemoryRepository) {
    this.repository = repository
  }

  /** As forges do it: the head of an open pull request is what its branch is, and one whose branch is gone is closed. */
  private refresh(): void {
    this.proposals.forEach((proposal, index) => {
      if (proposal.state !== 'open') return
      const commit = this.repository.branches.get(proposal.ref)
      if (commit === undefined && this.leavesOpen) return
      this.proposals[index] =
        commit === undefined
          ? {
              ...proposal,
              state: 'closed',
              decidedBy: undefined,
              decidedAt: '2026-11-21T10:00:00Z',
            }
          : { ...proposal, commit }
    })
  }

  async readProposals(
    baseBranch: string,
    refs: readonly string[],
    _signal?: AbortSignal,
    numbers?: ReadonlyMap<string, number>,
  ): Promise<readonly KnownProposal[]> {
    this.beforeRead()
    this.refresh()
    const open = this.proposals.filter(
      (proposal) => proposal.state === 'open' && proposal.baseBranch === baseBranch,
    )
    const last = refs
      .filter((ref) => !open.some((proposal) => proposal.ref === ref))
      .flatMap(
        (ref) =>
          this.proposals.findLast(
            (proposal) => proposal.ref === ref && proposal.baseBranch === baseBranch,
          ) ?? [],
      )
    return readByNumber([...open, ...last], { refs, numbers }, async (number) =>
      this.proposals.find((proposal) => proposal.number === number),
    )
  }

  async ensureProposal(
    wanted: WantedProposal,
    known: KnownProposal | undefined,
  ): Promise<OpenedProposal> {
    this.refresh()
    this.wanted.push(wanted)
    const { title, body, labels, draft, ref, commit, baseBranch } = wanted
    const open = this.proposals.findIndex(
      (proposal) => proposal.state === 'open' && proposal.ref === ref,
    )
    const before = this.proposals[open]
    if (before === undefined && known?.state === 'open') throw createEndedFailure(known)
    if (before === undefined) {
      const last = this.proposals.findLast((proposal) => proposal.ref === ref)
      if (last !== undefined) assertSeen(last, wanted, known)
      const number = this.proposals.length + 1
      this.write(`open #${number}`, () => {
        this.proposals.push({
          number,
          label: `#${number}`,
          url: `https://forge.example/pulls/${number}`,
          ref,
          baseBranch,
          state: 'open',
          commit,
          title,
          body,
          labels,
          draft,
          ...(this.now === undefined ? {} : { openedAt: this.now() }),
          decidedBy: undefined,
          decidedAt: undefined,
        })
      })
      return { label: `#${number}`, url: `https://forge.example/pulls/${number}`, number }
    }
    if (known === undefined) throw new Error('the turn did not know of an open proposal')
    const sameText = before.title === title && before.body === body && before.draft === draft
    const same =
      sameText && before.labels.join() === labels.join() && before.baseBranch === baseBranch
    if (same) return before
    this.write(`edit #${before.number}`, () => {
      const now = this.proposals[open]
      if (now?.state !== 'open') throw createEndedFailure(before)
      this.proposals[open] = { ...now, title, body, labels, draft, baseBranch }
    })
    return before
  }

  async merge(decision: ProposalMerge, signal: AbortSignal): Promise<ObjectId> {
    const { proposal, base, merge } = decision
    const refs = this.repository.branches
    for (const { ref, commit } of [base, proposal])
      if (refs.get(ref) !== commit) throw createMovedFailure('memory', ref)
    const branch = base.ref.replace('refs/heads/', '')
    // As the forge's own account of ours, and the rest in one push afterwards.
    this.write(
      `merge ${this.proposals.find((each) => each.state === 'open' && each.ref === proposal.ref)?.label}`,
      () => {
        const files = Object.fromEntries(
          merge.changes.map(({ path, content }) => [
            path,
            content === null ? null : new TextDecoder().decode(content),
          ]),
        )
        const { parents, message, at } = merge
        this.repository.commitByHand(branch, files, {
          author: 'backporch@forge.example',
          parents,
          message,
          at,
        })
        this.end(proposal, 'merged')
      },
    )
    const commit = this.repository.head(branch)
    await finishMerge(this.repository, decision, commit, signal)
    return commit
  }

  async close(decision: ProposalClose, signal: AbortSignal): Promise<void> {
    await new LocalForge(this.repository).close(decision, signal)
    this.end(decision.proposal, 'closed')
  }

  async assertStaysOpen(known: KnownProposal): Promise<void> {
    this.beforeEndCheck(known)
    this.refresh()
    if (this.proposals.find(({ number }) => number === known.number)?.state !== 'open')
      throw createEndedFailure(known)
  }

  async closeProposal({ ref, commit, number }: KnownProposal): Promise<void> {
    if (this.proposals.find((proposal) => proposal.number === number)?.state !== 'open') return
    this.write(`close #${number}`, () => this.end({ ref, commit }, 'closed'))
  }

  /** By our own account, which no forge port tells as a person. */
  private end({ ref, commit }: ProposalClose['proposal'], state: 'merged' | 'closed'): void {
    const index = this.proposals.findIndex(
      (proposal) => proposal.state === 'open' && proposal.ref === ref,
    )
    const before = this.proposals[index]
    if (before === undefined) return
    this.proposals[index] = {
      ...before,
      commit,
      state,
      decidedBy: undefined,
      decidedAt: this.now?.() ?? '2026-11-21T10:00:00Z',
    }
  }

  async ensureStatuses(commit: ObjectId, statuses: readonly CommitStatus[]): Promise<void> {
    for (const status of statuses) {
      const key = `${commit} ${status.context}`
      const before = this.statuses.get(key)
      if (before?.state === status.state && before.description === status.description) continue
      this.write(`status ${status.context} ${status.state}`, () => this.statuses.set(key, status))
    }
  }

  async readOpenHeads({ baseBranch, context }: WantedHeads): Promise<readonly OpenHead[]> {
    this.refresh()
    const proposals = this.proposals.filter(
      (each) => each.state === 'open' && each.baseBranch === baseBranch,
    )
    const heads = (
      kind: OpenHead['kind'],
      pulls: readonly { readonly commit: ObjectId; readonly number: number }[],
    ): OpenHead[] =>
      pulls.map(({ commit, number }) => ({
        kind,
        commit,
        numbers: [number],
        status: this.statuses.get(`${commit} ${context}`),
      }))
    return [
      ...heads('pull-request', await this.readPullRequests(baseBranch)),
      ...heads('proposal', proposals),
    ]
  }

  async readComments(number: number): Promise<readonly ForgeComment[]> {
    return this.conversation
      .filter((each) => each.number === number)
      .map(({ comment, reaction }) => ({
        ...comment,
        answered: reaction === 'done' || reaction === 'refused',
      }))
  }

  /** Pull requests of people, beside the proposals. A test writes them. */
  readonly pullRequests: ForgePullRequest[] = []

  async readPullRequest(number: number): Promise<ForgePullRequest> {
    const found = this.pullRequests.find((each) => each.number === number)
    if (found !== undefined) return found
    throw new Failure({
      code: 'BP5006',
      what: `cannot read #${number}`,
      why: 'there is none',
      remedy: 'name another one',
    })
  }

  async readPullRequests(baseBranch: string): Promise<readonly ForgePullRequest[]> {
    return this.pullRequests.filter((each) => each.open && each.baseBranch === baseBranch)
  }

  async readOwnComment(number: number, topic: string): Promise<string | undefined> {
    return this.comments.find((comment) => comment.number === number && comment.topic === topic)
      ?.body
  }

  async ensureComment(number: number, topic: string, body: string): Promise<void> {
    const index = this.comments.findIndex(
      (comment) => comment.number === number && comment.topic === topic,
    )
    if (this.comments[index]?.body === body) return
    this.write(`comment #${number} ${topic}`, () => {
      if (index === -1) this.comments.push({ number, topic, body })
      else this.comments[index] = { number, topic, body }
    })
  }

  async react({ id }: ForgeComment, reaction: 'seen' | 'done' | 'refused'): Promise<void> {
    this.write(`react ${id} ${reaction}`, () => {
      for (const each of this.conversation) if (each.comment.id === id) each.reaction = reaction
    })
  }

  async permissionOf(login: string): Promise<Permission> {
    return this.permissions.get(login) ?? 'none'
  }

  async ensureIssue({ topic, title, body }: WantedIssue): Promise<KnownIssue> {
    const before = this.issues.get(topic)
    const number = before?.number ?? 1_000 + this.issues.size
    const issue = { number, url: `https://forge.example/issues/${number}`, open: true, title, body }
    if (before?.open === true && before.title === title && before.body === body) return issue
    this.writeIssue(`${before === undefined ? 'open' : 'edit'} ${topic}`, () =>
      this.issues.set(topic, issue),
    )
    return issue
  }

  async readIssue(topic: string): Promise<KnownIssue | undefined> {
    return this.issues.get(topic)
  }

  async closeIssue(topic: string): Promise<void> {
    const before = this.issues.get(topic)
    if (before?.open !== true) return
    this.writeIssue(`close ${topic}`, () => this.issues.set(topic, { ...before, open: false }))
  }

  /** What a person does in the browser. */
  byHand(number: number, change: Partial<KnownProposal>): void {
    this.refresh()
    const index = this.proposals.findIndex((proposal) => proposal.number === number)
    const before = this.proposals[index]
    if (before === undefined) throw new Error(`no proposal ${number}`)
    this.proposals[index] = { ...before, ...change }
  }

  comment(number: number, author: string, body: string, more: Partial<ForgeComment> = {}): void {
    const id = String(this.conversation.length + 1)
    const comment = {
      id,
      author,
      bot: false,
      body,
      at: '2026-11-21T10:00:00Z',
      writer: author,
      answered: false,
      ...more,
    }
    this.conversation.push({ number, comment, reaction: undefined })
  }

  private writeIssue(what: string, change: () => void): void {
    this.count()
    this.beforeWrite(what)
    this.issueWrites.push(what)
    change()
    this.afterWrite(what)
  }

  private count(): void {
    this.writeCount.count += 1
    if (this.writeCount.dryRun) throw new HeldBackWrite('a dry run')
  }

  private write(what: string, change: () => void): void {
    this.count()
    this.beforeWrite(what)
    this.writes.push(what)
    change()
    this.afterWrite(what)
  }
}
