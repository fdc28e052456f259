/** For servers and load balancers without HTTP/2, for proxies, and for plain HTTP on loopback. */
import { Agent, type Dispatcher, ProxyAgent } from 'undici'
import { createBodyStream } from './body-stream.ts'
import { buildTlsOptions } from './credentials.ts'
import {
  type ApiRequest,
  readBody,
  runUnderDeadline,
  type Transport,
  TransportFault,
  type TransportTarget,
} from './transport.ts'

// Backporch's limit on parallel requests needs no more; more cost the server handshakes.
const MOST_CONNECTIONS = 8

export function createHttp1Transport(target: TransportTarget): Transport {
  const { maxBody } = target
  const dispatcher = createDispatcher(target, MOST_CONNECTIONS)
  let streams: Dispatcher | undefined
  let usable = true
  const exchange = async <T>(
    { timeout, signal }: Pick<ApiRequest, 'timeout' | 'signal'>,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    try {
      return await runUnderDeadline(timeout, signal, work)
    } catch (thrown) {
      // Connections keep the certificates that were read first.
      if (
        thrown instanceof TransportFault &&
        (thrown.fault === 'untrusted' || thrown.fault === 'rejected')
      )
        usable = false
      throw thrown
    }
  }
  return {
    protocol: 'http/1.1',
    get usable() {
      return usable
    },
    hasRoom: true,
    close: () => {
      usable = false
      for (const one of [dispatcher, streams]) one?.close().catch(() => {})
    },
    send: (request) =>
      exchange(request, async (signal) => {
        const answer = await requestOver(dispatcher, target, request, signal)
        return readWholeAnswer(answer, maxBody)
      }),
    stream: (request) =>
      exchange(request, async (signal) => {
        streams ??= createDispatcher(target)
        const answer = await requestOver(streams, target, { ...request, method: 'GET' }, signal)
        if (answer.statusCode !== 200) return readWholeAnswer(answer, maxBody)
        const { body } = answer
        return createBodyStream(body, {
          headers: convertHeaders(answer),
          provenAt: () => undefined,
          faultAtEnd: () => undefined,
          close: () => body.destroy(),
        })
      }),
  }
}

/** undici follows no redirect without an interceptor. */
function requestOver(
  dispatcher: Dispatcher,
  { server }: TransportTarget,
  request: Omit<ApiRequest, 'timeout' | 'signal'>,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  return dispatcher.request({
    origin: server.origin,
    path: `${server.pathname.replace(/\/$/, '')}${request.path}`,
    method: request.method,
    headers: Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : [...value],
      ]),
    ),
    ...(request.body === undefined ? {} : { body: request.body }),
    signal,
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

async function readWholeAnswer(answer: Dispatcher.ResponseData, maxBody: number) {
  const headers = convertHeaders(answer)
  const body = await readBody(answer.body, headers.get('content-encoding'), maxBody)
  return { status: answer.statusCode, headers, body }
}

function convertHeaders(answer: Dispatcher.ResponseData): ReadonlyMap<string, string> {
  const headers = new Map<string, string>()
  for (const [name, value] of Object.entries(answer.headers)) {
    const first = Array.isArray(value) ? value[0] : value
    if (first !== undefined) headers.set(name, first)
  }
  return headers
}

function createDispatcher(target: TransportTarget, connections?: number): Dispatcher {
  const tls = buildTlsOptions(target.server, target.credentials)
  const common = {
    ...(connections === undefined ? {} : { connections }),
    allowH2: false,
    connectTimeout: target.connectTimeout,
  }
  if (target.proxy === undefined)
    return new Agent({
      ...common,
      connect: { ...tls, timeout: target.connectTimeout, lookup: target.lookup },
    })
  // A tunnel also for plain HTTP, so that the proxy cannot read the request. The proxy resolves the
  // server's name.
  return new ProxyAgent({ ...common, uri: target.proxy.href, requestTls: tls, proxyTunnel: true })
}
