/** By the rules of Go's `golang.org/x/net/http/httpproxy`, like kubectl. */
import { BlockList, isIP } from 'node:net'

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * The kubeconfig's proxy, else `HTTPS_PROXY` (`HTTP_PROXY` for plain HTTP) unless `NO_PROXY` names
 * the host or it is loopback.
 * @param configured `proxy-url` of the kubeconfig's cluster
 * @returns undefined for a direct connection, or the problem
 */
export function chooseProxy(
  server: URL,
  configured: string | undefined,
  environment: Environment,
): URL | undefined | { readonly problem: string } {
  if (configured !== undefined) return parseProxyUrl(configured, 'proxy-url')
  const name = server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const value = (environment[name] ?? environment[name.toLowerCase()]) || undefined
  if (value === undefined) return undefined
  const host = server.hostname.replace(/^\[|\]$/g, '')
  if (
    isLoopback(host) ||
    isExempt(host, getPort(server), environment['NO_PROXY'] ?? environment['no_proxy'] ?? '')
  )
    return undefined
  return parseProxyUrl(value, name)
}

function parseProxyUrl(text: string, source: string): URL | { readonly problem: string } {
  // The text may contain a password.
  const url = URL.parse(text.includes('://') ? text : `http://${text}`)
  if (url === null) return { problem: `${source} is not a URL` }
  return /^(https?|socks5):$/.test(url.protocol)
    ? url
    : { problem: `${source} has the scheme ${url.protocol}, wanted http, https or socks5` }
}

function getPort(server: URL): string {
  if (server.port !== '') return server.port
  return server.protocol === 'https:' ? '443' : '80'
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

function isExempt(host: string, port: string, list: string): boolean {
  return list
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .some((entry) => entry !== '' && matches(entry, host.toLowerCase(), port))
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true
  const range = /^(.+)\/(\d+)$/.exec(entry)
  if (range?.[1] !== undefined && range[2] !== undefined)
    return isInRange(host, range[1], Number(range[2]))
  const withPort = /^(\[.+\]|[^:]+):(\d+)$/.exec(entry)
  if (withPort !== null && withPort[2] !== port) return false
  const name = (withPort?.[1] ?? entry).replace(/^\[|\]$/g, '')
  if (name.startsWith('*.') || name.startsWith('.')) return host.endsWith(name.replace(/^\*/, ''))
  return host === name || (isIP(name) === 0 && host.endsWith(`.${name}`))
}

function isInRange(host: string, network: string, prefix: number): boolean {
  const family = isIP(network)
  if (family === 0 || family !== isIP(host) || prefix > (family === 4 ? 32 : 128)) return false
  const list = new BlockList()
  list.addSubnet(network, prefix, family === 4 ? 'ipv4' : 'ipv6')
  return list.check(host, family === 4 ? 'ipv4' : 'ipv6')
}
