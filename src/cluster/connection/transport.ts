/** Requests to an API server, over HTTP/2 or HTTP/1.1. */
import type { LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import { Deadline } from '@backporch/system/deadline'
import { readText } from '@backporch/system/read-text'
import type { Credentials } from './credentials.ts'
import { ONLY_LINK_LOCAL, WHY_NOT_LINK_LOCAL } from './link-local.ts'

export type HttpMethod = 'GET' | 'POST' | 'PATCH' | 'DELETE'

export interface ApiRequest {
  readonly method: HttpMethod
  /** Path with query, from the server's root: `/api/v1/pods?limit=500`. */
  readonly path: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string
  /** Milliseconds for the whole exchange. */
  readonly timeout: number
  readonly signal: AbortSignal
}

export interface ApiResponse {
  readonly status: number
  /** Lower-case names; the first value of each. */
  readonly headers: ReadonlyMap<string, string>
  /** UTF-8 text, decompressed. */
  readonly body: string
}

/** Reads a body that goes on for as long as the server wants. */
export interface StreamSink {
  /** A part of the body, as it comes. */
  data(chunk: Buffer): void
  /** Called once, and last. Without a fault the server ended the body in order. */
  end(fault: TransportFault | undefined): void
}

/** An answer of 200 whose body goes on. */
export interface ApiStream {
  readonly status: 200
  /** As in `ApiResponse`. */
  readonly headers: ReadonlyMap<string, string>
  /** `performance.now()` when the server was last known to be at the other end, for all streams of the connection. Undefined over HTTP/1.1. */
  readonly provenAt: number | undefined
  /** To be called once. Nothing is read before. */
  listen(sink: StreamSink): void
  /** Ends it; `end` is not called any more. */
  close(): void
}

export interface Transport {
  /** `h2` or `http/1.1`. */
  readonly protocol: 'h2' | 'http/1.1'
  /** False once the connection is gone: then another transport has to be opened. */
  readonly usable: boolean
  /** Whether one more stream leaves enough of the server's limit for requests. */
  readonly hasRoom: boolean
  /** Any status is an answer. @throws TransportFault without a whole answer; the reason of `signal` when that aborted */
  send(request: ApiRequest): Promise<ApiResponse>
  /**
   * A GET whose body goes on. `timeout` is the time until it begins; any status but 200 is read to its end within it.
   * @throws as `send`
   */
  stream(request: Omit<ApiRequest, 'method' | 'body'>): Promise<ApiStream | ApiResponse>
  /** Takes no further requests; open streams go on. */
  close(): void
}

export interface TransportTarget {
  /** `https://host:port` with the path of the server, without a slash at the end. */
  readonly server: URL
  /** Undefined for a direct connection. */
  readonly proxy: URL | undefined
  readonly credentials: Credentials
  /** Of the server's name. Not asked where there is a proxy: that looks it up. */
  readonly lookup: LookupFunction
  /** Milliseconds to get a connection. */
  readonly connectTimeout: number
  /** Bytes of one decompressed answer, at most. */
  readonly maxBody: number
  /** Milliseconds between liveness checks of a busy HTTP/2 connection, and how long its answer may take. */
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
 * The reason of a missing answer.
 * `unreachable`: no connection (refused, no route, name not found). `broken`: the connection ended in the middle.
 * `timeout`: too slow. `untrusted`: the server's certificate. `rejected`: the server refused our certificate.
 * `too-large`: more than `maxBody`. `not-http`: the peer does not speak HTTP. `link-local`: the server's name has no other address.
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

/** A library's error, translated by its code. It stays inside this folder: `kubernetes-failure.ts` makes a Failure of it. */
export class TransportFault extends Error {
  readonly fault: FaultClass
  /** Error code of Node or OpenSSL, or a short clause. Never text from the peer. */
  readonly detail: string
  /** End of the server certificate's validity, where that is the fault. */
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
// Codes of OpenSSL's certificate verification (X509_V_ERR_*) as Node names them: doc/api/tls.md "X509 certificate error codes".
const UNTRUSTED =
  /^(CERT_|CRL_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|ERROR_IN_CERT|ERROR_IN_CRL|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH|HOSTNAME_MISMATCH|ERR_TLS_CERT|ERR_TLS_HANDSHAKE)/

/** Translates an error of a socket, TLS, HTTP/2 or undici by its code. */
export function faultOf(thrown: unknown): TransportFault {
  if (thrown instanceof TransportFault) return thrown
  const code = codeOf(thrown)
  if (code === ONLY_LINK_LOCAL)
    return new TransportFault(
      'link-local',
      `the name of the server stands for ${WHY_NOT_LINK_LOCAL}`,
    )
  if (UNREACHABLE.has(code)) return new TransportFault('unreachable', code, thrown)
  if (TIMEOUTS.has(code)) return new TransportFault('timeout', code, thrown)
  if (UNTRUSTED.test(code)) return new TransportFault('untrusted', code, thrown)
  if (/ALERT.*CERTIFICATE/.test(code)) return new TransportFault('rejected', code, thrown)
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO')
    return new TransportFault('untrusted', code, thrown)
  if (code.startsWith('HPE_')) return new TransportFault('not-http', code, thrown)
  return new TransportFault('broken', code === '' ? 'the connection ended' : code, thrown)
}

function codeOf(thrown: unknown): string {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0])
    if ('code' in error && typeof error.code === 'string') return error.code
  }
  return ''
}

/**
 * Runs `work` under a deadline and the caller's signal.
 * @throws TransportFault `timeout` when the deadline passed, the signal's reason when it aborted, a fault for anything else
 */
export async function underDeadline<T>(
  timeout: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  // AbortSignal.timeout does not do: its timer does not keep the process alive, and a silent peer would then end it without a word.
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
    throw faultOf(thrown)
  } finally {
    limit.stop()
    signal.removeEventListener('abort', forward)
  }
}

/** @param encoding value of `content-encoding` @throws TransportFault `too-large`, or `broken` for an encoding that was not requested */
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
