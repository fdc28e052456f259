/**
 * A server on 127.0.0.1 in front of the real Gitea: passes everything on, writes down what came, and does harm where a test
 * says so. What Gitea does behind it is real.
 */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  request as sendRequest,
} from 'node:http'

export interface ProxiedRequest {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly body: Buffer
}

/** What is done instead of passing on. */
export type Fault =
  /** Gitea never hears of it. */
  | {
      readonly kind: 'answer'
      readonly status: number
      readonly body?: string | Buffer
      readonly headers?: Readonly<Record<string, string>>
    }
  /** Gitea never hears of it, and the connection is cut. */
  | { readonly kind: 'cut' }
  /** Gitea does it, and the connection is cut instead of its answer; before that `done` is called. */
  | { readonly kind: 'lost'; readonly done?: () => void }
  /** Gitea does it, and its answer is changed. */
  | { readonly kind: 'changed'; readonly change: (body: unknown) => unknown }
  /** Gitea does it, and half of its answer is given. */
  | { readonly kind: 'half' }
  /** Gitea never hears of it, and nobody ever answers. */
  | { readonly kind: 'silent' }
  /** Gitea is asked for another path. */
  | { readonly kind: 'elsewhere'; readonly path: string }

export interface FaultyProxy {
  readonly url: string
  /** All so far, oldest first. */
  readonly requests: readonly ProxiedRequest[]
  /** Asked for each request, before it is passed on; undefined passes it on. */
  fault: (request: ProxiedRequest) => Fault | undefined | Promise<Fault | undefined>
  stop(): Promise<void>
}

/** Whether a request to the API is meant to change something. */
export function isApiWrite({ method, path }: ProxiedRequest): boolean {
  return method !== 'GET' && method !== 'HEAD' && path.startsWith('/api/')
}

/** Whether it is the push of git over HTTP, and not what asks whether one may. */
export function isPush({ method, path }: ProxiedRequest): boolean {
  return method === 'POST' && path.endsWith('/git-receive-pack')
}

/** It does not keep this process alive. @param giteaUrl `http://127.0.0.1:<port>` */
export async function startFaultyProxy(giteaUrl: string): Promise<FaultyProxy> {
  const gitea = new URL(giteaUrl)
  const requests: ProxiedRequest[] = []
  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => incoming.socket.destroy())
  })

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const request = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      body: await bytesOf(incoming),
    }
    requests.push(request)
    const fault = await proxy.fault(request)
    if (fault?.kind === 'cut') return void incoming.socket.destroy()
    if (fault?.kind === 'answer') {
      outgoing
        .writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers })
        .end(fault.body ?? '')
      return
    }
    if (fault?.kind === 'silent') return
    const answer = await passOn(
      gitea,
      fault?.kind === 'elsewhere' ? { ...request, path: fault.path } : request,
      incoming.headers,
    )
    if (fault?.kind === 'lost') {
      fault.done?.()
      return void incoming.socket.destroy()
    }
    const body =
      fault?.kind === 'changed'
        ? Buffer.from(JSON.stringify(fault.change(JSON.parse(answer.body.toString()))))
        : answer.body
    const {
      'transfer-encoding': _chunked,
      'content-length': _length,
      connection: _connection,
      ...headers
    } = answer.headers
    outgoing.writeHead(answer.status, { ...headers, 'content-length': String(body.length) })
    if (fault?.kind !== 'half') outgoing.end(body)
    else
      outgoing.write(body.subarray(0, Math.floor(body.length / 2)), () => incoming.socket.destroy())
  }

  await new Promise<void>((resolve, reject) =>
    server.once('error', reject).listen(0, '127.0.0.1', resolve),
  )
  server.unref()
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('a TCP server has no port')
  const proxy: FaultyProxy = {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    fault: () => undefined,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return proxy
}

function passOn(
  { hostname, port }: URL,
  { method, path, body }: ProxiedRequest,
  headers: IncomingHttpHeaders,
): Promise<{
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}> {
  const { connection: _connection, 'transfer-encoding': _chunked, ...retained } = headers
  return new Promise((resolve, reject) => {
    // A connection of its own: Gitea closes idle ones, and a lost request would be a fault that no test asked for.
    const passed = {
      hostname,
      port,
      method,
      path,
      headers: { ...retained, 'content-length': String(body.length) },
      agent: false,
    } as const
    const outgoing = sendRequest(passed, (answer) => {
      bytesOf(answer).then(
        (bytes) =>
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: bytes }),
        reject,
      )
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

async function bytesOf(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks)
}
