/**
 * A proxy on loopback between backporch and a real API server: it sees every request that changes something, and kills the
 * process that sent it right before the request reaches the server, or right after the server has answered.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Agent, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { ControlPlane } from '../controlplane/control-plane.ts'

/** A request that changes the cluster and was sent to the server. */
export interface LiveWrite {
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly fieldManager: string
  readonly userAgent: string
  readonly body: string
  /** Of the server's answer. */
  readonly status: number
}

export interface Kill {
  /** Which write, from 1. */
  readonly at: number
  readonly when: 'before' | 'after'
  readonly pid: () => number
}

export interface KillingProxy {
  /** `http://127.0.0.1:<port>` */
  readonly url: string
  /** In the order in which the server answered. */
  readonly writes: readonly LiveWrite[]
  /** Counting begins anew; undefined kills nobody. */
  arm(kill: Kill | undefined): void
  close(): Promise<void>
}

/**
 * @param onWrite called before a write is sent on; what it throws ends the request, and `onError` gets it
 */
export async function openKillingProxy(
  plane: ControlPlane,
  user: string,
  onWrite: (write: Omit<LiveWrite, 'status'>) => void,
): Promise<KillingProxy> {
  const { certificate, key } = plane.credentialFor(user, ['system:masters'])
  const agent = new Agent({
    keepAlive: true,
    ca: Buffer.from(plane.caData, 'base64'),
    cert: certificate,
    key,
  })
  const writes: LiveWrite[] = []
  let armed: Kill | undefined
  let count = 0

  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const write = liveWriteOf(incoming, body)
    if (write === undefined) return forward(plane, agent, incoming, body, outgoing)
    count += 1
    const kill = armed?.at === count ? armed : undefined
    if (kill?.when === 'before') {
      process.kill(kill.pid(), 'SIGKILL')
      outgoing.destroy()
      return
    }
    onWrite(write)
    await forward(plane, agent, incoming, body, outgoing, (status) => {
      writes.push({ ...write, status })
      if (kill === undefined) return true
      process.kill(kill.pid(), 'SIGKILL')
      return false
    })
  }
  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => outgoing.destroy())
  })
  const port = await listen(server)
  return {
    url: `http://127.0.0.1:${port}`,
    writes,
    arm: (kill) => {
      armed = kill
      count = 0
    },
    close: async () => {
      agent.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const CHANGING = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** Neither a dry run, nor a question about rights, which is a POST. */
function liveWriteOf(
  { method = '', url = '', headers }: IncomingMessage,
  body: Buffer,
): Omit<LiveWrite, 'status'> | undefined {
  const { pathname, searchParams } = new URL(url, 'http://server')
  if (!CHANGING.has(method) || pathname.startsWith('/apis/authorization.k8s.io/')) return undefined
  const text = body.toString('utf8')
  if (searchParams.get('dryRun') === 'All') return undefined
  const fieldManager = searchParams.get('fieldManager') ?? ''
  return {
    method,
    path: pathname,
    fieldManager,
    userAgent: headers['user-agent'] ?? '',
    body: text,
  }
}

/** @param answered called with the status when the whole answer is here; false keeps it from the client */
function forward(
  plane: ControlPlane,
  agent: Agent,
  incoming: IncomingMessage,
  body: Buffer,
  outgoing: ServerResponse,
  answered: (status: number) => boolean = () => true,
): Promise<void> {
  const { host: _host, connection: _connection, ...headers } = incoming.headers
  return new Promise((resolve, reject) => {
    const sent = request(
      new URL(incoming.url ?? '/', plane.url),
      { method: incoming.method, agent, headers },
      async (answer) => {
        const chunks: Buffer[] = []
        for await (const chunk of answer) chunks.push(chunk)
        const status = answer.statusCode ?? 500
        if (!answered(status)) outgoing.destroy()
        else {
          const { 'transfer-encoding': _encoding, connection: _kept, ...own } = answer.headers
          outgoing.writeHead(status, own)
          outgoing.end(Buffer.concat(chunks))
        }
        resolve()
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) =>
    server.once('error', reject).listen(0, '127.0.0.1', resolve),
  )
  return (server.address() as AddressInfo).port
}
