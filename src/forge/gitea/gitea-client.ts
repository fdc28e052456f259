/** One host only, limited in time and size. Reads are retried after a fault, writes never. */
import type { Clock } from '@backporch/system/clock'
import { readText } from '@backporch/system/read-text'
import type { Trace } from '@backporch/system/trace'
import type { Dispatcher } from 'undici'
import type * as z from 'zod'
import type { ForgeAddress } from '../adapter/forge-address.ts'
import {
  createForgeUnreachable,
  createGoneFailure,
  createWrongForgeFailure,
  type RequestDescription,
} from '../adapter/forge-failure.ts'
import { createLostConnection, LostConnection } from '../adapter/lost-connection.ts'
import { RefusedAnswer } from '../adapter/refused-answer.ts'
import type { RequestGovernor } from '../adapter/request-governor.ts'
import type { WriteCount } from '../ports/hosted-forge.ts'
import { repositorySchema } from './gitea-answers.ts'
import { createGiteaFailure, extractGiteaMessage } from './gitea-failure.ts'

interface GiteaClientOptions {
  readonly address: ForgeAddress
  readonly token: string
  readonly dispatcher: Dispatcher
  readonly governor: RequestGovernor
  readonly clock: Clock
  readonly userAgent: string
  /** Milliseconds without a byte, 30 s by default. */
  readonly silence?: number
  readonly note?: (text: string) => void
  readonly trace?: Trace
}

interface GiteaRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly path: string
  readonly query?: Readonly<Record<string, string | number>>
  readonly body?: object
  readonly what: string
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly text: string
}

/** Milliseconds. */
const SILENCE = 30_000
/** Bytes of one answer. */
const LARGEST = 32 * 1024 * 1024
const MOST_REDIRECTS = 3
/** Milliseconds. */
const LONGEST_NAMED_WAIT = 86_400_000
const MOST_RETRIES = 2
const PASSING = new Set([500, 502, 503, 504])
/** Gitea's default maximum (`[api] MAX_RESPONSE_ITEMS`). */
const PAGE = 50
const MOST_PAGES = 200

export class GiteaClient {
  readonly #options: GiteaClientOptions
  readonly #told = new Set<string>()

  constructor(options: GiteaClientOptions) {
    this.#options = options
  }

  get address(): ForgeAddress {
    return this.#options.address
  }

  tell(text: string): void {
    if (this.#told.has(text)) return
    this.#told.add(text)
    this.#options.note?.(text)
  }

  get writeCount(): WriteCount {
    return this.#options.governor
  }

  /** @throws Failure BP50xx, with a `RefusedAnswer` as cause if one arrived */
  async send(request: GiteaRequest, signal: AbortSignal): Promise<unknown> {
    return (await this.#exchange(request, signal)).value
  }

  async #exchange(
    request: GiteaRequest,
    signal: AbortSignal,
  ): Promise<{ readonly value: unknown; readonly total: number | undefined }> {
    const requested = { address: this.#options.address, what: request.what }
    const answer = await this.#answer(request, requested, signal)
    if (answer.status === 429) throw this.#throttleRequests(answer)
    if (answer.status >= 300) {
      const turnedOff = answer.status === 404 ? await this.#listTurnedOff(request, signal) : []
      throw createGiteaFailure(
        requested,
        new RefusedAnswer(answer.status, extractGiteaMessage(answer.text)),
        turnedOff,
      )
    }
    this.#options.governor.recordSuccess()
    const total = /^\d{1,9}$/.exec(String(answer.headers['x-total-count'] ?? ''))?.[0]
    if (answer.text === '') return { value: undefined, total: undefined }
    try {
      return {
        value: JSON.parse(answer.text),
        total: total === undefined ? undefined : Number(total),
      }
    } catch {
      throw createWrongForgeFailure(requested, 'it does not answer with JSON')
    }
  }

  /** Gitea answers 404 to units that are turned off, as for something absent. */
  async #listTurnedOff({ path }: GiteaRequest, signal: AbortSignal): Promise<readonly string[]> {
    if (!['/issues', '/pulls'].some((unit) => path.startsWith(this.buildPath(unit)))) return []
    const requested = { path: this.buildPath(''), what: 'read the repository' }
    const settings = await this.get(requested, repositorySchema, signal).catch(() => undefined)
    const units = { issues: settings?.has_issues, 'pull requests': settings?.has_pull_requests }
    return Object.entries(units).flatMap(([unit, isOn]) => (isOn === false ? [unit] : []))
  }

  /** @throws Failure BP5007 if the list does not end: a partial answer proves nothing */
  async list(
    request: Omit<GiteaRequest, 'method'>,
    signal: AbortSignal,
  ): Promise<readonly unknown[]> {
    const all: unknown[] = []
    for (let page = 1; page <= MOST_PAGES; page += 1) {
      const { value, total } = await this.#exchange(
        { ...request, method: 'GET', query: { ...request.query, page, limit: PAGE } },
        signal,
      )
      const items = value ?? []
      if (!Array.isArray(items))
        throw createWrongForgeFailure(
          { address: this.#options.address, what: request.what },
          'wanted a list',
        )
      all.push(...items)
      // An instance may return fewer than requested. Without a count only an empty page (null for
      // some lists) is certainly the last.
      if (items.length === 0 || all.length === total) return all
    }
    throw createWrongForgeFailure(
      { address: this.#options.address, what: request.what },
      'its list has no end',
    )
  }

  buildPath(below: string): string {
    const { owner, repository } = this.#options.address
    return `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(repository)}${below}`
  }

  async get<Schema extends z.ZodType>(
    request: Omit<GiteaRequest, 'method'>,
    schema: Schema,
    signal: AbortSignal,
  ): Promise<z.infer<Schema>> {
    return this.parse(await this.send({ ...request, method: 'GET' }, signal), schema, request.what)
  }

  async getAll<Schema extends z.ZodType>(
    request: Omit<GiteaRequest, 'method'>,
    schema: Schema,
    signal: AbortSignal,
  ): Promise<readonly z.infer<Schema>[]> {
    return (await this.list(request, signal)).map((item) => this.parse(item, schema, request.what))
  }

  /** @throws Failure BP5007 for another shape, with the value's path, never the value */
  parse<Schema extends z.ZodType>(answer: unknown, schema: Schema, what: string): z.infer<Schema> {
    const parsed = schema.safeParse(answer)
    if (parsed.success) return parsed.data
    const location = parsed.error.issues[0]?.path.join('.') || 'the top'
    throw createWrongForgeFailure(
      { address: this.#options.address, what },
      `its answer has another shape at ${location}`,
    )
  }

  async #answer(
    request: GiteaRequest,
    requested: RequestDescription,
    signal: AbortSignal,
  ): Promise<Answer> {
    const retries = request.method === 'GET' ? MOST_RETRIES : 0
    for (let attempt = 0; ; attempt += 1) {
      let fault: unknown
      try {
        const answer = await this.#follow(request, requested, signal)
        if (attempt >= retries || !PASSING.has(answer.status)) return answer
      } catch (thrown) {
        if (thrown instanceof TooLarge)
          throw createWrongForgeFailure(
            requested,
            `its answer is larger than ${LARGEST / 1024 / 1024} MiB`,
          )
        if (!(thrown instanceof LostConnection)) throw thrown
        if (attempt >= retries || !thrown.isWorthTrying)
          throw createForgeUnreachable(requested, thrown.message)
        fault = thrown
      }
      await this.#options.clock.sleep(250 * 4 ** attempt, signal).catch((stopped: unknown) => {
        throw signal.aborted ? stopped : (fault ?? stopped)
      })
    }
  }

  async #follow(
    { method, path, query, body }: GiteaRequest,
    requested: RequestDescription,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { webUrl } = this.#options.address
    let url = new URL(`${webUrl}/api/v1${path}`)
    for (const [name, value] of Object.entries(query ?? {}))
      url.searchParams.set(name, String(value))
    for (let step = 0; step <= MOST_REDIRECTS; step += 1) {
      const answer = await this.#requestOnce(method, url, body, signal)
      if (![301, 302, 307, 308].includes(answer.status)) return answer
      const location = answer.headers['location']
      const next = URL.parse(typeof location === 'string' ? location : '', url.href)
      if (next === null || next.origin !== url.origin) {
        const why = 'it sends to another host, which is not followed: the token would go there'
        throw createGoneFailure(requested, why, 'name the repository by its present address')
      }
      // A renamed repository answers under its new name (routers/api/v1: repoAssignment).
      if (method !== 'GET')
        throw createGoneFailure(
          requested,
          'the repository has another name now',
          'name the repository by its present address',
        )
      url = next
    }
    throw createWrongForgeFailure(requested, 'it redirects in a circle')
  }

  async #requestOnce(
    method: GiteaRequest['method'],
    url: URL,
    body: object | undefined,
    signal: AbortSignal,
  ): Promise<Answer> {
    const {
      governor,
      clock,
      trace,
      dispatcher,
      token,
      userAgent,
      silence = SILENCE,
    } = this.#options
    await governor.admit(method === 'GET' ? 'read' : 'write', signal)
    const started = clock.now().getTime()
    let outcome = 'no answer'
    try {
      const response = await dispatcher.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method,
        headers: {
          accept: 'application/json',
          authorization: `token ${token}`,
          'user-agent': userAgent,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal,
        headersTimeout: silence,
        bodyTimeout: silence,
      })
      outcome = String(response.statusCode)
      return {
        status: response.statusCode,
        headers: response.headers,
        text: await readText(response.body, false, {
          bytes: LARGEST,
          tooLarge: () => new TooLarge(),
        }),
      }
    } catch (thrown) {
      if (signal.aborted) throw signal.reason
      if (thrown instanceof TooLarge) throw thrown
      throw createLostConnection(thrown, silence)
    } finally {
      trace?.({
        to: { system: 'forge', name: 'gitea' },
        what: `${method} ${url.pathname}`,
        outcome,
        milliseconds: clock.now().getTime() - started,
      })
    }
  }

  #throttleRequests({ headers }: Answer): unknown {
    const named = headers['retry-after']
    const now = this.#options.clock.now().getTime()
    return this.#options.governor.throttleRequests(
      typeof named === 'string' ? retryAfter(named, now) : undefined,
    )
  }
}

class TooLarge extends Error {}

/** RFC 9110, 10.2.3; milliseconds since 1970. Undefined for more than a day. */
function retryAfter(named: string, now: number): number | undefined {
  const at = /^\d{1,6}$/.test(named) ? now + Number(named) * 1000 : Date.parse(named)
  return at >= now && at - now <= LONGEST_NAMED_WAIT ? at : undefined
}
