import { connect as connectTcp, isIP } from 'node:net'
import { connect as connectTls, type PeerCertificate, type TLSSocket } from 'node:tls'
import { Deadline } from '@backporch/system/deadline'
import { buildTlsOptions } from './credentials.ts'
import { createHttp1Transport } from './http1-transport.ts'
import { createHttp2Transport } from './http2-transport.ts'
import { getSecureContext } from './secure-contexts.ts'
import {
  convertToTransportFault,
  type Transport,
  TransportFault,
  type TransportTarget,
} from './transport.ts'

/**
 * From a list or a Buffer, Node slices its pool, and every connection would keep 64 KiB for twelve
 * bytes.
 */
const PROTOCOLS = new DataView(
  Uint8Array.from(['h2', 'http/1.1'].flatMap((name) => [name.length, ...Buffer.from(name)])).buffer,
)

/** @throws TransportFault; the reason of `signal` when that aborted */
export async function openTransport(
  target: TransportTarget,
  signal: AbortSignal,
): Promise<Transport> {
  signal.throwIfAborted()
  if (target.proxy !== undefined || target.server.protocol === 'http:')
    return createHttp1Transport(target)
  await turnToOpen()
  signal.throwIfAborted()
  const socket = await openTlsSocket(target, signal)
  if (socket.alpnProtocol === 'h2') return createHttp2Transport(socket, target)
  // undici opens its own connections.
  socket.destroy()
  return createHttp1Transport(target)
}

/** Many handshakes at once, as after an outage, would block the process. */
const AT_ONCE = 8
const waiting: (() => void)[] = []

function turnToOpen(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(openSome)
  })
}

function openSome(): void {
  for (const begin of waiting.splice(0, AT_ONCE)) begin()
  if (waiting.length > 0) setImmediate(openSome)
}

async function openTlsSocket(target: TransportTarget, signal: AbortSignal): Promise<TLSSocket> {
  try {
    return await performHandshake(target, signal)
  } catch (thrown) {
    if (signal.aborted) throw signal.reason
    const fault = convertToTransportFault(thrown)
    if (fault.detail === 'CERT_HAS_EXPIRED') fault.notAfter = await findNotAfter(target, signal)
    throw fault
  }
}

function performHandshake(target: TransportTarget, signal: AbortSignal): Promise<TLSSocket> {
  const { server } = target
  return new Promise((resolve, reject) => {
    const { ca, cert, key, minVersion, ...options } = buildTlsOptions(server, target.credentials)
    const socket = connectTls({
      ...options,
      secureContext: getSecureContext({
        minVersion,
        ...(ca && { ca }),
        ...(cert && { cert }),
        ...(key && { key }),
      }),
      host: getHost(server),
      port: getPort(server),
      lookup: target.lookup,
      ALPNProtocols: PROTOCOLS,
    })
    socket.setKeepAlive(true, 30_000)
    socket.setNoDelay(true)
    const end = (error: unknown): void => {
      done()
      socket.destroy()
      socket.on('error', () => {})
      reject(error)
    }
    const limit = new Deadline(target.connectTimeout, () =>
      end(new TransportFault('timeout', `no connection within ${target.connectTimeout / 1000} s`)),
    )
    const abort = (): void => end(signal.reason)
    const done = (): void => {
      limit.stop()
      signal.removeEventListener('abort', abort)
      socket.off('error', end)
    }
    signal.addEventListener('abort', abort, { once: true })
    socket.once('error', end)
    socket.once('secureConnect', () => {
      done()
      resolve(socket)
    })
  })
}

/** From a second handshake that trusts anything, presents and sends nothing. */
function findNotAfter(target: TransportTarget, signal: AbortSignal): Promise<string | undefined> {
  const { server, connectTimeout, lookup } = target
  return new Promise((resolve) => {
    const name = target.credentials.serverName ?? getHost(server)
    const raw = connectTcp({ host: getHost(server), port: getPort(server), lookup, signal })
    const socket = connectTls({
      socket: raw,
      rejectUnauthorized: false,
      ...(isIP(name) === 0 ? { servername: name } : {}),
    })
    const end = (certificate?: PeerCertificate): void => {
      limit.stop()
      socket.destroy()
      raw.destroy()
      resolve(certificate?.valid_to)
    }
    const limit = new Deadline(connectTimeout, () => end())
    raw.on('error', () => end())
    socket.on('error', () => end())
    socket.once('secureConnect', () => end(socket.getPeerCertificate()))
  })
}

function getHost(server: URL): string {
  return server.hostname.replace(/^\[|\]$/g, '')
}

function getPort(server: URL): number {
  return server.port === '' ? 443 : Number(server.port)
}
