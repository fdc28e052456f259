import type { LookupFunction } from 'node:net'
import { Failure } from '@backporch/kyaml/failure'
import type { Clock } from '@backporch/system/clock'
import type { Trace } from '@backporch/system/trace'
import { chooseProxy, type Environment } from './choose-proxy.ts'
import { type CredentialSource, type Credentials, findCertificateExpiry } from './credentials.ts'
import type { ClusterAccess } from './kubeconfig.ts'
import {
  createFaultFailure,
  createResponseFailure,
  type RequestDescription,
} from './kubernetes-failure.ts'
import { excludeLinkLocal } from './link-local.ts'
import { openTransport } from './open-transport.ts'
import {
  type ApiResponse,
  type ApiStream,
  convertToTransportFault,
  type HttpMethod,
  TRANSPORT_DEFAULTS,
  type Transport,
} from './transport.ts'

export interface ApiCall {
  readonly method: HttpMethod
  readonly path: string
  readonly accept?: string
  readonly contentType?: string
  readonly body?: string
  readonly repeatable: boolean
  /** Below 500. */
  readonly answers?: readonly number[]
  readonly userAgent?: string
}

export interface ConnectionOptions {
  readonly clock: Clock
  readonly environment: Environment
  /** The API server writes it into its audit events. */
  readonly userAgent: string
  /** Milliseconds per request. */
  readonly timeout?: number
  /** From 0 to 1. */
  readonly random?: () => number
  readonly pingEvery?: number
  readonly pingWithin?: number
  readonly connectTimeout?: number
  readonly maxBody?: number
  readonly lookup?: LookupFunction
  readonly trace?: Trace
}

const TIMEOUT = 30_000
const ATTEMPTS = 4
const FIRST_WAIT = 200
/** Retry-After in milliseconds. */
const LONGEST_WAIT = 30_000
/** As in client-go: token files are read again after a minute. */
const CREDENTIALS_LAST = 60_000

interface Opened {
  readonly transport: Transport
  readonly credentials: Credentials
  readonly generation: number
}

export class ApiConnection {
  readonly name: string
  private readonly access: ClusterAccess
  private readonly source: CredentialSource
  private readonly options: ConnectionOptions
  private opened: Promise<Opened> | undefined
  private current: Opened | undefined
  /** For streams beyond the stream limit of the current connection. */
  private further: readonly Opened[] = []
  private openingFurther: Promise<void> | undefined
  private readAt = 0
  private generation = 0
  private authorisedFrom = 0
  /** Reloaded credentials got a second 401: not reloaded for a minute. */
  private refusedAt = Number.NEGATIVE_INFINITY

  constructor(
    name: string,
    access: ClusterAccess,
    source: CredentialSource,
    options: ConnectionOptions,
  ) {
    this.name = name
    this.access = access
    this.source = source
    this.options = options
  }

  /**
   * Retries 429 (always, because the server did not act), 5xx and broken connections (repeatable
   * calls only), 401 once with reloaded credentials.
   * @returns a 2xx, or a status in `call.answers`
   * @throws Failure BP30xx; the reason of `signal` when that aborted
   */
  async send(
    call: ApiCall,
    requested: RequestDescription,
    signal: AbortSignal,
  ): Promise<ApiResponse> {
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.attempt(call, requested, signal)
      if ('status' in outcome) return outcome
      if (attempt >= ATTEMPTS || !outcome.again) throw outcome.failure
      await this.options.clock.sleep(this.waitFor(attempt, outcome.retryAfter), signal)
    }
  }

  /**
   * Sent once, and repeated only after a 401 with reloaded credentials.
   * @returns any status other than 200 as an answer
   * @throws Failure BP30xx without an answer; the reason of `signal` when that aborted
   */
  async stream(
    { path, accept = 'application/json' }: Pick<ApiCall, 'path' | 'accept'>,
    requested: RequestDescription,
    signal: AbortSignal,
  ): Promise<ApiStream | ApiResponse> {
    const headers = { accept, 'accept-encoding': 'identity', 'user-agent': this.options.userAgent }
    const timeout = this.options.timeout ?? TIMEOUT
    const work = ({ transport, credentials }: Opened) =>
      transport.stream({ path, headers: { ...headers, ...credentials.headers }, timeout, signal })
    try {
      const { answer } = await this.retryUnauthorized(async () => {
        for (;;) {
          const current = await this.open(signal)
          // No await from here, so that two streams cannot take the same room.
          const opened = this.findOpenedWithRoom(current)
          if (opened !== undefined)
            return {
              opened,
              answer: await this.traceRequest(`GET ${path}`, requested, signal, () => work(opened)),
            }
          await this.openFurther(current.credentials, signal)
        }
      })
      return answer
    } catch (thrown) {
      if (thrown instanceof Failure || signal.aborted) throw thrown
      throw this.addExpiry(createFaultFailure(convertToTransportFault(thrown), requested))
    }
  }

  get protocol(): Transport['protocol'] | undefined {
    return this.current?.transport.protocol
  }

  get openedConnections(): number {
    return this.generation
  }

  createResponseFailure(
    answer: ApiResponse,
    requested: RequestDescription,
  ): { readonly failure: Failure; readonly retryAfter: number | undefined } {
    return {
      failure: this.addExpiry(createResponseFailure(answer, requested)),
      retryAfter: retryAfter(answer),
    }
  }

  close(): void {
    for (const { transport } of [
      ...this.further,
      ...(this.current === undefined ? [] : [this.current]),
    ])
      transport.close()
    this.further = []
    this.current = undefined
    this.opened = undefined
  }

  private async attempt(
    call: ApiCall,
    requested: RequestDescription,
    signal: AbortSignal,
  ): Promise<ApiResponse | FailedAttempt> {
    try {
      const { answer } = await this.retryUnauthorized(async () => {
        const opened = await this.open(signal)
        return {
          opened,
          answer: await this.traceRequest(`${call.method} ${call.path}`, requested, signal, () =>
            this.transmit(opened, call, signal),
          ),
        }
      })
      if (
        (answer.status >= 200 && answer.status < 300) ||
        call.answers?.includes(answer.status) === true
      )
        return answer
      const failure = this.addExpiry(createResponseFailure(answer, requested))
      const busy = answer.status === 429
      const again = busy || (call.repeatable && answer.status >= 500 && answer.status !== 501)
      return { failure, again, retryAfter: retryAfter(answer) }
    } catch (thrown) {
      if (thrown instanceof Failure || signal.aborted) throw thrown
      const fault = convertToTransportFault(thrown)
      const again = call.repeatable && fault.fault === 'broken'
      return {
        failure: this.addExpiry(createFaultFailure(fault, requested)),
        again,
        retryAfter: undefined,
      }
    }
  }

  private async retryUnauthorized<Answer extends { readonly status: number }>(
    exchange: () => Promise<{ readonly answer: Answer; readonly opened: Opened }>,
  ): Promise<{ readonly answer: Answer; readonly opened: Opened }> {
    const first = await exchange()
    if (first.answer.status !== 401 || this.isRecent(this.refusedAt)) return first
    // Another request may have reloaded them meanwhile.
    if (first.opened.generation >= this.authorisedFrom) {
      this.source.forget()
      this.close()
      this.authorisedFrom = this.generation + 1
    }
    const again = await exchange()
    if (again.answer.status === 401) this.refusedAt = this.getNow()
    return again
  }

  private async traceRequest<Answer extends ApiStream | ApiResponse>(
    what: string,
    { verb, resource: about }: RequestDescription,
    signal: AbortSignal,
    work: () => Promise<Answer>,
  ): Promise<Answer> {
    const started = performance.now()
    const to = { system: 'cluster', name: this.name } as const
    const resource = about === undefined ? {} : { resource: { verb, ...about } }
    const report = (outcome: string): void =>
      this.options.trace?.({
        to,
        ...resource,
        what,
        outcome,
        milliseconds: performance.now() - started,
      })
    try {
      const answer = await work()
      report(
        `${answer.status} (${'body' in answer ? `${answer.body.length} characters` : 'a stream'})`,
      )
      return answer
    } catch (thrown) {
      report(signal.aborted ? 'interrupted' : convertToTransportFault(thrown).fault)
      throw thrown
    }
  }

  private transmit(opened: Opened, call: ApiCall, signal: AbortSignal): Promise<ApiResponse> {
    return opened.transport.send({
      method: call.method,
      path: call.path,
      headers: {
        accept: call.accept ?? 'application/json',
        'accept-encoding': 'gzip',
        'user-agent': call.userAgent ?? this.options.userAgent,
        ...(call.body === undefined
          ? {}
          : { 'content-type': call.contentType ?? 'application/json' }),
        ...opened.credentials.headers,
      },
      ...(call.body === undefined ? {} : { body: call.body }),
      timeout: this.options.timeout ?? TIMEOUT,
      signal,
    })
  }

  private async open(signal: AbortSignal): Promise<Opened> {
    const { current } = this
    const fresh = this.isRecent(this.readAt)
    if (current?.transport.usable === true && fresh) return current
    // A dead server costs one attempt. The first caller's signal ends it.
    this.opened ??= this.reopen(signal).finally(() => {
      this.opened = undefined
    })
    return this.opened
  }

  private async reopen(signal: AbortSignal): Promise<Opened> {
    const credentials = await this.source.read(signal)
    const before = this.current
    this.readAt = this.getNow()
    if (before?.transport.usable === true && hasSameTls(before.credentials, credentials)) {
      this.current = { ...before, credentials }
      return this.current
    }
    before?.transport.close()
    this.current = await this.connect(credentials, signal)
    return this.current
  }

  private findOpenedWithRoom(current: Opened): Opened | undefined {
    const { credentials } = current
    const isOf = (one: Opened): boolean =>
      one.transport.usable && hasSameTls(one.credentials, credentials)
    for (const one of this.further) if (!isOf(one)) one.transport.close()
    this.further = this.further.filter(isOf)
    const found = [current, ...this.further].find(({ transport }) => transport.hasRoom)
    return found === undefined ? undefined : { ...found, credentials }
  }

  private openFurther(credentials: Credentials, signal: AbortSignal): Promise<void> {
    this.openingFurther ??= this.connect(credentials, signal)
      .then((opened) => {
        this.further = [...this.further, opened]
      })
      .finally(() => {
        this.openingFurther = undefined
      })
    return this.openingFurther
  }

  private async connect(credentials: Credentials, signal: AbortSignal): Promise<Opened> {
    const { server, proxyUrl } = this.access
    const proxy = chooseProxy(server, proxyUrl, this.options.environment)
    if (proxy !== undefined && 'problem' in proxy) {
      throw new Failure({
        code: 'BP1006',
        what: 'the proxy of the cluster cannot be used',
        where: this.access.file,
        why: proxy.problem,
        remedy: 'correct proxy-url or the environment variable',
      })
    }
    const lookup = excludeLinkLocal(this.options.lookup)
    const transport = await openTransport(
      { ...TRANSPORT_DEFAULTS, ...this.getLimits(), server, proxy, credentials, lookup },
      signal,
    )
    this.generation += 1
    return { transport, credentials, generation: this.generation }
  }

  private getLimits(): Partial<typeof TRANSPORT_DEFAULTS> {
    const { pingEvery, pingWithin, connectTimeout, maxBody } = this.options
    const given = Object.entries({ pingEvery, pingWithin, connectTimeout, maxBody }).filter(
      ([, value]) => value !== undefined,
    )
    return Object.fromEntries(given)
  }

  private waitFor(attempt: number, requested: number | undefined): number {
    const random = (this.options.random ?? Math.random)()
    // Jitter above the requested wait, so that clients do not return at once.
    if (requested !== undefined) return Math.min(requested, LONGEST_WAIT) * (1 + random / 4)
    return FIRST_WAIT * 2 ** (attempt - 1) * (0.5 + random)
  }

  private addExpiry(failure: Failure): Failure {
    const ended =
      this.current === undefined
        ? undefined
        : findCertificateExpiry(this.current.credentials, this.options.clock.now())
    return failure.code !== 'BP3002' || ended === undefined
      ? failure
      : failure.replaceReason(`the client certificate was valid until ${ended}`)
  }

  /** A clock that was set back must not extend any period. */
  private isRecent(at: number): boolean {
    return Math.abs(this.getNow() - at) < CREDENTIALS_LAST
  }

  private getNow(): number {
    return this.options.clock.now().getTime()
  }
}

interface FailedAttempt {
  readonly failure: Failure
  readonly again: boolean
  readonly retryAfter: number | undefined
}

/** Milliseconds. API servers send seconds, never dates (RFC 9110 §10.2.3). */
function retryAfter(answer: ApiResponse): number | undefined {
  const value = answer.headers.get('retry-after')
  return value !== undefined && /^\d{1,6}$/.test(value) ? Number(value) * 1000 : undefined
}

function hasSameTls(left: Credentials, right: Credentials): boolean {
  return (
    left.authority === right.authority &&
    left.certificate === right.certificate &&
    left.key === right.key
  )
}
