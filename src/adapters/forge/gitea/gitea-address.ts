/** Where a repository is on a Gitea or Forgejo, from its remote. It may stand below a path of its host. */

export interface GiteaAddress {
  /** With its port. */
  readonly host: string
  /** `https://git.example.com` or `https://example.com/git`; without `/` at its end. */
  readonly webUrl: string
  readonly owner: string
  readonly repository: string
}

const SCP_LIKE = /^(?:[^@/:]+@)?([a-z0-9.-]+):(?!\/\/)(.+)$/i
/** Names as Gitea makes them (modules/structs, `AlphaDashDot`); nothing that changes a path. */
const NAME = /^[\w.-]+$/

/**
 * The address that an https, ssh or scp-like remote names; undefined where it does not end in `OWNER/REPOSITORY`. Credentials in
 * it are dropped. Whether a Gitea answers there is not asked.
 */
export function parseGiteaAddress(remote: string): GiteaAddress | undefined {
  const place = placeOf(remote)
  if (place === undefined) return undefined
  const parts = place.path
    .replace(/^\/+|\/+$/g, '')
    .replace(/\.git$/, '')
    .split('/')
  const [owner, repository] = parts.slice(-2)
  if (owner === undefined || repository === undefined) return undefined
  if (!parts.every((name) => NAME.test(name) && !/^\.+$/.test(name))) return undefined
  // A path of ssh says nothing about that of the pages.
  if (!place.web && parts.length > 2) return undefined
  const below = parts.slice(0, -2).map((part) => `/${part}`)
  return { host: place.host, webUrl: `${place.scheme}//${place.host}${below.join('')}`, owner, repository }
}

function placeOf(remote: string): { scheme: string; host: string; path: string; web: boolean } | undefined {
  const url = URL.parse(remote)
  if (url !== null && (url.protocol === 'https:' || url.protocol === 'http:')) {
    return { scheme: url.protocol, host: url.host, path: url.pathname, web: true }
  }
  if (url !== null && url.protocol === 'ssh:') return { scheme: 'https:', host: url.hostname, path: url.pathname, web: false }
  if (remote.includes('://')) return undefined
  const [, host, path] = SCP_LIKE.exec(remote) ?? []
  return host === undefined || path === undefined ? undefined : { scheme: 'https:', host: host.toLowerCase(), path, web: false }
}
