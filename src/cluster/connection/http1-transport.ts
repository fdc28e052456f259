/** HTTP/1.1 through undici: for servers and load balancers without HTTP/2, for proxies, and for plain HTTP on loopback. */
import { Agent, type Dispatcher, ProxyAgent } from 'undici'
import { bodyStream } from './body-stream.ts'
import { tlsOptions } from './credentials.ts'
import {
  type ApiRequest,
  readBody,
  type Transport,
  TransportFault,
  type TransportTarget,
  underDeadline,
} from './transport.ts'

// Our own bound on parallel requests needs no more, and more cost the server handshakes.
const MOST_CONNECTIONS = 8

export function http1Transport(target: TransportTarget): Transport {
  const { maxBody } = target
  const dispatcher = dispatcherFor(target, MOST_CONNECTIONS)
  // Each open stream has a connection of its own, so that none waits for a stream to end.
  let streams: Dispatcher | undefined
  let usable = true
  const exchange = async <T>(
    { timeout, signal }: Pick<ApiRequest, 'timeout' | 'signal'>,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    try {
      return await underDeadline(timeout, signal, work)
    } catch (thrown) {
      // Connections are made with the certificates as they were read: those of the next transport are read anew.
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
        return wholeAnswer(answer, maxBody)
      }),
    stream: (request) =>
      exchange(request, async (signal) => {
        streams ??= dispatcherFor(target)
        const answer = await requestOver(streams, target, { ...request, method: 'GET' }, signal)
        if (answer.statusCode !== 200) return wholeAnswer(answer, maxBody)
        const { body } = answer
        return bodyStream(body, {
          headers: plainHeaders(answer),
          provenAt: () => undefined,
          faultAtEnd: () => undefined,
          close: () => body.destroy(),
        })
      }),
  }
}

/** undici's `request` follows no redirect without an interceptor. */
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

async function wholeAnswer(answer: Dispatcher.ResponseData, maxBody: number) {
  const headers = plainHeaders(answer)
  const body = await readBody(answer.body, headers.get('content-encoding'), maxBody)
  return { status: answer.statusCode, headers, body }
}

function plainHeaders(answer: Dispatcher.ResponseData): ReadonlyMap<string, string> {
  const headers = new Map<string, string>()
  for (const [name, value] of Object.entries(answer.headers)) {
    const first = Array.isArray(value) ? value[0] : value
    if (first !== undefined) headers.set(name, first)
  }
  return headers
}

function dispatcherFor(target: TransportTarget, connections?: number): Dispatcher {
  const tls = tlsOptions(target.server, target.credentials)
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
  // A tunnel also for plain HTTP: the proxy cannot read the request then. It gets the server's name: what that stands for is its matter.
  return new ProxyAgent({ ...common, uri: target.proxy.href, requestTls: tls, proxyTunnel: true })
}
