import { Failure } from '@backporch/kyaml/failure'

export interface ForgeAddress {
  readonly host: string
  readonly webUrl: string
  readonly owner: string
  readonly repository: string
}

const SCP_LIKE = /^(?:[^@/:]+@)?([a-z0-9.-]+):(?!\/\/)(.+)$/i
/** Gitea's modules/structs, `AlphaDashDot`. None changes a path. */
const NAME = /^[\w.-]+$/

/**
 * Undefined if the remote does not end in `OWNER/REPOSITORY`. Drops credentials. The forge may be
 * below a path of its host. Does not check that one answers there.
 */
export function parseForgeAddress(remote: string): ForgeAddress | undefined {
  const location = parseLocation(remote)
  if (location === undefined) return undefined
  const parts = location.path
    .replace(/^\/+|\/+$/g, '')
    .replace(/\.git$/, '')
    .split('/')
  const [owner, repository] = parts.slice(-2)
  if (owner === undefined || repository === undefined) return undefined
  if (!parts.every((name) => NAME.test(name) && !/^\.+$/.test(name))) return undefined
  // The path of an ssh address does not determine that of the pages.
  if (!location.web && parts.length > 2) return undefined
  const below = parts.slice(0, -2).map((part) => `/${part}`)
  return {
    host: location.host,
    webUrl: `${location.scheme}//${location.host}${below.join('')}`,
    owner,
    repository,
  }
}

/** Undefined for a path and for ssh, which do not name the pages. */
export function parsePageAddress(remote: string): ForgeAddress | undefined {
  return parseLocation(remote)?.web === true ? parseForgeAddress(remote) : undefined
}

/** With its port; undefined for a local path. */
export function findRemoteHost(remote: string): string | undefined {
  return parseLocation(remote)?.host
}

export function createNoAddressFailure(remote: string): Failure {
  return new Failure({
    code: 'BP1001',
    what: 'the repository is on no such forge',
    where: findRemoteHost(remote) ?? 'the repository',
    why: 'its address is not HOST/OWNER/REPOSITORY',
    remedy: 'give the address of the repository with --repo, or --forge local',
  })
}

/** Brackets would end a Markdown link. */
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

function parseLocation(
  remote: string,
): { scheme: string; host: string; path: string; web: boolean } | undefined {
  const url = URL.parse(remote)
  if (url !== null && (url.protocol === 'https:' || url.protocol === 'http:')) {
    return { scheme: url.protocol, host: url.host, path: url.pathname, web: true }
  }
  if (url !== null && url.protocol === 'ssh:')
    return { scheme: 'https:', host: url.hostname, path: url.pathname, web: false }
  if (remote.includes('://')) return undefined
  const [, host, path] = SCP_LIKE.exec(remote) ?? []
  return host === undefined || path === undefined
    ? undefined
    : { scheme: 'https:', host: host.toLowerCase(), path, web: false }
}
