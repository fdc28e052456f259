import { Failure, Interrupted } from '@backporch/kyaml/failure'
import type { Octokit, RestEndpointMethodTypes } from '@octokit/rest'
import {
  createGoneFailure,
  createWrongForgeFailure,
  type RequestDescription,
} from '../adapter/forge-failure.ts'
import { RefusedAnswer } from '../adapter/refused-answer.ts'
import type { GitHubAddress } from './github-address.ts'
import { createGitHubFailure, extractGitHubMessage } from './github-failure.ts'

interface RepositoryFacts {
  readonly id: number
  readonly owner: string
  readonly repo: string
  readonly archived: boolean
  /** Best first; all three if the account may not see the settings. */
  readonly mergeMethods: readonly MergeMethod[]
}

type MergeMethod = 'merge' | 'squash' | 'rebase'

type RepositoryAnswer = RestEndpointMethodTypes['repos']['get']['response']['data']

const MOST_PAGES = 500

export interface Target {
  readonly owner: string
  readonly repo: string
  readonly request: { readonly signal: AbortSignal }
}

export class GitHubClient {
  readonly address: GitHubAddress
  readonly octokit: Octokit
  readonly #notice: (text: string) => void
  #facts: RepositoryFacts | undefined
  #login: string | undefined
  readonly #told = new Set<string>()

  constructor(address: GitHubAddress, octokit: Octokit, notice: (text: string) => void) {
    this.address = address
    this.octokit = octokit
    this.#notice = notice
  }

  tell(text: string): void {
    if (this.#told.has(text)) return
    this.#told.add(text)
    this.#notice(text)
  }

  /**
   * @param what follows "cannot"
   * @throws Failure BP50xx, the signal's reason when it is aborted
   */
  async ask<Answer>(what: string, work: () => Promise<Answer>): Promise<Answer> {
    try {
      return await work()
    } catch (thrown) {
      throw translate({ address: this.address, what }, thrown)
    }
  }

  /**
   * octokit's own paging loses the signal and takes an empty body for an empty list
   * (docs/facts/octokit-paging.md).
   * @throws Failure BP5007 if an answer is not a list
   */
  async list<Item>(what: string, read: (page: number) => Promise<Page<Item>>): Promise<Item[]> {
    const items: Item[] = []
    for (let page = 1; page <= MOST_PAGES; page += 1) {
      const { data, headers } = await this.ask(what, () => read(page))
      if (!Array.isArray(data))
        throw createWrongForgeFailure({ address: this.address, what }, 'its answer is not a list')
      items.push(...data)
      if (!/;\s*rel="?next"?/.test(headers.link ?? '')) return items
    }
    throw createWrongForgeFailure({ address: this.address, what }, 'its list has no end')
  }

  async getTarget(signal: AbortSignal): Promise<Target> {
    const { owner, repo } = this.#facts ?? (await this.observe(signal))
    return { owner, repo, request: { signal } }
  }

  async getFacts(signal: AbortSignal): Promise<RepositoryFacts> {
    return this.#facts ?? this.observe(signal)
  }

  /** @throws Failure BP5003 when it is not visible, BP5008 when its name belongs to another one */
  async observe(signal: AbortSignal): Promise<RepositoryFacts> {
    const { owner, repository: repo } = this.address
    const { data } = await this.ask('read the repository', () =>
      this.octokit.rest.repos.get({ owner, repo, request: { signal } }),
    )
    const facts = parseFacts(data)
    if (facts === undefined)
      throw createWrongForgeFailure(
        { address: this.address, what: 'read the repository' },
        'its answer is not a repository',
      )
    if (this.#facts !== undefined && this.#facts.id !== facts.id) {
      const why = `another repository has that name now (id ${facts.id}, before ${this.#facts.id})`
      throw createGoneFailure(
        { address: this.address, what: 'continue with the repository' },
        why,
        'check who created it, then name the right one',
      )
    }
    this.#facts = facts
    const now = `${facts.owner}/${facts.repo}`
    if (now.toLowerCase() !== `${owner}/${repo}`.toLowerCase())
      this.tell(`${owner}/${repo} is ${now} now: renamed or transferred; change the remote to it`)
    return facts
  }

  /** @throws Failure BP5008 when the repository is archived */
  async getWritableTarget(what: string, signal: AbortSignal): Promise<Target> {
    const { archived } = await this.getFacts(signal)
    if (archived) {
      throw createGoneFailure(
        { address: this.address, what },
        'the repository is archived, which makes it read-only',
        'unarchive it, or name another',
      )
    }
    return this.getTarget(signal)
  }

  /** `NAME[bot]` for an App. Only GraphQL reports it for tokens of every kind. */
  async getLogin(signal: AbortSignal): Promise<string> {
    if (this.#login !== undefined) return this.#login
    const query = 'query Who { viewer { login } }'
    const answer = await this.queryGraphql<{ viewer?: { login?: unknown } }>(
      'read the account of the token',
      query,
      {},
      signal,
    )
    const login = answer.viewer?.login
    if (typeof login !== 'string' || login === '')
      throw createWrongForgeFailure(
        { address: this.address, what: 'read the account of the token' },
        'its answer names no account',
      )
    this.#login = login
    return login
  }

  async isOurs(author: Author, signal: AbortSignal): Promise<boolean> {
    return author?.login.toLowerCase() === (await this.getLogin(signal)).toLowerCase()
  }

  /** @throws Failure BP5006 if GitHub answers with errors */
  async queryGraphql<Answer>(
    what: string,
    query: string,
    variables: Readonly<Record<string, string | number | readonly string[]>>,
    signal: AbortSignal,
  ): Promise<Answer> {
    return this.ask(what, () =>
      this.octokit.graphql<Answer>(query, { ...variables, request: { signal } }),
    )
  }
}

interface Page<Item> {
  readonly data: readonly Item[]
  readonly headers: { readonly link?: string | undefined }
}

/** A deleted account is null. */
type Author = { readonly login: string } | null | undefined

function parseFacts(data: RepositoryAnswer): RepositoryFacts | undefined {
  const login: unknown = data?.owner?.login
  if (typeof data?.id !== 'number' || typeof data.name !== 'string' || typeof login !== 'string')
    return undefined
  const allowed = {
    merge: data.allow_merge_commit,
    squash: data.allow_squash_merge,
    rebase: data.allow_rebase_merge,
  }
  const mergeMethods = (['merge', 'squash', 'rebase'] as const).filter(
    (method) => allowed[method] !== false,
  )
  return {
    id: data.id,
    owner: login,
    repo: data.name,
    archived: data.archived === true,
    mergeMethods,
  }
}

/** octokit's errors hold the request. */
function translate(requested: RequestDescription, thrown: unknown): unknown {
  if (!(thrown instanceof Error)) return thrown
  if (thrown instanceof Failure) return thrown
  const { cause } = thrown
  if (cause instanceof Failure) return describeRename(requested, cause)
  // The signal's reason, wrapped.
  if (
    cause instanceof DOMException ||
    cause instanceof Interrupted ||
    (cause instanceof Error && cause.name === 'AbortError')
  )
    return cause
  if (thrown.name === 'GraphqlResponseError' && 'response' in thrown) {
    return createGitHubFailure(
      requested,
      new RefusedAnswer(422, extractGitHubMessage(JSON.stringify(thrown.response ?? null))),
      false,
    )
  }
  if (thrown.name !== 'HttpError' || !('status' in thrown) || typeof thrown.status !== 'number')
    return cause ?? thrown
  const { body, headers } = getAnswer(thrown)
  if (body === undefined) return cause ?? thrown
  const sso =
    typeof headers['x-github-sso'] === 'string' && headers['x-github-sso'].startsWith('required')
  return createGitHubFailure(
    requested,
    new RefusedAnswer(thrown.status, extractGitHubMessage(body)),
    sso,
  )
}

/** The transport does not know the purpose. */
function describeRename(requested: RequestDescription, failure: Failure): Failure {
  if (failure.code === 'BP5004' || failure.code === 'BP5002') return failure
  const where = failure.where ?? `${requested.address.owner}/${requested.address.repository}`
  return new Failure({ ...failure.toJSON(), what: `cannot ${requested.what}`, where })
}

function getAnswer(error: object): {
  readonly body: string | undefined
  readonly headers: Readonly<Record<string, unknown>>
} {
  const response =
    'response' in error && typeof error.response === 'object' && error.response !== null
      ? error.response
      : undefined
  if (response === undefined || !('data' in response)) return { body: undefined, headers: {} }
  const headers =
    'headers' in response && typeof response.headers === 'object' && response.headers !== null
      ? response.headers
      : {}
  const { data } = response
  return {
    body: typeof data === 'string' ? data : JSON.stringify(data ?? null),
    headers: { ...headers },
  }
}
