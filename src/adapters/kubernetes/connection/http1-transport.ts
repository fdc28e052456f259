/** HTTP/1.1 through undici: for servers and load balancers without HTTP/2, for proxies, and for plain HTTP on loopback. */
import { Agent, type Dispatcher, ProxyAgent } from 'undici'
import { tlsOptions } from './credentials.ts'
import { readBody, type Transport, type TransportTarget, underDeadline } from './transport.ts'

// Our own bound on parallel requests needs no more, and more cost the server handshakes.
const MOST_CONNECTIONS = 8

export function http1Transport(target: TransportTarget): Transport {
  const { server, maxBody } = target
  const dispatcher = dispatcherFor(target)
  let usable = true
  return {
    protocol: 'http/1.1',
    get usable() {
      return usable
    },
    close: () => {
      usable = false
      dispatcher.close().catch(() => {})
    },
    send: (request) =>
      underDeadline(request.timeout, request.signal, async (signal) => {
        // undici's `request` follows no redirect without an interceptor.
        const answer = await dispatcher.request({
          origin: server.origin,
          path: `${server.pathname.replace(/\/$/, '')}${request.path}`,
          method: request.method,
          headers: Object.fromEntries(
            Object.entries(request.headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
          ),
          ...(request.body === undefined ? {} : { body: request.body }),
          signal,
          headersTimeout: 0,
          bodyTimeout: 0,
        })
        const headers = new Map<string, string>()
        for (const [name, value] of Object.entries(answer.headers)) {
          const first = Array.isArray(value) ? value[0] : value
          if (first !== undefined) headers.set(name, first)
        }
        const body = await readBody(answer.body, headers.get('content-encoding'), maxBody)
        return { status: answer.statusCode, headers, body }
      }),
  }
}

function dispatcherFor(target: TransportTarget): Dispatcher {
  const tls = tlsOptions(target.server, target.credentials)
  const common = { connections: MOST_CONNECTIONS, allowH2: false, connectTimeout: target.connectTimeout }
  if (target.proxy === undefined) return new Agent({ ...common, connect: { ...tls, timeout: target.connectTimeout } })
  // A tunnel also for plain HTTP: the proxy cannot read the request then.
  return new ProxyAgent({ ...common, uri: target.proxy.href, requestTls: tls, proxyTunnel: true })
}
