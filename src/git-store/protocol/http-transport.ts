/** git documentation, http-protocol. */
import { setImmediate } from 'node:timers/promises'
import { Failure } from '@backporch/kyaml/failure'
import { formatForeignLine } from '@backporch/kyaml/text'
import type { Environment } from '@backporch/system/child-environment'
import { Deadline } from '@backporch/system/deadline'
import {
  createCredentialsRefusedFailure,
  createNotARepositoryFailure,
  createTooManyRefsFailure,
  createUnreachableFailure,
  getSystemCode,
} from '../program/git-failure.ts'
import {
  type Advertisement,
  assertReadable,
  buildRefsRequest,
  RefusedService,
  readAdvertisement,
  readRefs,
  TooManyRefs,
} from './advertisement.ts'
import { ByteReader, StreamFault } from './byte-reader.ts'
import { findCredential } from './git-credential.ts'
import type { GitService, GitSession, GitTransport, TransportLimits } from './git-transport.ts'
import type { Credential, RemoteAddress } from './remote-address.ts'

/** GitHub and Gitea accept any user; GitHub documents this name. */
const TOKEN_USER = 'x-access-token'
const MOST_REDIRECTS = 5
/** Bytes. */
const MOST_REPORTED = 16 * 1024

/**
 * Short-lived.
 * @throws Failure BP50xx
 */
export type TokenSource = (signal: AbortSignal) => Promise<string>

interface Request {
  readonly service: GitService
  readonly path: string
  readonly type: string
  readonly body?: Buffer
}

export class HttpTransport implements GitTransport {
  readonly #printed: string
  readonly #environment: Environment
  readonly #limits: TransportLimits
  #base: string
  readonly #token: TokenSource | undefined
  #credential: Credential | undefined
  #asked = false
  #offered: Advertisement | undefined

  constructor(
    address: Extract<RemoteAddress, { kind: 'http' }>,
    token: string | TokenSource | undefined,
    environment: Environment,
    limits: TransportLimits,
  ) {
    this.#printed = address.printed
    this.#base = address.url
    this.#environment = environment
    this.#limits = limits
    const plain =
      typeof token === 'string' && token !== ''
        ? { username: TOKEN_USER, password: token }
        : undefined
    this.#credential = address.credential ?? plain
    this.#token =
      typeof token === 'function' && address.credential === undefined ? token : undefined
  }

  get secrets(): readonly string[] {
    if (this.#credential === undefined) return []
    const { username, password } = this.#credential
    // A token may replace the user name.
    return [password === '' ? username : password, encodeBasicCredential(this.#credential)].filter(
      (text) => text !== '',
    )
  }

  async open(service: GitService, signal: AbortSignal, known?: Advertisement): Promise<GitSession> {
    return this.#createSession(known ?? (await this.#discover(service, signal)), service, signal)
  }

  explain(thrown: unknown, signal: AbortSignal): unknown {
    if (signal.aborted) return signal.reason
    if (thrown instanceof Failure) return thrown
    if (thrown instanceof TooManyRefs)
      return createTooManyRefsFailure(this.#printed, thrown.message)
    if (thrown instanceof StreamFault)
      return createUnreachableFailure(this.#printed, thrown.message, thrown)
    // undici's own text may repeat the address.
    const cause = thrown instanceof Error ? thrown.cause : undefined
    const code = getSystemCode(cause) ?? getSystemCode(thrown)
    if (code !== undefined || thrown instanceof TypeError) {
      return createUnreachableFailure(
        this.#printed,
        `the connection failed${code === undefined ? '' : ` (${code})`}`,
        thrown,
      )
    }
    return thrown
  }

  #createSession(
    advertisement: Advertisement,
    service: GitService,
    signal: AbortSignal,
  ): GitSession {
    const stop = new AbortController()
    return {
      advertisement,
      request: (body) => this.#ask(service, body, signal, stop),
      close: async () => stop.abort(),
    }
  }

  async #ask(
    service: GitService,
    body: readonly Uint8Array[],
    signal: AbortSignal,
    stop: AbortController,
  ): Promise<ByteReader> {
    const type = `application/x-${service}-result`
    return this.#createReader(
      await this.#send(
        { service, path: `/${service}`, type, body: Buffer.concat(body) },
        signal,
        stop,
      ),
    )
  }

  async #discover(service: GitService, signal: AbortSignal): Promise<Advertisement> {
    const stop = new AbortController()
    try {
      const offered =
        (service === 'git-upload-pack' ? this.#offered : undefined) ??
        (await this.#greet(service, signal, stop))
      if (offered.version !== 2) return offered
      const reader = await this.#ask(service, buildRefsRequest(offered), signal, stop)
      const advertisement = await readRefs(reader, offered)
      await reader.drain()
      this.#offered = offered
      return advertisement
    } catch (thrown) {
      this.#offered = undefined
      if (thrown instanceof RefusedService)
        throw createUnreachableFailure(
          this.#printed,
          `the server refuses: ${formatForeignLine(thrown.message, { secrets: this.secrets })}`,
        )
      throw this.explain(thrown, signal)
    } finally {
      stop.abort()
    }
  }

  async #greet(
    service: GitService,
    signal: AbortSignal,
    stop: AbortController,
  ): Promise<Advertisement> {
    const type = `application/x-${service}-advertisement`
    const reader = this.#createReader(
      await this.#send({ service, path: `/info/refs?service=${service}`, type }, signal, stop),
    )
    const advertisement = await readAdvertisement(reader, true)
    await reader.drain()
    assertReadable(advertisement, this.#printed)
    return advertisement
  }

  #createReader(response: Response): ByteReader {
    return new ByteReader(response.body ?? new Blob([]).stream(), this.#limits)
  }

  /** @throws Failure for every answer but the wanted one */
  async #send(request: Request, signal: AbortSignal, stop: AbortController): Promise<Response> {
    for (let attempt = 0; attempt <= MOST_REDIRECTS; attempt++) {
      const response = await this.#requestOnce(request, signal, stop)
      if (response.status === 200) {
        if (response.headers.get('content-type')?.split(';')[0]?.trim() === request.type)
          return response
        await response.body?.cancel()
        throw createNotARepositoryFailure(
          this.#printed,
          'the server at this address is not a git server',
        )
      }
      if (!(await this.#goOn(request, response, signal))) throw await this.#createRefusal(response)
    }
    throw createUnreachableFailure(this.#printed, 'the server redirects in a circle')
  }

  async #requestOnce(
    request: Request,
    signal: AbortSignal,
    stop: AbortController,
  ): Promise<Response> {
    signal.throwIfAborted()
    // One run of the event loop, so that closed connections are not used after seconds of planning.
    await setImmediate()
    if (this.#token !== undefined)
      this.#credential = { username: TOKEN_USER, password: await this.#token(signal) }
    const late = () =>
      stop.abort(new StreamFault('silent', `no answer for ${this.#limits.silence / 1000} s`))
    const limit = new Deadline(this.#limits.silence, late)
    const headers: Record<string, string> = { accept: request.type, 'user-agent': 'git/backporch' }
    if (this.#credential !== undefined)
      headers['authorization'] = `Basic ${encodeBasicCredential(this.#credential)}`
    if (request.service === 'git-upload-pack') headers['git-protocol'] = 'version=2'
    if (request.body !== undefined)
      headers['content-type'] = `application/x-${request.service}-request`
    try {
      return await fetch(this.#base + request.path, {
        method: request.body === undefined ? 'GET' : 'POST',
        headers,
        redirect: 'manual',
        signal: AbortSignal.any([signal, stop.signal]),
        ...(request.body === undefined ? {} : { body: new Uint8Array(request.body) }),
      })
    } catch (thrown) {
      throw this.explain(stop.signal.aborted ? stop.signal.reason : thrown, signal)
    } finally {
      limit.stop()
    }
  }

  async #goOn(request: Request, response: Response, signal: AbortSignal): Promise<boolean> {
    if (response.status === 401 && this.#credential === undefined && !this.#asked) {
      this.#asked = true
      this.#credential = await findCredential(this.#base, this.#environment, signal)
      if (this.#credential !== undefined) await response.body?.cancel()
      return this.#credential !== undefined
    }
    if (![301, 302, 303, 307, 308].includes(response.status)) return false
    const target = URL.parse(response.headers.get('location') ?? '', this.#base + request.path)
    const here = new URL(this.#base)
    // It would carry the token there.
    if (
      target === null ||
      target.origin !== here.origin ||
      !(target.pathname + target.search).endsWith(request.path)
    )
      return false
    await response.body?.cancel()
    this.#base =
      here.origin +
      target.pathname.slice(0, target.pathname.length - (request.path.split('?')[0] ?? '').length)
    return true
  }

  async #createRefusal(response: Response): Promise<Failure> {
    const { status } = response
    const location = URL.parse(response.headers.get('location') ?? '', this.#base)
    const body = await this.#createReader(response).readSome(MOST_REPORTED)
    const reported = (response.headers.get('content-type') ?? '').startsWith('text/plain')
      ? formatForeignLine(body, { secrets: this.secrets })
      : ''
    const why = `the server answered ${status}${reported === '' ? '' : `: ${reported}`}`
    if (status === 401 || status === 403) {
      return createCredentialsRefusedFailure(
        this.#printed,
        this.#credential === undefined ? `${why}, and no credentials are known` : why,
      )
    }
    if (status === 404 || status === 410)
      return createNotARepositoryFailure(
        this.#printed,
        `${why}; it does not exist, or the credentials may not see it`,
      )
    if (status === 413) {
      return new Failure({
        code: 'BP4002',
        what: 'the server takes no push of this size',
        where: this.#printed,
        why,
        remedy: 'raise the limit of the server or of the proxy before it',
        retry: 'on-change',
      })
    }
    if (status >= 300 && status < 400 && location !== null) {
      return createUnreachableFailure(
        this.#printed,
        `the server redirects to ${formatForeignLine(location.origin + location.pathname, { secrets: this.secrets })}; name that address`,
      )
    }
    return createUnreachableFailure(this.#printed, why)
  }
}

function encodeBasicCredential({ username, password }: Credential): string {
  return Buffer.from(`${username}:${password}`).toString('base64')
}
