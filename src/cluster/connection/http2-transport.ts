/** Streams beyond the server's limit (100 since the fix of CVE-2023-44487) wait inside nghttp2. */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2'
import type { TLSSocket } from 'node:tls'
import { Deadline } from '@backporch/system/deadline'
import { createBodyStream } from './body-stream.ts'
import {
  type ApiRequest,
  type ApiResponse,
  type ApiStream,
  convertToTransportFault,
  readBody,
  runUnderDeadline,
  type Transport,
  TransportFault,
  type TransportTarget,
} from './transport.ts'

// With 64 KiB a large LIST is slow on a high-latency connection.
const STREAM_WINDOW = 4 * 1024 * 1024
const SESSION_WINDOW = 32 * 1024 * 1024
// MB; the default of 10 rejects new streams during large answers.
const SESSION_MEMORY = 256
const FOR_REQUESTS = 10
/** Milliseconds. */
const CLOSES_WITHIN = 1_000

/**
 * Resolves after the server's settings.
 * @throws TransportFault
 */
export async function createHttp2Transport(
  socket: TLSSocket,
  target: TransportTarget,
): Promise<Transport> {
  const session = connect(target.server.origin, {
    createConnection: () => socket,
    maxSessionMemory: SESSION_MEMORY,
    settings: { enablePush: false, initialWindowSize: STREAM_WINDOW },
  })
  await new Promise<void>((resolve, reject) => {
    const limit = new Deadline(target.connectTimeout, () =>
      fail(new TransportFault('timeout', 'no HTTP/2 settings')),
    )
    const fail = (error: Error): void => {
      limit.stop()
      session.destroy()
      reject(convertToTransportFault(error))
    }
    session.once('error', fail)
    session.once('close', () =>
      fail(new TransportFault('broken', 'closed before the HTTP/2 settings')),
    )
    session.once('remoteSettings', () => {
      limit.stop()
      session.removeAllListeners('error')
      session.removeAllListeners('close')
      resolve()
    })
  })
  return new Http2Transport(session, socket, target)
}

class Http2Transport implements Transport {
  readonly protocol = 'h2'
  private readonly session: ClientHttp2Session
  private readonly socket: TLSSocket
  private readonly target: TransportTarget
  private active = 0
  private leaving = false
  private closing = false
  private provenAt = performance.now()
  private readonly pulse: NodeJS.Timeout

  constructor(session: ClientHttp2Session, socket: TLSSocket, target: TransportTarget) {
    this.session = session
    this.socket = socket
    this.target = target
    session.setLocalWindowSize(SESSION_WINDOW)
    // Without a listener an error would end the process.
    session.on('error', () => {})
    session.on('goaway', () => {
      this.leaving = true
    })
    session.on('close', () => {
      clearInterval(this.pulse)
      this.leaving = true
    })
    this.pulse = setInterval(() => this.checkAlive(), target.pingEvery)
    this.pulse.unref()
    session.unref()
  }

  get usable(): boolean {
    return !this.leaving && !this.session.closed && !this.session.destroyed
  }

  get hasRoom(): boolean {
    const limit = this.session.remoteSettings?.maxConcurrentStreams ?? 100
    return limit - this.active > Math.min(FOR_REQUESTS, limit / 2)
  }

  close(): void {
    this.leaving = true
    this.closing = true
    this.session.close()
    this.endSocket()
  }

  /** A hung server never closes its side and would keep the process alive. */
  private endSocket(): void {
    if (!this.closing || this.active > 0) return
    setTimeout(() => this.socket.destroy(), CLOSES_WITHIN).unref()
  }

  send(request: ApiRequest): Promise<ApiResponse> {
    return runUnderDeadline(request.timeout, request.signal, async (signal) => {
      const stream = this.open(request, signal)
      return this.readWholeAnswer(stream, await awaitResponseHeaders(stream))
    })
  }

  stream(request: Omit<ApiRequest, 'method' | 'body'>): Promise<ApiStream | ApiResponse> {
    return runUnderDeadline(request.timeout, request.signal, async (signal) => {
      const stream = this.open({ ...request, method: 'GET' }, signal)
      const answer = await awaitResponseHeaders(stream)
      if (Number(answer[':status']) !== 200) return this.readWholeAnswer(stream, answer)
      return createBodyStream(stream, {
        headers: convertHeaders(answer),
        provenAt: () => this.provenAt,
        faultAtEnd: () => findFaultAtEnd(stream),
        close: () => stream.close(constants.NGHTTP2_CANCEL),
      })
    })
  }

  private open(
    request: Omit<ApiRequest, 'timeout' | 'signal'>,
    signal: AbortSignal,
  ): ClientHttp2Stream {
    if (!this.usable) throw new TransportFault('broken', 'the server is closing the connection')
    const { server } = this.target
    const headers = {
      ...Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [
          name,
          typeof value === 'string' ? value : [...value],
        ]),
      ),
      ':method': request.method,
      ':path': `${server.pathname.replace(/\/$/, '')}${request.path}`,
      ':authority': server.host,
      ':scheme': 'https',
    }
    const stream = this.session.request(headers, { endStream: request.body === undefined, signal })
    this.active += 1
    if (this.active === 1) this.session.ref()
    stream.once('close', () => {
      this.active -= 1
      if (this.active === 0 && !this.session.destroyed) this.session.unref()
      this.endSocket()
    })
    if (request.body !== undefined) stream.end(request.body)
    return stream
  }

  private async readWholeAnswer(
    stream: ClientHttp2Stream,
    answer: IncomingHttpHeaders,
  ): Promise<ApiResponse> {
    const encoding = answer['content-encoding']
    const body = await readBody(stream, encoding, this.target.maxBody)
    const fault = findFaultAtEnd(stream)
    if (fault !== undefined) throw fault
    const length = answer['content-length']
    if (
      encoding === undefined &&
      length !== undefined &&
      Number(length) !== Buffer.byteLength(body)
    ) {
      throw new TransportFault('broken', 'the body is shorter than announced')
    }
    return { status: Number(answer[':status'] ?? 0), headers: convertHeaders(answer), body }
  }

  private checkAlive(): void {
    if (this.active === 0 || this.session.destroyed) return
    const sent = performance.now()
    const limit = new Deadline(this.target.pingWithin, () =>
      this.session.destroy(createNoAnswerFault()),
    )
    this.session.ping((error) => {
      limit.stop()
      if (error === null) this.provenAt = sent
    })
  }
}

function createNoAnswerFault(): TransportFault {
  return new TransportFault('timeout', 'no answer to a PING')
}

/** A reset without an error code looks like a complete stream. */
function findFaultAtEnd(stream: ClientHttp2Stream): TransportFault | undefined {
  const reset = stream.rstCode !== undefined && stream.rstCode !== constants.NGHTTP2_NO_ERROR
  return stream.aborted || reset ? new TransportFault('broken', 'the stream was reset') : undefined
}

function awaitResponseHeaders(stream: ClientHttp2Stream): Promise<IncomingHttpHeaders> {
  return new Promise((resolve, reject) => {
    stream.once('response', (headers) => resolve(headers))
    // An error without a listener ends the process, also after the response.
    stream.on('error', (error) => reject(error))
    stream.once('close', () => reject(new TransportFault('broken', 'closed without an answer')))
  })
}

function convertHeaders(headers: IncomingHttpHeaders): ReadonlyMap<string, string> {
  const plain = new Map<string, string>()
  for (const [name, value] of Object.entries(headers)) {
    const first = Array.isArray(value) ? value[0] : value
    if (!name.startsWith(':') && first !== undefined) plain.set(name, String(first))
  }
  return plain
}
