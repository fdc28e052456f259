/**
 * GitHub in this process, on the loopback address: as much of its interface as the adapter uses, acting on a real bare repository.
 * Every request and every answer is held against GitHub's OpenAPI description; what does not fit stands in `problems`.
 */
import { createHash, verify } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '@backporch/system/clock'
import { CHECK_RUN_ROUTES } from './emulated-check-runs.ts'
import { COMMIT_ROUTES } from './emulated-commits.ts'
import type { EmulatedGit } from './emulated-git.ts'
import { answerGraphql } from './emulated-graphql.ts'
import type { EmulatedLimit } from './emulated-limits.ts'
import { ROUTES } from './emulated-routes.ts'
import { repositoryShape } from './emulated-shapes.ts'
import { EmulatedState } from './emulated-state.ts'
import {
  answerProblems,
  complete,
  type FoundOperation,
  findOperation,
  requestProblems,
} from './openapi-check.ts'
import type { UsedOperation } from './used-operations.ts'

export interface EmulatedApp {
  readonly id: number
  /** PEM. */
  readonly publicKey: string
  readonly slug: string
  installed: boolean
  /** Number of its installation, 77 unless given; another one each time that it is installed. */
  installation?: number
}

export interface Fault {
  readonly on: UsedOperation | 'any' | 'write' | 'graphql'
  /** How often, 1 unless given. */
  times?: number
  /** Requests of the kind that are let through first. */
  skip?: number
  /** `before`: nothing is done. `after`: it is done, and its own answer is not given. */
  readonly moment: 'before' | 'after'
  /** Undefined cuts the connection. */
  readonly answer?: {
    readonly status: number
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: unknown
    readonly text?: string
  }
  /** Cuts the connection after this many bytes of the answer. */
  readonly cutAfter?: number
  /** Called instead of answering, for what only waits. */
  readonly hold?: () => Promise<void>
}

export interface SentRequest {
  readonly method: string
  /** Below the root of the API. */
  readonly path: string
  readonly query: string
  readonly body: string
  readonly headers: IncomingMessage['headers']
  /** Undefined where the connection was cut. */
  status: number | undefined
}

const PAGE_DEFAULT = 30
const DOCUMENTED = { documentation_url: 'https://docs.github.com/rest' }

export class GitHubEmulator {
  readonly state: EmulatedState
  readonly requests: SentRequest[] = []
  readonly problems: string[] = []
  /** Tokens to logins. */
  readonly tokens = new Map<string, string>()
  /** Scopes of classic tokens; a token that is not in it has none to tell, as fine-grained ones and those of Apps. */
  readonly scopes = new Map<string, string>()
  /** What an installation token of the App is told to have. */
  granted: Readonly<Record<string, string>> | undefined
  readonly faults: Fault[] = []
  app: EmulatedApp | undefined
  /** When installation tokens of the App end; milliseconds since 1970. */
  readonly expiry = new Map<string, number>()
  /** Counted down, except by 304s; undefined sends no such headers. */
  budget: { limit: number; remaining: number; reset: number } | undefined
  /** Refuses what makes content faster than GitHub allows; undefined takes all. */
  content: EmulatedLimit | undefined
  /** Name it had before: requests to it are sent on, as after a rename. */
  formerly: { owner: string; repo: string; location?: string } | undefined
  readonly #clock: Clock
  readonly #server: Server
  #made = 0

  constructor(options: { git: EmulatedGit; owner: string; repo: string; clock: Clock }) {
    this.state = new EmulatedState(options.git, options.owner, options.repo)
    this.#clock = options.clock
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((thrown: unknown) => {
        this.problems.push(
          `the emulator failed: ${thrown instanceof Error ? thrown.stack : String(thrown)}`,
        )
        response.destroy()
      })
    })
  }

  /** `http://127.0.0.1:PORT` */
  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  get web(): string {
    return `${this.origin}/${this.state.owner}/${this.state.repo}`
  }

  /** Requests that were meant to change something. */
  get writes(): readonly SentRequest[] {
    return this.requests.filter(isWrite)
  }

  /** A token of an App's installation that was made elsewhere: the workflow's own, or one of actions/create-github-app-token. */
  addInstallationToken(token: string, login: string): void {
    this.tokens.set(token, login)
    this.state.bots.add(login)
  }

  /** The next request that changes something is done, and gets no answer. */
  loseNextWrite(): void {
    this.faults.push({ on: 'write', moment: 'after' })
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.origin)
    const body = await textOf(request)
    const path =
      url.pathname === '/api/graphql' ? '/graphql' : url.pathname.replace(/^\/api\/v3/, '')
    const method = request.method ?? ''
    const sent: SentRequest = {
      method,
      path,
      query: url.search,
      body,
      headers: request.headers,
      status: undefined,
    }
    this.requests.push(sent)
    const found = path === '/graphql' ? undefined : findOperation(method, this.#unnumbered(path))
    const fault = this.#takeFault(found, path, method)
    if (fault?.hold !== undefined) await fault.hold()
    if (fault !== undefined && fault.moment === 'before' && fault.hold === undefined)
      return this.#fail(fault, sent, response, found)
    this.state.sync()
    const answer = this.#overLimit(sent) ?? this.#respond(found, sent, url, request)
    if (fault !== undefined && fault.hold === undefined)
      return this.#fail(fault, sent, response, found)
    this.#send(answer, sent, url, request, response)
  }

  /** 403 for what would make more content than GitHub takes; what only asks is never counted. */
  #overLimit(
    sent: SentRequest,
  ): { status: number; headers: Record<string, string>; body: unknown } | undefined {
    const wait = isWrite(sent) ? this.content?.take() : undefined
    if (wait === undefined) return undefined
    const message =
      'You have exceeded a secondary rate limit and have been temporarily blocked from content creation.'
    return {
      status: 403,
      headers: { 'retry-after': String(wait) },
      body: { ...DOCUMENTED, message },
    }
  }

  #respond(
    found: FoundOperation | undefined,
    sent: SentRequest,
    url: URL,
    request: IncomingMessage,
  ): { status: number; body?: unknown; headers?: Record<string, string> } {
    if (!/^backporch\/\S+/.test(request.headers['user-agent'] ?? ''))
      this.problems.push(`User-Agent is ${request.headers['user-agent']}`)
    const moved = this.#moved(sent.path, url)
    if (moved !== undefined) return moved
    const actor = this.#actor(request, sent.path)
    if (actor === undefined)
      return {
        status: 401,
        body: { message: 'Bad credentials', documentation_url: 'https://docs.github.com/rest' },
      }
    if (sent.path === '/graphql') {
      const problem = (text: string): void => void this.problems.push(text)
      return { status: 200, body: answerGraphql(this.state, actor, JSON.parse(sent.body), problem) }
    }
    if (found === undefined) {
      this.problems.push(`GitHub's description, as it is used, has no ${sent.method} ${sent.path}`)
      return { status: 404, body: { message: 'Not Found' } }
    }
    const body: unknown = sent.body === '' ? undefined : JSON.parse(sent.body)
    const problems = requestProblems(found, url.searchParams, body)
    if (problems.length > 0)
      this.problems.push(`${sent.method} ${sent.path}: ${problems.join('; ')}`)
    const answer = this.#act(found, sent, url, actor, body)
    const whole =
      answer.status >= 400
        ? { ...DOCUMENTED, ...recordOf(answer.body) }
        : complete(found.name, answer.status, answer.body)
    const wrong = answerProblems(found.name, answer.status, whole)
    if (wrong.length > 0)
      this.problems.push(`answer to ${sent.method} ${sent.path}: ${wrong.slice(0, 5).join('; ')}`)
    return { ...answer, body: whole }
  }

  #act(
    found: FoundOperation,
    sent: SentRequest,
    url: URL,
    actor: string,
    body: unknown,
  ): { status: number; body?: unknown } {
    const { state } = this
    const { owner, repo } = found.parameters
    const input = {
      state,
      actor,
      parameters: found.parameters,
      query: url.searchParams,
      body: recordOf(body),
      web: this.web,
    }
    if (found.name.startsWith('POST /app/'))
      return this.#makeToken(found.parameters['installation_id'])
    if (owner === undefined)
      return ROUTES[found.name]?.(input) ?? { status: 404, body: { message: 'Not Found' } }
    if (
      owner?.toLowerCase() !== state.owner.toLowerCase() ||
      repo?.toLowerCase() !== state.repo.toLowerCase()
    ) {
      return { status: 404, body: { message: 'Not Found' } }
    }
    if (found.name.endsWith('/installation')) {
      return this.app?.installed === true
        ? { status: 200, body: { id: this.app.installation ?? 77, app_id: this.app.id } }
        : { status: 404, body: { message: 'Not Found' } }
    }
    if (state.archived && sent.method !== 'GET')
      return { status: 403, body: { message: 'Repository was archived so is read-only.' } }
    return (
      (ROUTES[found.name] ?? CHECK_RUN_ROUTES[found.name] ?? COMMIT_ROUTES[found.name])?.(
        input,
      ) ?? {
        status: 404,
        body: { message: 'Not Found' },
      }
    )
  }

  #makeToken(installation: string | undefined): { status: number; body?: unknown } {
    if (this.app?.installed !== true || installation !== String(this.app.installation ?? 77))
      return { status: 404, body: { message: 'Not Found' } }
    this.#made += 1
    const token = `ghs_canary${this.#made}${'0'.repeat(28)}`
    const end = this.#clock.now().getTime() + 3_600_000
    this.addInstallationToken(token, `${this.app.slug}[bot]`)
    this.state.apps.set(`${this.app.slug}[bot]`, this.app.id)
    this.expiry.set(token, end)
    const permissions = this.granted === undefined ? {} : { permissions: this.granted }
    return { status: 201, body: { token, expires_at: new Date(end).toISOString(), ...permissions } }
  }

  #actor(request: IncomingMessage, path: string): string | undefined {
    const [, token = ''] = (request.headers.authorization ?? '').split(' ')
    if (path.startsWith('/app/') || path.endsWith('/installation'))
      return this.#isApp(token) ? 'app' : undefined
    const end = this.expiry.get(token)
    return end !== undefined && end <= this.#clock.now().getTime()
      ? undefined
      : this.tokens.get(token)
  }

  /** Checks the signature and the two claims that GitHub asks for. */
  #isApp(jwt: string): boolean {
    const [head = '', claims = '', signature = ''] = jwt.split('.')
    if (
      this.app === undefined ||
      !verify(
        'RSA-SHA256',
        Buffer.from(`${head}.${claims}`),
        this.app.publicKey,
        Buffer.from(signature, 'base64url'),
      )
    )
      return false
    const { iss, exp, iat } = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'))
    return String(iss) === String(this.app.id) && exp - iat <= 660
  }

  /** 301 to the place by number, as after a rename; there, the repository is found under its number. */
  #moved(
    path: string,
    url: URL,
  ): { status: number; headers: Record<string, string>; body: unknown } | undefined {
    if (this.formerly === undefined) return undefined
    const old = `/repos/${this.formerly.owner}/${this.formerly.repo}`
    if (path !== old && !path.startsWith(`${old}/`)) return undefined
    const location =
      this.formerly.location ??
      `${this.origin}/api/v3/repositories/${this.state.id}${path.slice(old.length)}${url.search}`
    return {
      status: 301,
      headers: { location },
      body: { message: 'Moved Permanently', url: location },
    }
  }

  #unnumbered(path: string): string {
    const prefix = `/repositories/${this.state.id}`
    return path === prefix || path.startsWith(`${prefix}/`)
      ? `/repos/${this.state.owner}/${this.state.repo}${path.slice(prefix.length)}`
      : path
  }

  #takeFault(found: FoundOperation | undefined, path: string, method: string): Fault | undefined {
    const write = method !== 'GET' && path !== '/graphql'
    const index = this.faults.findIndex(
      ({ on }) =>
        on === 'any' ||
        on === found?.name ||
        (on === 'write' && write) ||
        (on === 'graphql' && path === '/graphql'),
    )
    const fault = this.faults[index]
    if (fault === undefined) return undefined
    if ((fault.skip ?? 0) > 0) {
      fault.skip = (fault.skip ?? 0) - 1
      return undefined
    }
    fault.times = (fault.times ?? 1) - 1
    if (fault.times <= 0) this.faults.splice(index, 1)
    return fault
  }

  #fail(
    { answer, cutAfter }: Fault,
    sent: SentRequest,
    response: ServerResponse,
    found: FoundOperation | undefined,
  ): void {
    if (answer === undefined && cutAfter === undefined) {
      response.socket?.destroy()
      return
    }
    if (cutAfter !== undefined) {
      // No length and no chunks: the end of the connection looks like the end of the answer.
      const text = JSON.stringify([repositoryShape(this.state, '')]).slice(0, cutAfter)
      response.socket?.end(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n${text}`,
      )
      return
    }
    sent.status = answer?.status
    const json = answer?.body === undefined ? undefined : JSON.stringify(answer.body)
    if (
      found !== undefined &&
      answer !== undefined &&
      answer.status < 500 &&
      answer.text === undefined
    ) {
      this.problems.push(...answerProblems(found.name, answer.status, answer.body))
    }
    const type = answer?.text === undefined ? 'application/json; charset=utf-8' : 'text/html'
    response
      .writeHead(answer?.status ?? 500, { 'content-type': type, ...answer?.headers })
      .end(answer?.text ?? json ?? '')
  }

  #send(
    answer: { status: number; body?: unknown; headers?: Record<string, string> },
    sent: SentRequest,
    url: URL,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    const headers: Record<string, string> = { ...answer.headers, 'x-github-request-id': 'E:1' }
    const scopes = this.scopes.get((request.headers.authorization ?? '').split(' ')[1] ?? '')
    if (scopes !== undefined) headers['x-oauth-scopes'] = scopes
    const body = Array.isArray(answer.body) ? this.#page(answer.body, url, headers) : answer.body
    const text = body === undefined ? '' : JSON.stringify(body)
    const etag = `W/"${createHash('sha256').update(text).digest('hex')}"`
    const same =
      sent.method === 'GET' && answer.status === 200 && request.headers['if-none-match'] === etag
    if (sent.method === 'GET' && answer.status === 200) headers['etag'] = etag
    if (this.budget !== undefined) {
      if (!same) this.budget.remaining = Math.max(0, this.budget.remaining - 1)
      const { limit, remaining, reset } = this.budget
      Object.assign(headers, {
        'x-ratelimit-limit': `${limit}`,
        'x-ratelimit-remaining': `${remaining}`,
        'x-ratelimit-reset': `${reset}`,
        'x-ratelimit-resource': 'core',
      })
    }
    if (text !== '') headers['content-type'] = 'application/json; charset=utf-8'
    sent.status = same ? 304 : answer.status
    response.writeHead(sent.status, headers).end(same ? '' : text)
  }

  #page(items: readonly unknown[], url: URL, headers: Record<string, string>): readonly unknown[] {
    const size = Number(url.searchParams.get('per_page') ?? PAGE_DEFAULT)
    const page = Number(url.searchParams.get('page') ?? 1)
    if (items.length > page * size) {
      const next = new URL(url)
      next.searchParams.set('page', String(page + 1))
      headers['link'] = `<${next.href}>; rel="next"`
    }
    return items.slice((page - 1) * size, page * size)
  }
}

function isWrite({ method, path, body }: SentRequest): boolean {
  return method !== 'GET' && (!/access_tokens$|^\/graphql$/.test(path) || body.includes('mutation'))
}

function recordOf(body: unknown): Readonly<Record<string, unknown>> {
  return typeof body === 'object' && body !== null ? { ...body } : {}
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
