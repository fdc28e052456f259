/** GitHub, GitHub Enterprise Server, or GitHub with data residency. */
import { type ForgeAddress, parseForgeAddress } from '../adapter/forge-address.ts'

export interface GitHubAddress extends ForgeAddress {
  readonly apiUrl: string
}

/**
 * Undefined if not `…/OWNER/REPOSITORY`. Drops credentials. Does not check that GitHub answers
 * there.
 */
export function parseGitHubAddress(remote: string): GitHubAddress | undefined {
  const address = parseForgeAddress(remote)
  if (address === undefined || new URL(address.webUrl).pathname !== '/') return undefined
  const host = normalizeHost(address.host)
  const webUrl = address.webUrl.replace(address.host, host)
  return { ...address, host, webUrl, apiUrl: getApiUrl(host, webUrl) }
}

/** Gitea's runner sets `GITHUB_SERVER_URL` too. */
export function isGitHubHost(
  host: string,
  environment: Readonly<Record<string, string | undefined>>,
): boolean {
  const server = URL.parse(environment['GITHUB_SERVER_URL'] ?? '')?.host
  return host === 'github.com' || host.endsWith('.ghe.com') || host === server
}

function getApiUrl(host: string, webUrl: string): string {
  if (host === 'github.com') return 'https://api.github.com'
  // docs.github.com, "About GitHub Enterprise Cloud with data residency".
  return host.endsWith('.ghe.com') ? `https://api.${host}` : `${webUrl}/api/v3`
}

/** docs.github.com, "Using SSH over the HTTPS port". */
function normalizeHost(host: string): string {
  return host === 'www.github.com' || host === 'ssh.github.com' ? 'github.com' : host
}
