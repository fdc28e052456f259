/** The location of a repository on a forge, from its remote. */
import { Failure } from '@backporch/kyaml/failure'

export interface ForgeAddress {
  /** With its port. */
  readonly host: string
  /** `https://git.example.com` or `https://example.com/git`; without `/` at its end. */
  readonly webUrl: string
  readonly owner: string
  readonly repository: string
}

const SCP_LIKE = /^(?:[^@/:]+@)?([a-z0-9.-]+):(?!\/\/)(.+)$/i
/** Names as forges allow them (Gitea's modules/structs, `AlphaDashDot`). None changes a path. */
const NAME = /^[\w.-]+$/

/**
 * The address that an https, ssh or scp-like remote names; undefined where it does not end in `OWNER/REPOSITORY`. Credentials in it are
 * dropped. The forge may stand below a path of its host. It is not checked that one answers there.
 */
export function parseForgeAddress(remote: string): ForgeAddress | undefined {
  const location = locationOf(remote)
  if (location === undefined) return undefined
  const parts = location.path
    .replace(/^\/+|\/+$/g, '')
    .replace(/\.git$/, '')
    .split('/')
  const [owner, repository] = parts.slice(-2)
  if (owner === undefined || repository === undefined) return undefined
  if (!parts.every((name) => NAME.test(name) && !/^\.+$/.test(name))) return undefined
  // The path of an ssh address says nothing about that of the pages.
  if (!location.web && parts.length > 2) return undefined
  const below = parts.slice(0, -2).map((part) => `/${part}`)
  return {
    host: location.host,
    webUrl: `${location.scheme}//${location.host}${below.join('')}`,
    owner,
    repository,
  }
}

/** The address where the remote names the pages too; undefined for a path and for ssh. */
export function parsePageAddress(remote: string): ForgeAddress | undefined {
  return locationOf(remote)?.web === true ? parseForgeAddress(remote) : undefined
}

/** Host (with its port) of an address for git; undefined for a path on this machine. */
export function hostOf(remote: string): string | undefined {
  return locationOf(remote)?.host
}

export function noAddress(remote: string): Failure {
  return new Failure({
    code: 'BP1001',
    what: 'the repository is on no such forge',
    where: hostOf(remote) ?? 'the repository',
    why: 'its address is not HOST/OWNER/REPOSITORY',
    remedy: 'give the address of the repository with --repo, or --forge local',
  })
}

/** Encodes each segment by itself, and brackets, which would end a Markdown link. */
export function encodePath(path: string): string {
  return path
    .split('/')
    .map((segment) =>
      encodeURIComponent(segment).replace(
        /[!'()*]/g,
        (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
      ),
    )
    .join('/')
}

function locationOf(
  remote: string,
): { scheme: string; host: string; path: string; web: boolean } | undefined {
  const url = URL.parse(remote)
  if (url !== null && (url.protocol === 'https:' || url.protocol === 'http:')) {
    return { scheme: url.protocol, host: url.host, path: url.pathname, web: true }
  }
  // The port of ssh says nothing about that of the pages.
  if (url !== null && url.protocol === 'ssh:')
    return { scheme: 'https:', host: url.hostname, path: url.pathname, web: false }
  if (remote.includes('://')) return undefined
  const [, host, path] = SCP_LIKE.exec(remote) ?? []
  return host === undefined || path === undefined
    ? undefined
    : { scheme: 'https:', host: host.toLowerCase(), path, web: false }
}
