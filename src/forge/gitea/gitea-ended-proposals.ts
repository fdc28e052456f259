import { statusOf } from '../adapter/refused-answer.ts'
import type { KnownProposal } from '../ports/hosted-forge.ts'
import {
  gitReferencesSchema,
  type PullRequest,
  proposalOf,
  pullRequestSchema,
  timelineSchema,
} from './gitea-answers.ts'
import type { GiteaClient } from './gitea-client.ts'
import { isOwnBranch, LIST, readPullRequest, refOf } from './gitea-pull-requests.ts'

const RECENT_PAGES = 2
const PAGE = 50

export class GiteaEndedProposals {
  readonly #client: GiteaClient
  readonly #login: (signal: AbortSignal) => Promise<string>

  /** @param login its decisions were made for somebody else */
  constructor(client: GiteaClient, login: (signal: AbortSignal) => Promise<string>) {
    this.#client = client
    this.#login = login
  }

  async read(
    baseBranch: string,
    refs: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<KnownProposal[]> {
    const found = new Map<string, PullRequest[]>()
    const take = (pull: PullRequest): void => {
      const ref = refOf(pull)
      const fits =
        refs.has(ref) && pull.base.ref === baseBranch && isOwnBranch(pull) && pull.state !== 'open'
      if (fits) found.set(ref, [...(found.get(ref) ?? []), pull])
    }
    const path = this.#client.path('/pulls')
    for (let page = 1; page <= RECENT_PAGES && found.size < refs.size; page += 1) {
      const query = {
        state: 'closed',
        sort: 'recentupdate',
        base_branch: baseBranch,
        page,
        limit: PAGE,
      }
      const pulls =
        (await this.#client.get(
          { path, query, what: LIST },
          pullRequestSchema.array().nullable(),
          signal,
        )) ?? []
      for (const pull of pulls) take(pull)
      if (pulls.length === 0) break
    }
    for (const ref of refs) {
      if (found.has(ref)) continue
      const pull = await this.#byBranch(baseBranch, ref.slice('refs/heads/'.length), signal)
      if (pull !== undefined) take(pull)
    }
    return Promise.all(
      [...found.values()].map(async (pulls) => {
        const { pull, by } = await this.#decision(pulls, signal)
        return proposalOf(pull, by, await this.#headOf(pull, signal))
      }),
    )
  }

  async readOne(pull: PullRequest, signal: AbortSignal): Promise<KnownProposal> {
    return proposalOf(pull, await this.#decidedBy(pull, signal), await this.#headOf(pull, signal))
  }

  /** Merged, or closed by a person. Backporch's account closes duplicates. */
  async #decision(
    pulls: readonly PullRequest[],
    signal: AbortSignal,
  ): Promise<{ readonly pull: PullRequest; readonly by: string }> {
    const ended = await Promise.all(
      pulls.map(async (pull) => ({ pull, by: await this.#decidedBy(pull, signal) })),
    )
    const decided = ended.filter(({ pull, by }) => pull.merged || by !== '')
    const [first, ...more] = decided.length > 0 ? decided : ended
    if (first === undefined) throw new TypeError('no pull request')
    return more.reduce((last, one) => (isLater(one.pull, last.pull) ? one : last), first)
  }

  /**
   * Gitea reports the branch's present head; the proposal's own ref stays
   * (docs/facts/head-of-an-ended-pull-request.md).
   */
  async #headOf({ number, head }: PullRequest, signal: AbortSignal): Promise<string> {
    const ref = `refs/pull/${number}/head`
    if (head.ref === ref) return head.sha
    const requested = {
      path: this.#client.path(`/git/${ref}`),
      what: 'read the head of the pull request',
    }
    const listed = await this.#client.get(requested, gitReferencesSchema, signal)
    return listed.find((one) => one.ref === ref)?.object.sha ?? head.sha
  }

  async #byBranch(
    base: string,
    branch: string,
    signal: AbortSignal,
  ): Promise<PullRequest | undefined> {
    const head = branch.split('/').map(encodeURIComponent).join('/')
    const path = this.#client.path(`/pulls/${encodeURIComponent(base)}/${head}`)
    try {
      return await this.#client.get(
        { path, what: 'find the pull request of a branch' },
        pullRequestSchema,
        signal,
      )
    } catch (thrown) {
      if (statusOf(thrown) === 404) return undefined
      throw thrown
    }
  }

  async #decidedBy(pull: PullRequest, signal: AbortSignal): Promise<string> {
    const login = await this.#deciderOf(pull, signal)
    return login === '' || login.toLowerCase() === (await this.#login(signal)).toLowerCase()
      ? ''
      : login
  }

  /** Lists leave it out. */
  async #deciderOf(pull: PullRequest, signal: AbortSignal): Promise<string> {
    if (pull.merged)
      return (
        (pull.merged_by ?? (await readPullRequest(this.#client, pull.number, signal)).merged_by)
          ?.login ?? ''
      )
    const requested = {
      path: this.#client.path(`/issues/${pull.number}/timeline`),
      what: 'read who closed the pull request',
    }
    const events = (await this.#client.list(requested, signal)).map((event) =>
      timelineSchema.safeParse(event),
    )
    return events.findLast(({ data }) => data?.type === 'close')?.data?.user?.login ?? ''
  }
}

function isLater(one: PullRequest, other: PullRequest): boolean {
  const at = ({ merged, merged_at, closed_at }: PullRequest): number =>
    Date.parse((merged ? merged_at : closed_at) ?? '') || 0
  if (at(one) !== at(other)) return at(one) > at(other)
  return one.merged === other.merged ? one.number > other.number : one.merged
}
