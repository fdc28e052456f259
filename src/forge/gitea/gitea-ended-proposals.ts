import { findRefusedStatus } from '../adapter/refused-answer.ts'
import type { KnownProposal } from '../ports/hosted-forge.ts'
import {
  createGiteaProposal,
  gitReferencesSchema,
  type PullRequest,
  pullRequestSchema,
  timelineSchema,
} from './gitea-answers.ts'
import type { GiteaClient } from './gitea-client.ts'
import { getHeadRef, isOwnBranch, LIST, readPullRequest } from './gitea-pull-requests.ts'

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
      const ref = getHeadRef(pull)
      const fits =
        refs.has(ref) && pull.base.ref === baseBranch && isOwnBranch(pull) && pull.state !== 'open'
      if (fits) found.set(ref, [...(found.get(ref) ?? []), pull])
    }
    const path = this.#client.buildPath('/pulls')
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
      const pull = await this.#findByBranch(baseBranch, ref.slice('refs/heads/'.length), signal)
      if (pull !== undefined) take(pull)
    }
    return Promise.all(
      [...found.values()].map(async (pulls) => {
        const { pull, by } = await this.#findDecision(pulls, signal)
        return createGiteaProposal(pull, by, await this.#findHead(pull, signal))
      }),
    )
  }

  async readOne(pull: PullRequest, signal: AbortSignal): Promise<KnownProposal> {
    return createGiteaProposal(
      pull,
      await this.#findForeignDecider(pull, signal),
      await this.#findHead(pull, signal),
    )
  }

  /** Merged, or closed by a person. Backporch's account closes duplicates. */
  async #findDecision(
    pulls: readonly PullRequest[],
    signal: AbortSignal,
  ): Promise<{ readonly pull: PullRequest; readonly by: string | undefined }> {
    const ended = await Promise.all(
      pulls.map(async (pull) => ({ pull, by: await this.#findForeignDecider(pull, signal) })),
    )
    const decided = ended.filter(({ pull, by }) => pull.merged || by !== undefined)
    const [first, ...more] = decided.length > 0 ? decided : ended
    if (first === undefined) throw new TypeError('no pull request')
    return more.reduce((last, one) => (isLater(one.pull, last.pull) ? one : last), first)
  }

  /**
   * Gitea reports the branch's present head; the proposal's own ref stays
   * (docs/facts/head-of-an-ended-pull-request.md).
   */
  async #findHead({ number, head }: PullRequest, signal: AbortSignal): Promise<string> {
    const ref = `refs/pull/${number}/head`
    if (head.ref === ref) return head.sha
    const requested = {
      path: this.#client.buildPath(`/git/${ref}`),
      what: 'read the head of the pull request',
    }
    const listed = await this.#client.get(requested, gitReferencesSchema, signal)
    return listed.find((one) => one.ref === ref)?.object.sha ?? head.sha
  }

  async #findByBranch(
    base: string,
    branch: string,
    signal: AbortSignal,
  ): Promise<PullRequest | undefined> {
    const head = branch.split('/').map(encodeURIComponent).join('/')
    const path = this.#client.buildPath(`/pulls/${encodeURIComponent(base)}/${head}`)
    try {
      return await this.#client.get(
        { path, what: 'find the pull request of a branch' },
        pullRequestSchema,
        signal,
      )
    } catch (thrown) {
      if (findRefusedStatus(thrown) === 404) return undefined
      throw thrown
    }
  }

  async #findForeignDecider(pull: PullRequest, signal: AbortSignal): Promise<string | undefined> {
    const login = await this.#findDecider(pull, signal)
    return login?.toLowerCase() === (await this.#login(signal)).toLowerCase() ? undefined : login
  }

  /** Lists leave it out. */
  async #findDecider(pull: PullRequest, signal: AbortSignal): Promise<string | undefined> {
    if (pull.merged)
      return (
        (pull.merged_by ?? (await readPullRequest(this.#client, pull.number, signal)).merged_by)
          ?.login || undefined
      )
    const requested = {
      path: this.#client.buildPath(`/issues/${pull.number}/timeline`),
      what: 'read who closed the pull request',
    }
    const events = (await this.#client.list(requested, signal)).map((event) =>
      timelineSchema.safeParse(event),
    )
    return events.findLast(({ data }) => data?.type === 'close')?.data?.user?.login || undefined
  }
}

function isLater(one: PullRequest, other: PullRequest): boolean {
  const at = ({ merged, merged_at, closed_at }: PullRequest): number =>
    Date.parse((merged ? merged_at : closed_at) ?? '') || 0
  if (at(one) !== at(other)) return at(one) > at(other)
  return one.merged === other.merged ? one.number > other.number : one.merged
}
