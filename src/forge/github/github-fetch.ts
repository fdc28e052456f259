/**
 * octokit's throttling plugin is not used (docs/adr/0010-dependencies.md). Stays with one origin.
 */

import { setImmediate } from 'node:timers/promises'
import type { Clock } from '@backporch/system/clock'
import { readText } from '@backporch/system/read-text'
import type { Trace, TracedRequest } from '@backporch/system/trace'
import { LRUCache } from 'lru-cache'
import type { Dispatcher } from 'undici'
import {
  createForgeUnreachable,
  createGoneFailure,
  createWrongForgeFailure,
} from '../adapter/forge-failure.ts'
import { createLostConnection, LostConnection } from '../adapter/lost-connection.ts'
import type { RequestGovernor, RequestKind } from '../adapter/request-governor.ts'
import type { GitHubAddress } from './github-address.ts'
import { findNamedEnd, getRateResource, isLimit, learnBudget } from './rate-limits.ts'

interface FetchParts {
  readonly address: GitHubAddress
  readonly dispatcher: Dispatcher
  readonly governor: RequestGovernor
  readonly clock: Clock
  readonly cache: AnswerCache
  readonly agent: string
  readonly token: (renewed: boolean, signal: AbortSignal) => Promise<string | undefined>
  readonly trace?: Trace
}

interface FetchInit {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal?: AbortSignal
}

interface Answer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

const TO = { system: 'forge', name: 'github' } as const
const MOST_REDIRECTS = 3
/** Writes are never sent twice here. */
const MOST_RETRIES = 2
/** Milliseconds. */
const SILENCE = 30_000
/** Bytes. A page of 100 pull requests with bodies of 64 KiB is 7 MB. */
const LARGEST = 32 * 1024 * 1024
const createTooLargeError = (): Error => new Error('too large')
const PASSING = new Set([500, 502, 503, 504])

export class GitHubFetch {
  readonly #parts: FetchParts
  readonly #origin: string

  constructor(parts: FetchParts) {
    this.#parts = parts
    this.#origin = new URL(parts.address.apiUrl).origin
  }

  /** @throws Failure BP50xx if no answer came or it must not be used */
  async fetch(address: string, init: FetchInit): Promise<Response> {
    const signal = init.signal ?? new AbortController().signal
    const kind = getRequestKind(new URL(address).pathname, init)
    const answer = await this.#read(address, init, kind, signal)
    const empty = answer.status === 204 || answer.status === 205
    return new Response(empty ? null : answer.body, {
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
    })
  }

  async #read(
    address: string,
    init: FetchInit,
    kind: RequestKind,
    signal: AbortSignal,
  ): Promise<Answer> {
    const retries = kind === 'read' ? MOST_RETRIES : 0
    for (let attempt = 0; ; attempt += 1) {
      let thrown: unknown
      try {
        const answer = await this.#fetchAuthorized(address, init, kind, signal)
        if (attempt >= retries || !PASSING.has(answer.status)) return answer
      } catch (fault) {
        if (attempt >= retries || !(fault instanceof LostConnection && fault.isWorthTrying))
          throw this.#explain(fault, signal)
        thrown = fault
      }
      await this.#parts.clock.sleep(250 * 4 ** attempt, signal).catch((stopped: unknown) => {
        throw signal.aborted ? stopped : this.#explain(thrown ?? stopped, signal)
      })
    }
  }

  /** An installation token may be refused in its first seconds, or be withdrawn. */
  async #fetchAuthorized(
    address: string,
    init: FetchInit,
    kind: RequestKind,
    signal: AbortSignal,
  ): Promise<Answer> {
    if (init.headers['authorization'] !== undefined)
      return this.#follow(address, init, kind, signal)
    const send = async (token: string | undefined): Promise<Answer> => {
      const headers = {
        ...init.headers,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      }
      return this.#follow(address, { ...init, headers }, kind, signal)
    }
    const token = await this.#parts.token(false, signal)
    const answer = await send(token)
    if (answer.status !== 401) return answer
    const renewed = await this.#parts.token(true, signal)
    return renewed === token ? answer : send(renewed)
  }

  async #follow(
    address: string,
    init: FetchInit,
    kind: RequestKind,
    signal: AbortSignal,
  ): Promise<Answer> {
    let url = new URL(address)
    for (let step = 0; step <= MOST_REDIRECTS; step += 1) {
      // The server supplies addresses of pages: the token goes to no other origin.
      if (url.origin !== this.#origin) throw this.#createRedirectFailure()
      const answer = await this.#fetchConditional(url, init, kind, signal)
      if (![301, 302, 307, 308].includes(answer.status)) return answer
      const next = URL.parse(answer.headers.get('location') ?? '', url.href)
      if (next === null || next.origin !== this.#origin) throw this.#createRedirectFailure()
      url = next
    }
    throw createWrongForgeFailure(
      { address: this.#parts.address, what: 'ask GitHub' },
      'it redirects in a circle',
    )
  }

  async #fetchConditional(
    url: URL,
    init: FetchInit,
    kind: RequestKind,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { cache } = this.#parts
    if (init.method !== 'GET') return this.#send(url, init, kind, signal)
    const key = `${init.headers['accept'] ?? ''} ${url.href}`
    const retained = cache.get(key)
    const headers =
      retained === undefined ? init.headers : { ...init.headers, 'if-none-match': retained.etag }
    const answer = await this.#send(url, { ...init, headers }, kind, signal)
    if (answer.status === 304 && retained !== undefined)
      return { status: 200, headers: retained.headers, body: retained.body }
    const etag = answer.headers.get('etag')
    if (answer.status === 200 && etag !== undefined)
      cache.set(key, { etag, headers: answer.headers, body: answer.body })
    else cache.delete(key)
    return answer
  }

  async #send(url: URL, init: FetchInit, kind: RequestKind, signal: AbortSignal): Promise<Answer> {
    const { governor, clock, trace, address } = this.#parts
    await governor.admit(kind, signal, getRateResource(url.pathname))
    const started = clock.now().getTime()
    let outcome = 'no answer'
    let budget: TracedRequest['budget']
    try {
      const answer = await this.#exchange(url, init, signal)
      outcome = String(answer.status)
      budget = learnBudget(governor, url.pathname, answer.headers)
      if (isLimit(answer))
        throw governor.throttleRequests(findNamedEnd(answer.headers, clock.now().getTime()))
      if (answer.status < 400) governor.recordSuccess()
      const type = answer.headers.get('content-type') ?? ''
      if (
        answer.body !== '' &&
        answer.status < 500 &&
        !/^application\/([\w.+-]+\+)?json\b/i.test(type)
      ) {
        throw createWrongForgeFailure(
          { address, what: 'ask GitHub' },
          `it answers ${answer.status} with ${shortenType(type)}, wanted JSON`,
        )
      }
      if (answer.status < 300 && !isWhole(answer.body))
        throw new LostConnection('the answer ended before it was whole')
      return answer
    } finally {
      const request = {
        to: TO,
        what: `${init.method} ${url.pathname}`,
        outcome,
        milliseconds: clock.now().getTime() - started,
      }
      trace?.(budget === undefined ? request : { ...request, budget })
    }
  }

  async #exchange(url: URL, init: FetchInit, signal: AbortSignal): Promise<Answer> {
    // One run of the event loop, so that closed connections are not used after seconds of planning.
    await setImmediate()
    try {
      const answer = await this.#parts.dispatcher.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: init.method as Dispatcher.HttpMethod,
        headers: { ...init.headers, 'user-agent': this.#parts.agent, 'accept-encoding': 'gzip' },
        ...(init.body === undefined ? {} : { body: init.body }),
        signal,
        headersTimeout: SILENCE,
        bodyTimeout: SILENCE,
      })
      const headers = new Map<string, string>()
      for (const [name, value] of Object.entries(answer.headers)) {
        const first = Array.isArray(value) ? value.join(', ') : value
        if (first !== undefined) headers.set(name, first)
      }
      return {
        status: answer.statusCode,
        headers,
        body: await readText(answer.body, headers.get('content-encoding') === 'gzip', {
          bytes: LARGEST,
          tooLarge: createTooLargeError,
        }),
      }
    } catch (thrown) {
      if (signal.aborted) throw signal.reason
      throw createLostConnection(thrown, SILENCE)
    }
  }

  #explain(thrown: unknown, signal: AbortSignal): unknown {
    if (signal.aborted || !(thrown instanceof LostConnection)) return thrown
    return createForgeUnreachable(
      { address: this.#parts.address, what: 'reach GitHub' },
      thrown.message,
    )
  }

  #createRedirectFailure(): unknown {
    const why = 'GitHub sends to another host, which is not followed: the token would go there'
    return createGoneFailure(
      { address: this.#parts.address, what: 'ask GitHub' },
      why,
      'name the repository by its present address',
    )
  }
}

/** A read creates nothing visible to people, whatever its method. */
function getRequestKind(path: string, { method, body = '' }: FetchInit): RequestKind {
  if (method === 'GET' || method === 'HEAD' || path.endsWith('/access_tokens')) return 'read'
  return path.endsWith('/graphql') && body.startsWith('{"query":"query') ? 'read' : 'write'
}

/** A cut connection without a length leaves a partial text. */
function isWhole(body: string): boolean {
  const last = body.trimEnd().at(-1)
  return last === undefined || last === '}' || last === ']' || !/^[[{]/.test(body)
}

function shortenType(type: string): string {
  return /^[\w.+-]+\/[\w.+-]+/.exec(type)?.[0] ?? 'no content type'
}

/** A 304 does not count against the rate limit. */

interface CachedAnswer {
  readonly etag: string
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

type AnswerCache = LRUCache<string, CachedAnswer>

/** An answer larger than a quarter of the cache would evict all others. */
export function answerCache(entries: number, characters: number): AnswerCache {
  return new LRUCache({
    max: entries,
    maxSize: characters,
    maxEntrySize: characters / 4,
    sizeCalculation: ({ body }) => body.length + 1,
  })
}
