/** What the emulated GitHub knows, and how it tells it. Partial shapes: openapi-check.ts completes and judges them. */
import type { EmulatedGit } from './emulated-git.ts'

export interface EmulatedThread {
  readonly number: number
  readonly user: string
  title: string
  body: string
  state: 'open' | 'closed'
  closedAt: string | null
  closedBy: string | null
  /** Of its last change. */
  updatedAt: string
  labels: string[]
  /** Made while lists were behind. */
  readonly late: boolean
  pull: EmulatedPull | undefined
}

export interface EmulatedPull {
  readonly head: string
  sha: string
  base: string
  draft: boolean
  mergedAt: string | null
  mergedBy: string | null
  mergeCommit: string | null
  readonly reviewers: string[]
  readonly assignees: string[]
  milestone: number | null
  /** The branch is one of a fork. */
  readonly fork: boolean
}

export interface EmulatedComment {
  readonly id: number
  readonly thread: number
  readonly user: string
  body: string
  readonly createdAt: string
  updatedAt: string
  /** Of its last edit; undefined where it has none. An editor is null whose account is deleted. */
  edit: { readonly by: string | null; readonly at: string } | undefined
  readonly reactions: { readonly id: number; readonly user: string; readonly content: string }[]
  readonly late: boolean
}

export interface EmulatedStatus {
  readonly sha: string
  readonly context: string
  readonly state: string
  readonly description: string | null
  readonly target_url: string | null
}

export interface EmulatedCheckRun {
  readonly id: number
  /** Number of the App that made it. */
  readonly app: number
  readonly name: string
  readonly head_sha: string
  external_id: string | null
  status: string
  conclusion: string | null
  details_url: string | null
  output: { title: string; summary: string; readonly annotations: readonly unknown[] }
  /** GitHub tells them nobody. */
  actions: readonly unknown[]
}

const QUEUE_LOGIN = 'github-merge-queue[bot]'
/** A query parameter by which a list is narrowed. */
export type ListFilter = 'creator' | 'labels' | 'head' | 'check_name' | 'app_id' | 'content'

/** Whose `GITHUB_TOKEN` is. */
export const ACTIONS_LOGIN = 'github-actions[bot]'

export type Role = 'admin' | 'write' | 'read' | 'none'

export class EmulatedState {
  readonly git: EmulatedGit
  owner: string
  repo: string
  id = 4711
  archived = false
  hidden = false
  issues = true
  /** How an installation token is told what it may do in the repository: not at all, or all false. */
  installationPermissions: 'omitted' | 'false' = 'omitted'
  /** The App of the token is installed for the repository. A public one is shown to every App. */
  installed = true
  /** Other repositories that the App is installed for, which the list has first. */
  otherRepositories = 0
  /** "Allow GitHub Actions to create and approve pull requests", which is off in a new repository. */
  actionsMayOpenPullRequests = false
  /** Rules of rulesets, by short branch name; `refused` where the plan has no rulesets. */
  rules:
    | ((branch: string) => readonly { readonly type: string; readonly parameters?: unknown }[])
    | 'refused' = () => []
  drafts = true
  deleteBranchOnMerge = false
  /** Numbers of the pull requests in the merge queue of `main`; undefined where it has none. */
  queue: number[] | undefined
  /** Who put a pull request into it last, by number. */
  readonly enqueuers = new Map<number, string>()
  /** Required checks are missing: nothing merges. */
  blocked = false
  /** Contexts of statuses that have to be success on what goes into `main`. */
  requiredStatuses: readonly string[] = []
  /** Whether commits of a branch have to be signed, by a rule of the older branch protection; a ruleset is in `rules`. */
  protectedBySignatures: (branch: string) => boolean = () => false
  /** Whether an account is told of the older branch protection. */
  tellsProtection = true
  /** A server may be set up to sign nothing. */
  signsCommits = true
  /** Commits with a signature of GitHub. */
  readonly signed = new Set<string>()
  allowed: Record<'merge' | 'squash' | 'rebase', boolean> = {
    merge: true,
    squash: true,
    rebase: true,
  }
  /** What a ruleset allows, which the repository's settings do not show. */
  ruleset: readonly ('merge' | 'squash' | 'rebase')[] = ['merge', 'squash', 'rebase']
  /** Lists do not show what is made from now on. */
  behind = false
  /**
   * Filters of lists that do not work: `blind` ones find nothing, `ignored` ones everything. Whatever is set here, the filter by `creator` finds
   * nothing of a bot (docs/facts/github-creator-filter.md).
   */
  readonly brokenFilters = new Map<ListFilter, 'blind' | 'ignored'>()
  readonly roles = new Map<string, Role>()
  readonly bots = new Set<string>()
  readonly milestones: {
    readonly number: number
    readonly title: string
    readonly open: boolean
  }[] = []
  readonly labels = new Map<string, { color: string; description: string | null }>()
  readonly threads: EmulatedThread[] = []
  comments: EmulatedComment[] = []
  readonly statuses: EmulatedStatus[] = []
  readonly checkRuns: EmulatedCheckRun[] = []
  /** Logins of Apps to their numbers. */
  readonly apps = new Map<string, number>()
  #count = 0
  #seconds = Date.UTC(2026, 0, 1)

  constructor(git: EmulatedGit, owner: string, repo: string) {
    this.git = git
    this.owner = owner
    this.repo = repo
  }

  next(): number {
    this.#count += 1
    return this.#count
  }

  now(): string {
    this.#seconds += 1000
    return `${new Date(this.#seconds).toISOString().slice(0, 19)}Z`
  }

  may(login: string, role: Role): boolean {
    const order: readonly Role[] = ['none', 'read', 'write', 'admin']
    return (
      this.bots.has(login) || order.indexOf(this.roles.get(login) ?? 'none') >= order.indexOf(role)
    )
  }

  /** Whether a list that is asked with the filter shows what `fits` says. */
  passes(filter: ListFilter, query: URLSearchParams, fits: (wanted: string) => boolean): boolean {
    const wanted = query.get(filter) ?? ''
    const broken = this.brokenFilters.get(filter)
    if (wanted === '' || broken === 'ignored') return true
    return broken !== 'blind' && !(filter === 'creator' && this.bots.has(wanted)) && fits(wanted)
  }

  thread(number: number, pull = false): EmulatedThread | undefined {
    return this.threads.find(
      (thread) => thread.number === number && (!pull || thread.pull !== undefined),
    )
  }

  addThread(parts: {
    user: string
    title: string
    body: string
    labels?: string[]
    pull?: EmulatedPull
  }): EmulatedThread {
    const { user, title, body, labels = [], pull } = parts
    const number = this.threads.length + 1
    const thread = {
      number,
      user,
      title,
      body,
      state: 'open' as const,
      closedAt: null,
      closedBy: null,
      updatedAt: this.now(),
      labels: [...labels],
      late: this.behind,
      pull,
    }
    this.threads.push(thread)
    for (const label of labels)
      if (!this.labels.has(label)) this.labels.set(label, { color: 'ededed', description: null })
    return thread
  }

  touch(thread: EmulatedThread): void {
    thread.updatedAt = this.now()
  }

  addComment(thread: number, user: string, body: string): EmulatedComment {
    const at = this.now()
    const comment = {
      id: 9000 + this.next(),
      thread,
      user,
      body,
      createdAt: at,
      updatedAt: at,
      edit: undefined,
      reactions: [],
      late: this.behind,
    }
    this.comments.push(comment)
    return comment
  }

  editComment(comment: EmulatedComment, by: string | null, body: string, at = this.now()): void {
    comment.body = body
    comment.updatedAt = at
    comment.edit = { by, at }
  }

  setState(thread: EmulatedThread, state: 'open' | 'closed', by: string | null): void {
    if (thread.state === state) return
    this.touch(thread)
    thread.state = state
    thread.closedAt = state === 'closed' ? this.now() : null
    thread.closedBy = state === 'closed' ? by : null
  }

  /** The queue is done with a pull request: it merges by an account of its own. */
  leaveQueue(number: number, how: 'merged' | 'dropped'): void {
    const thread = this.thread(number, true)
    if (this.queue === undefined || thread === undefined)
      throw new Error(`#${number} is in no queue`)
    this.queue = this.queue.filter((one) => one !== number)
    if (how === 'dropped') return
    this.bots.add(QUEUE_LOGIN)
    const merged = this.merge(thread, 'squash', undefined, QUEUE_LOGIN)
    if (typeof merged !== 'string') throw new Error(merged.why)
  }

  /** Why what has to be so before a merge is not. */
  missing({ sha, base }: EmulatedPull): string | undefined {
    const last = (name: string) =>
      this.statuses.findLast((one) => one.sha === sha && one.context === name)?.state
    const expected = this.blocked
      ? 'drift/fresh'
      : this.requiredStatuses.find((name) => last(name) !== 'success')
    if (expected !== undefined) return `Required status check "${expected}" is expected.`
    return this.wantsSignatures(base) && !this.signed.has(sha)
      ? 'Commits must have verified signatures.'
      : undefined
  }

  wantsSignatures(branch: string): boolean {
    const rules = this.rules === 'refused' ? [] : this.rules(branch)
    return (
      this.protectedBySignatures(branch) || rules.some(({ type }) => type === 'required_signatures')
    )
  }

  /** @returns the commit, or why GitHub does not merge */
  merge(
    thread: EmulatedThread,
    style: 'merge' | 'squash' | 'rebase',
    message: string | undefined,
    by: string,
  ): string | { readonly why: string } {
    const { pull } = thread
    if (pull === undefined || thread.state !== 'open')
      return { why: 'Pull Request is not mergeable' }
    if (pull.draft) return { why: 'Pull Request is still a draft' }
    if (this.queue !== undefined && by !== QUEUE_LOGIN)
      return { why: 'Changes must be made through the merge queue' }
    const missing = this.missing(pull)
    if (missing !== undefined) return { why: missing }
    if (!this.allowed[style] || !this.ruleset.includes(style))
      return { why: `${style} is not allowed on this repository.` }
    const text = message ?? `${thread.title} (#${thread.number})`
    const commit = this.git.merge(style, pull.base, pull.sha, text)
    if (commit === undefined) return { why: 'Pull Request has merge conflicts' }
    this.#merged(thread, pull, commit, by)
    if (this.deleteBranchOnMerge) this.git.delete(pull.head)
    return commit
  }

  /** What a push to the repository does to its pull requests. */
  sync(): void {
    const branches = this.git.branches()
    for (const thread of this.threads) {
      const { pull } = thread
      if (pull === undefined || pull.fork || thread.state !== 'open') continue
      const head = branches.get(pull.head)
      const base = branches.get(pull.base)
      if (base !== undefined && this.git.reaches(base, head ?? pull.sha))
        this.#merged(thread, pull, base, null)
      else if (head === undefined) this.setState(thread, 'closed', null)
      else if (pull.sha !== head) {
        // A push takes it out of the queue.
        this.queue = this.queue?.filter((one) => one !== thread.number)
        pull.sha = head
      }
    }
  }

  #merged(thread: EmulatedThread, pull: EmulatedPull, commit: string, by: string | null): void {
    this.setState(thread, 'closed', by)
    pull.mergedAt = thread.closedAt
    pull.mergedBy = by
    pull.mergeCommit = commit
  }
}
