/** Where a repository is on GitHub, GitHub Enterprise Server, or GitHub with data residency, from its remote. */

export interface GitHubAddress {
  /** `github.com`, or the host of another GitHub, with its port. */
  readonly host: string
  readonly owner: string
  readonly repository: string
  /** `https://github.com` */
  readonly webUrl: string
  /** `https://api.github.com`, `https://HOST/api/v3`; without `/` at its end. */
  readonly apiUrl: string
}

const SCP_LIKE = /^(?:[^@/:]+@)?([a-z0-9.-]+):(?!\/\/)(.+)$/i
/** Logins and repository names as GitHub makes them; nothing that changes a path. */
const NAME = /^[\w.-]+$/

/**
 * The address that an https, ssh or scp-like remote names; undefined where it is not `…/OWNER/REPOSITORY`. Credentials in it are
 * dropped. Whether GitHub answers there is not asked.
 */
export function parseGitHubAddress(remote: string): GitHubAddress | undefined {
  const place = placeOf(remote)
  if (place === undefined) return undefined
  const [owner, repository, ...rest] = place.path
    .replace(/^\/+|\/+$/g, '')
    .replace(/\.git$/, '')
    .split('/')
  if (owner === undefined || repository === undefined || rest.length > 0) return undefined
  if (![owner, repository].every((name) => NAME.test(name) && !/^\.+$/.test(name))) return undefined
  const { host, scheme } = place
  const webUrl = `${scheme}//${host}`
  return { host, owner, repository, webUrl, apiUrl: apiUrlOf(host, webUrl) }
}

function apiUrlOf(host: string, webUrl: string): string {
  if (host === 'github.com') return 'https://api.github.com'
  // docs.github.com, "About GitHub Enterprise Cloud with data residency": the API has a name of its own.
  return host.endsWith('.ghe.com') ? `https://api.${host}` : `${webUrl}/api/v3`
}

function placeOf(remote: string): { readonly scheme: string; readonly host: string; readonly path: string } | undefined {
  const url = URL.parse(remote)
  if (url !== null && (url.protocol === 'https:' || url.protocol === 'http:')) {
    return { scheme: url.protocol, host: knownHost(url.host), path: url.pathname }
  }
  // The port of ssh says nothing about that of the API.
  if (url !== null && url.protocol === 'ssh:') return { scheme: 'https:', host: knownHost(url.hostname), path: url.pathname }
  if (remote.includes('://')) return undefined
  const [, host, path] = SCP_LIKE.exec(remote) ?? []
  return host === undefined || path === undefined ? undefined : { scheme: 'https:', host: knownHost(host.toLowerCase()), path }
}

/** `ssh.github.com` takes ssh on port 443 (docs.github.com, "Using SSH over the HTTPS port"). */
function knownHost(host: string): string {
  return host === 'www.github.com' || host === 'ssh.github.com' ? 'github.com' : host
}
