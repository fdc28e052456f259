import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { waitUntil } from '../waiting/wait-until.ts'
import { type GiteaResponse, giteaRequest } from './gitea-request.ts'
import { type GitOptions, type GitResult, runGit } from './run-git.ts'

/** What a process needs to use a Gitea that another process runs. Written to a file as JSON, for its owner's eyes only. */
export interface GiteaState {
  /** `http://127.0.0.1:<port>`, no slash at the end. */
  readonly url: string
  /** As in `go.mod`: `1.26.0`. */
  readonly version: string
  /** Everything that this Gitea writes is below it. Gone when it stops. */
  readonly directory: string
  readonly admin: GiteaUser
  readonly server: { readonly pid: number /** Path of its output. */; readonly log: string }
  /** Process id of what cleans up. */
  readonly guardPid: number
}

/** A user that was made for tests, with what it signs in by. */
export interface GiteaUser {
  readonly name: string
  readonly password: string
  /** An access token with every scope. */
  readonly token: string
}

/** An access token that can be taken away again. */
export interface GiteaToken {
  readonly token: string
  revoke(): Promise<void>
}

export interface UserOptions {
  /** Defaults to false. */
  readonly admin?: boolean
}

export interface RepositoryOptions {
  /** Path to text: one commit with all of them. Without files the repository is empty and has no branch. */
  readonly files?: Readonly<Record<string, string>>
  /** Defaults to `main`. */
  readonly defaultBranch?: string
  /** Defaults to false. */
  readonly private?: boolean
}

export interface GiteaRepository {
  readonly owner: string
  readonly name: string
  readonly defaultBranch: string
  /** The commit with `files`, or `undefined` for an empty repository. */
  readonly head: string | undefined
}

/** Where git finds a repository. Printed, it shows no credentials. */
export interface CloneUrl {
  /** Without credentials. */
  readonly plain: string
  /** With the user's name and token in it. For a test of what must not be shown; never print it. */
  withCredentials(): string
}

export interface WebhookOptions {
  readonly url: string
  readonly secret: string
  /** As Gitea names them: `push`, `pull_request`, `issue_comment`, … Defaults to `push` and `pull_request`. */
  readonly events?: readonly string[]
}

/** The body of Gitea's merge request. */
export type MergeOrder = { readonly Do: string } & Readonly<Record<string, unknown>>

/** A real Gitea. Every method that can be refused rejects with Gitea's answer; `request` answers with it. */
export interface Gitea {
  readonly state: 'ready'
  readonly url: string
  /** `<url>/api/v1` */
  readonly apiUrl: string
  readonly version: string
  /** May do everything. */
  readonly admin: GiteaUser
  readonly server: GiteaState['server']
  /** Path of the file that lets other processes use this Gitea; for `BACKPORCH_TEST_GITEA`. */
  readonly stateFile: string

  /** `<prefix>-<random>`: this Gitea may be shared with other tests. */
  uniqueName(prefix: string): string
  createUser(name: string, options?: UserOptions): Promise<GiteaUser>
  /** A further access token, for a test of scopes (`read:repository`, `write:issue`, …) or of a token that ends. */
  createToken(user: GiteaUser, scopes: readonly string[]): Promise<GiteaToken>
  createRepository(
    owner: GiteaUser,
    name: string,
    options?: RepositoryOptions,
  ): Promise<GiteaRepository>
  /**
   * A request as it is, with any status as answer. Rejects only when there is no answer.
   *
   * @param token of an access token; `undefined` for a stranger
   * @param path below `apiUrl`, with the slash in front
   */
  request<Body = unknown>(
    token: string | undefined,
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<GiteaResponse<Body>>
  cloneUrl(user: GiteaUser, owner: string, repository: string): CloneUrl
  /** Runs the real git as `user`, who needs no credentials in any address; see `runGit`. */
  git(user: GiteaUser, args: readonly string[], options?: GitOptions): Promise<GitResult>
  /** Registers a webhook and returns its id. Only addresses of this machine can be called. */
  createWebhook(
    user: GiteaUser,
    owner: string,
    repository: string,
    options: WebhookOptions,
  ): Promise<number>
  /**
   * Merges a pull request and returns the answer. For a moment after each push Gitea looks whether it can be merged and answers 405
   * meanwhile, although `mergeable` may still say what was true before the push; so this asks again. A request with a conflict gets
   * the same answer for ever: this is not for it.
   *
   * @param order Gitea's own body: `Do` (`merge`, `rebase`, `rebase-merge`, `squash`, `fast-forward-only`), `head_commit_id`, …
   */
  mergePull(
    user: GiteaUser,
    owner: string,
    repository: string,
    number: number,
    order: MergeOrder,
  ): Promise<GiteaResponse<unknown>>
  /** What the server has written so far. */
  log(): Promise<string>
  /** Ends it if this process started it, and otherwise only this process's use of it. Safe to call again. */
  stop(): Promise<void>
}

/** Name of the state file in a Gitea's directory. */
export const STATE_FILE = 'gitea.json'

const EVERY_SCOPE = ['all']

/**
 * A `Gitea` for what `state` describes.
 *
 * @param end what `stop` does.
 */
export function openGitea(state: GiteaState, end: () => Promise<void>): Gitea {
  const apiUrl = `${state.url}/api/v1`
  const request: Gitea['request'] = (token, method, path, body, headers) =>
    giteaRequest(
      `${apiUrl}${path}`,
      method,
      token === undefined ? undefined : `token ${token}`,
      body,
      headers,
    )
  const asAdmin = async <Body = unknown>(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<Body> =>
    expectSuccess(`${method} ${path}`, await request<Body>(state.admin.token, method, path, body))

  const createToken = async (
    user: Pick<GiteaUser, 'name' | 'password'>,
    scopes: readonly string[],
  ): Promise<GiteaToken> => {
    const path = `/users/${user.name}/tokens`
    const basic = `Basic ${Buffer.from(`${user.name}:${user.password}`).toString('base64')}`
    const body = { name: randomBytes(6).toString('hex'), scopes }
    const created = await giteaRequest<{ id: number; sha1: string }>(
      `${apiUrl}${path}`,
      'POST',
      basic,
      body,
    )
    const { id, sha1 } = expectSuccess(`POST ${path}`, created)
    return {
      token: sha1,
      revoke: async () => {
        expectSuccess(
          `DELETE ${path}`,
          await giteaRequest(`${apiUrl}${path}/${id}`, 'DELETE', basic),
        )
      },
    }
  }

  return {
    state: 'ready',
    url: state.url,
    apiUrl,
    version: state.version,
    admin: state.admin,
    server: state.server,
    stateFile: join(state.directory, STATE_FILE),
    uniqueName: (prefix) => `${prefix}-${randomBytes(4).toString('hex')}`,
    createUser: async (name, { admin = false } = {}) => {
      const password = randomBytes(12).toString('hex')
      await asAdmin('POST', '/admin/users', {
        username: name,
        email: `${name}@example.invalid`,
        password,
        must_change_password: false,
      })
      if (admin)
        await asAdmin('PATCH', `/admin/users/${name}`, {
          login_name: name,
          source_id: 0,
          admin: true,
        })
      const { token } = await createToken({ name, password }, EVERY_SCOPE)
      return { name, password, token }
    },
    createToken,
    createRepository: async (
      owner,
      name,
      { files, defaultBranch = 'main', private: hidden = false } = {},
    ) => {
      const make = { name, default_branch: defaultBranch, private: hidden, auto_init: false }
      expectSuccess('POST /user/repos', await request(owner.token, 'POST', '/user/repos', make))
      if (files === undefined) return { owner: owner.name, name, defaultBranch, head: undefined }
      const path = `/repos/${owner.name}/${name}/contents`
      const changes = Object.entries(files).map(([file, content]) => ({
        operation: 'create',
        path: file,
        content: Buffer.from(content).toString('base64'),
      }))
      const body = { branch: defaultBranch, message: 'first files', files: changes }
      const result = expectSuccess(
        `POST ${path}`,
        await request<{ commit: { sha: string } }>(owner.token, 'POST', path, body),
      )
      return { owner: owner.name, name, defaultBranch, head: result.commit.sha }
    },
    request,
    cloneUrl: (user, owner, repository) => {
      const plain = `${state.url}/${owner}/${repository}.git`
      return {
        plain,
        withCredentials: () => plain.replace('://', `://${user.name}:${user.token}@`),
      }
    },
    git: (user, args, options) =>
      runGit(args, { url: `${state.url}/`, name: user.name, password: user.token }, options),
    createWebhook: async (
      user,
      owner,
      repository,
      { url, secret, events = ['push', 'pull_request'] },
    ) => {
      const path = `/repos/${owner}/${repository}/hooks`
      const body = {
        type: 'gitea',
        active: true,
        events,
        config: { url, content_type: 'json', secret },
      }
      return expectSuccess(
        `POST ${path}`,
        await request<{ id: number }>(user.token, 'POST', path, body),
      ).id
    },
    mergePull: async (user, owner, repository, number, order) => {
      const merge = async () => {
        const answer = await request(
          user.token,
          'POST',
          `/repos/${owner}/${repository}/pulls/${number}/merge`,
          order,
        )
        const isChecking =
          answer.status === 405 && JSON.stringify(answer.body).includes('try again later')
        return isChecking ? undefined : answer
      }
      return waitUntil(`Gitea has checked whether #${number} can be merged`, merge)
    },
    log: () => readFile(state.server.log, 'utf8'),
    stop: end,
  }
}

function expectSuccess<Body>(what: string, answer: GiteaResponse<Body>): Body {
  if (answer.status >= 200 && answer.status < 300) return answer.body
  throw new Error(`${what} answers ${answer.status}: ${JSON.stringify(answer.body)}`)
}
