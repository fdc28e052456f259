import type { LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import { Deadline } from '@backporch/system/deadline'
import { readText } from '@backporch/system/read-text'
import type { Credentials } from './credentials.ts'
import { ONLY_LINK_LOCAL, WHY_NOT_LINK_LOCAL } from './link-local.ts'

export type HttpMethod = 'GET' | 'POST' | 'PATCH' | 'DELETE'

export interface ApiRequest {
  readonly method: HttpMethod
  readonly path: string
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string
  /** Milliseconds for the whole exchange. */
  readonly timeout: number
  readonly signal: AbortSignal
}

export interface ApiResponse {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

export interface StreamSink {
  data(chunk: Buffer): void
  /** Called once, and last. Without a fault the server ended normally. */
  end(fault: TransportFault | undefined): void
}

export interface ApiStream {
  readonly status: 200
  readonly headers: ReadonlyMap<string, string>
  /**
   * `performance.now()` of the last sign of life, for all streams of the connection. Undefined over
   * HTTP/1.1.
   */
  readonly provenAt: number | undefined
  /** Call once. Nothing is read before. */
  listen(sink: StreamSink): void
  /** `end` is not called afterwards. */
  close(): void
}

export interface Transport {
  readonly protocol: 'h2' | 'http/1.1'
  /** False once the connection is lost. */
  readonly usable: boolean
  readonly hasRoom: boolean
  /** @throws TransportFault without a complete answer; the reason of `signal` when that aborted */
  send(request: ApiRequest): Promise<ApiResponse>
  /**
   * `timeout` is the time until the body begins; an answer other than 200 is read whole within it.
   * @throws as `send`
   */
  stream(request: Omit<ApiRequest, 'method' | 'body'>): Promise<ApiStream | ApiResponse>
  close(): void
}

export interface TransportTarget {
  readonly server: URL
  readonly proxy: URL | undefined
  readonly credentials: Credentials
  /** Unused with a proxy, which resolves the name. */
  readonly lookup: LookupFunction
  /** Milliseconds. */
  readonly connectTimeout: number
  /** Bytes, decompressed. */
  readonly maxBody: number
  /** Milliseconds, for a busy HTTP/2 connection. */
  readonly pingEvery: number
  readonly pingWithin: number
}

export const TRANSPORT_DEFAULTS = {
  connectTimeout: 10_000,
  maxBody: 256 * 1024 * 1024,
  pingEvery: 15_000,
  pingWithin: 10_000,
} as const

/**
 * `unreachable`: no connection. `broken`: it ended midway. `untrusted`: the server's certificate.
 * `rejected`: the client certificate. `too-large`: more than `maxBody`. `link-local`: the name has
 * only such addresses.
 */
type FaultClass =
  | 'unreachable'
  | 'broken'
  | 'timeout'
  | 'untrusted'
  | 'rejected'
  | 'too-large'
  | 'not-http'
  | 'link-local'

/** Stays inside this folder: `kubernetes-failure.ts` converts it to a Failure. */
export class TransportFault extends Error {
  readonly fault: FaultClass
  /** Never text from the peer. */
  readonly detail: string
  notAfter: string | undefined

  constructor(fault: FaultClass, detail: string, cause?: unknown) {
    super(detail, cause === undefined ? {} : { cause })
    this.name = 'TransportFault'
    this.fault = fault
    this.detail = detail
  }
}

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'EHOSTDOWN',
  'ENETDOWN',
])
const TIMEOUTS = new Set([
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
])
// X509_V_ERR_* as Node names them: doc/api/tls.md "X509 certificate error codes".
const UNTRUSTED =
  /^(CERT_|CRL_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|ERROR_IN_CERT|ERROR_IN_CRL|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH|HOSTNAME_MISMATCH|ERR_TLS_CERT|ERR_TLS_HANDSHAKE)/

export function convertToTransportFault(thrown: unknown): TransportFault {
  if (thrown instanceof TransportFault) return thrown
  const code = findErrorCode(thrown)
  if (code === undefined) return new TransportFault('broken', 'the connection ended', thrown)
  if (code === ONLY_LINK_LOCAL)
    return new TransportFault(
      'link-local',
      `the name of the server resolves to ${WHY_NOT_LINK_LOCAL}`,
    )
  if (UNREACHABLE.has(code)) return new TransportFault('unreachable', code, thrown)
  if (TIMEOUTS.has(code)) return new TransportFault('timeout', code, thrown)
  if (UNTRUSTED.test(code)) return new TransportFault('untrusted', code, thrown)
  if (/ALERT.*CERTIFICATE/.test(code)) return new TransportFault('rejected', code, thrown)
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO')
    return new TransportFault('untrusted', code, thrown)
  if (code.startsWith('HPE_')) return new TransportFault('not-http', code, thrown)
  return new TransportFault('broken', code, thrown)
}

function findErrorCode(thrown: unknown): string | undefined {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if (error instanceof AggregateError && error.errors.length > 0)
      return findErrorCode(error.errors[0])
    if ('code' in error && typeof error.code === 'string') return error.code || undefined
  }
  return undefined
}

/**
 * @throws TransportFault `timeout`, the signal's reason when it aborted, a fault for anything else
 */
export async function runUnderDeadline<T>(
  timeout: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  // The timer of AbortSignal.timeout does not keep the process alive, so a silent peer would let it
  // exit without a message.
  const deadline = new AbortController()
  const limit = new Deadline(timeout, () => deadline.abort())
  const forward = () => deadline.abort()
  signal.addEventListener('abort', forward, { once: true })
  try {
    return await work(deadline.signal)
  } catch (thrown) {
    if (signal.aborted) throw signal.reason
    if (deadline.signal.aborted)
      throw new TransportFault('timeout', `no answer within ${timeout / 1000} s`, thrown)
    throw convertToTransportFault(thrown)
  } finally {
    limit.stop()
    signal.removeEventListener('abort', forward)
  }
}

/** @throws TransportFault `too-large`, or `broken` for an encoding that was not requested */
export async function readBody(
  stream: Readable,
  encoding: string | undefined,
  limit: number,
): Promise<string> {
  if (encoding !== undefined && !['gzip', 'identity', ''].includes(encoding)) {
    throw new TransportFault('broken', 'the body has an encoding that was not asked for')
  }
  return readText(stream, encoding === 'gzip', {
    bytes: limit,
    tooLarge: () => new TransportFault('too-large', `more than ${limit} bytes`),
  })
}
