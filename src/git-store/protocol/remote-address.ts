import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createUnsupportedFailure } from '../program/git-failure.ts'

export interface Credential {
  readonly username: string
  readonly password: string
}

/** `printed` never holds a credential. */
export type RemoteAddress =
  | {
      readonly kind: 'http'
      readonly printed: string /** Without userinfo, query, fragment and trailing `/`. */
      readonly url: string
      readonly credential: Credential | undefined
    }
  | {
      readonly kind: 'local'
      readonly printed: string
      readonly path: string
      /** Like git, `file://…` is read as a remote (git-clone(1), `--local`). */
      readonly inPlace: boolean
    }
  | {
      readonly kind: 'ssh'
      readonly printed: string
      /** Never begins with `-`. */
      readonly destination: string
      readonly port: number | undefined
      readonly path: string
    }

const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i
const REMOTE_HELPER = /^[a-z0-9+.-]+::/i
const SCP_LIKE = /^(\[[0-9a-f:.%a-z]+\]|[^/:[\]]+):(.*)$/is
const LOOPBACK = /^(localhost|127(?:\.\d{1,3}){3}|\[::1\])$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: none of these belongs into an address
const CONTROL = /[\x00-\x1f\x7f]/
const SUPPORTED = 'use https://…, ssh://…, user@host:path, file://… or a path'

/**
 * @throws Failure BP4010 for another scheme (`ext::…`, `git://…`, `http://` to another machine), or
 * for a host, user or path that a program could take for an option
 */
export function parseRemoteAddress(text: string, workingDirectory: string): RemoteAddress {
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase()
  if (text === '' || CONTROL.test(text))
    throw createUnsupportedFailure(
      '(not shown)',
      'the address is empty or has control characters in it',
      SUPPORTED,
    )
  if (text.startsWith('-'))
    throw createUnsupportedFailure(
      '(not shown)',
      'the address begins with "-", which programs take for an option',
      SUPPORTED,
    )
  if (scheme === undefined) return parseWithoutScheme(text, workingDirectory)
  if (scheme === 'file') return parseFileUrl(text)
  const url = parseUrl(text)
  if (scheme === 'https' || scheme === 'http') return parseHttp(url)
  if (scheme === 'ssh') return parseSshUrl(url)
  throw createUnsupportedFailure(
    `${scheme}://${url.host}`,
    `addresses with ${scheme}:// are not used`,
    SUPPORTED,
  )
}

function parseWithoutScheme(text: string, workingDirectory: string): RemoteAddress {
  if (REMOTE_HELPER.test(text)) {
    throw createUnsupportedFailure(
      `${text.slice(0, text.indexOf('::'))}::…`,
      'the address would run a remote helper program',
      SUPPORTED,
    )
  }
  const match = SCP_LIKE.exec(text)
  if (match === null) {
    const path = resolve(workingDirectory, text)
    return { kind: 'local', printed: path, path, inPlace: true }
  }
  const [, destination = '', path = ''] = match
  return createSshAddress(
    destination.replace(/^\[(.*)\]$/s, '$1'),
    undefined,
    path,
    (shown) => `${shown}:${path}`,
  )
}

function parseUrl(text: string): URL {
  try {
    return new URL(text)
  } catch {
    throw createUnsupportedFailure('(not shown)', 'the address is not a URL', SUPPORTED)
  }
}

function parseFileUrl(text: string): RemoteAddress {
  const url = parseUrl(text)
  if (url.host !== '' || url.search !== '' || url.hash !== '') {
    throw createUnsupportedFailure(
      `file://${url.host}`,
      'a file address has a path only',
      'use file:///absolute/path',
    )
  }
  try {
    const path = fileURLToPath(url)
    return { kind: 'local', printed: path, path, inPlace: false }
  } catch {
    throw createUnsupportedFailure(
      'file://',
      'the path of the address cannot be decoded',
      'use file:///absolute/path',
    )
  }
}

function parseHttp(url: URL): RemoteAddress {
  const location = `${url.protocol}//${url.host}`
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname)) {
    throw createUnsupportedFailure(
      location,
      'http without TLS would send the token in clear',
      'use https://',
    )
  }
  const path = url.pathname.replace(/\/+$/, '')
  if (path === '')
    throw createUnsupportedFailure(
      location,
      'the address has no path',
      'name the repository: https://host/owner/name.git',
    )
  const credential =
    url.username === '' && url.password === ''
      ? undefined
      : { username: decode(url.username), password: decode(url.password) }
  return { kind: 'http', printed: location + path, url: location + path, credential }
}

function parseSshUrl(url: URL): RemoteAddress {
  const user = decode(url.username) || undefined
  const host = decode(url.hostname).replace(/^\[(.*)\]$/, '$1')
  const decoded = decode(url.pathname)
  const path = decoded.startsWith('/~') ? decoded.slice(1) : decoded
  const port = url.port === '' ? undefined : Number(url.port)
  const shown = `ssh://${user === undefined ? '' : `${user}@`}${url.host}${decoded}`
  return createSshAddress(user === undefined ? host : `${user}@${host}`, port, path, () => shown)
}

function createSshAddress(
  destination: string,
  port: number | undefined,
  path: string,
  show: (destination: string) => string,
): RemoteAddress {
  const host = destination.slice(destination.lastIndexOf('@') + 1)
  if (host === '' || path === '' || path === '/')
    throw createUnsupportedFailure('ssh', 'the address has no host or no path', SUPPORTED)
  if ([destination, host, path].some((part) => part.startsWith('-') || CONTROL.test(part))) {
    throw createUnsupportedFailure(
      'ssh',
      'the user, host or path begins with "-", which programs take for an option',
      SUPPORTED,
    )
  }
  return { kind: 'ssh', printed: show(destination), destination, port, path }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw createUnsupportedFailure('(not shown)', 'the address has a broken % escape', SUPPORTED)
  }
}
