import { mkdtemp, rm } from 'node:fs/promises'
import { createServer as createPlainServer, type Server, type ServerResponse } from 'node:http'
import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerResponse,
  type Http2Session,
} from 'node:http2'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import {
  type Credential,
  createTestAuthority,
  servingCredential,
} from '../controlplane/test-authority.ts'

/** A request as the server got it. */
export interface ScriptedRequest {
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
  /** `2.0` or `1.1`. */
  readonly httpVersion: string
}

export interface ScriptedAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** An object is sent as JSON. */
  readonly body?: unknown
  readonly gzip?: boolean
  /** `reset`: the stream ends after half of the body; `disconnect`: the connection does. `silent`: no answer at all. */
  readonly fault?: 'reset' | 'disconnect' | 'silent'
  /** Milliseconds before the answer. */
  readonly delay?: number
  /** Gets the body to write part by part, in place of `body`. */
  readonly write?: (body: ScriptedBody) => void
}

export interface ScriptedBody {
  send(text: string | Buffer): void
  /** Ends it in order. */
  end(): void
  /** Ends it after what was sent, as a stream or connection that breaks. */
  reset(): void
  /** Called when the client ended it. */
  readonly closed: Promise<void>
}

export interface ScriptedServer {
  readonly url: string
  /** The authority that signed the server's certificate: PEM. */
  readonly authority: string
  readonly requests: readonly ScriptedRequest[]
  /** Connections that were accepted so far. */
  readonly connections: number
  /** Asks clients to use another HTTP/2 connection; what is open goes on. */
  goaway(): void
  close(): Promise<void>
}

export interface ScriptedOptions {
  /** `h2` offers both protocols; `http/1.1` only that, over TLS; `plain` is HTTP/1.1 without TLS. */
  readonly protocol?: 'h2' | 'http/1.1' | 'plain'
  readonly maxConcurrentStreams?: number
  /** Instead of one that is signed by the test's own authority. */
  readonly credential?: Credential
}

/** An HTTP server on loopback that answers what `answer` says: for faults that a real API server does not make on demand. */
export async function scriptedServer(
  answer: (request: ScriptedRequest) => ScriptedAnswer | Promise<ScriptedAnswer>,
  options: ScriptedOptions = {},
): Promise<ScriptedServer> {
  const directory = await mkdtemp(join(tmpdir(), 'scripted-server-'))
  const authority = await createTestAuthority(directory).finally(() =>
    rm(directory, { recursive: true }),
  )
  const credential = options.credential ?? servingCredential(authority)
  const requests: ScriptedRequest[] = []
  const sockets = new Set<Socket>()
  const sessions = new Set<Http2Session>()
  const server = listenerFor(options, credential)
  const disconnect = (): void => {
    for (const session of sessions) session.destroy()
    for (const socket of sockets) socket.destroy()
  }
  server.on('request', async (incoming, outgoing) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const { method = '', url: path = '', headers, httpVersion } = incoming
    const request = {
      method,
      path,
      headers,
      httpVersion,
      body: Buffer.concat(chunks).toString('utf8'),
    }
    requests.push(request)
    const {
      status = 200,
      headers: own = {},
      body = '',
      gzip = false,
      fault,
      delay = 0,
      write,
    } = await answer(request)
    if (fault === 'silent') return
    if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay))
    if (write !== undefined) {
      outgoing.writeHead(status, { 'content-type': 'application/json', ...own })
      if ('flushHeaders' in outgoing) outgoing.flushHeaders()
      write(scriptedBody(outgoing))
      return
    }
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const bytes = gzip ? gzipSync(text) : Buffer.from(text)
    const type = typeof body === 'string' ? 'text/plain' : 'application/json'
    outgoing.writeHead(status, {
      'content-type': type,
      ...(gzip ? { 'content-encoding': 'gzip' } : {}),
      'content-length': bytes.length,
      ...own,
    })
    if (fault === undefined) outgoing.end(bytes)
    else
      outgoing.write(bytes.subarray(0, bytes.length / 2), () =>
        setTimeout(() => (fault === 'reset' ? incoming.socket.destroy() : disconnect()), 20),
      )
  })
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  server.on('session', (session: Http2Session) => sessions.add(session))
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `${options.protocol === 'plain' ? 'http' : 'https'}://127.0.0.1:${port}`,
    authority: authority.certificate,
    requests,
    get connections() {
      return sockets.size
    },
    goaway() {
      for (const session of sessions) session.goaway()
    },
    async close() {
      disconnect()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function scriptedBody(outgoing: ServerResponse | Http2ServerResponse): ScriptedBody {
  const reset = (): void => {
    if ('stream' in outgoing) outgoing.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    else outgoing.socket?.destroy()
  }
  // The next turn of the loop has written what was sent.
  return {
    send: (text) => void ('stream' in outgoing ? outgoing.write(text) : outgoing.write(text)),
    end: () => void outgoing.end(),
    reset: () => void setTimeout(reset, 5),
    closed: new Promise((resolve) => outgoing.once('close', resolve)),
  }
}

function listenerFor(
  { protocol = 'h2', maxConcurrentStreams }: ScriptedOptions,
  { certificate: cert, key }: Credential,
): Server | Http2SecureServer {
  if (protocol === 'plain') return createPlainServer()
  if (protocol === 'http/1.1') return createTlsServer({ cert, key })
  const settings = maxConcurrentStreams === undefined ? {} : { settings: { maxConcurrentStreams } }
  return createSecureServer({ cert, key, allowHTTP1: true, ...settings })
}

export interface Relay {
  readonly url: string
  /** From now on nothing goes through, and nobody is told: what a frozen machine looks like from outside. */
  freeze(): void
  close(): void
}

/** A TCP relay in front of a server. */
export async function relayTo(server: Pick<ScriptedServer, 'url'>): Promise<Relay> {
  const sockets = new Set<Socket>()
  const target = new URL(server.url)
  const listener = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    client.pipe(upstream).pipe(client)
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  return {
    url: `${target.protocol}//127.0.0.1:${(listener.address() as AddressInfo).port}`,
    freeze() {
      for (const socket of sockets) socket.unpipe().pause()
    },
    close() {
      for (const socket of sockets) socket.destroy()
      listener.close()
    },
  }
}
