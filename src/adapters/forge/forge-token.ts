/** Which token of the environment a host gets. One that was made for another host is never sent: it would be given away. */

type Environment = Readonly<Record<string, string | undefined>>

/** `BACKPORCH_TOKEN` is for whatever repository is named; `GITHUB_TOKEN` for GitHub and the server whose workflow runs; `GITEA_TOKEN` for others. */
export function tokenFor(host: string, environment: Environment): string | undefined {
  const own = environment['BACKPORCH_TOKEN']
  if (own !== undefined && own !== '') return own
  const token = isGitHubHost(host, environment) ? environment['GITHUB_TOKEN'] : environment['GITEA_TOKEN']
  return token === '' ? undefined : token
}

/** `GITHUB_SERVER_URL` is what GitHub's own runner sets, and Gitea's too. */
export function isGitHubHost(host: string, environment: Environment): boolean {
  const server = URL.parse(environment['GITHUB_SERVER_URL'] ?? '')?.host
  return host === 'github.com' || host.endsWith('.ghe.com') || host === server
}

/** Host, with its port, of an address as people give it to git; undefined for a path on this machine. */
export function hostOf(remote: string): string | undefined {
  const url = URL.parse(remote)
  if (url !== null && /^(https?|ssh):$/.test(url.protocol)) return url.protocol === 'ssh:' ? url.hostname : url.host
  if (remote.includes('://')) return undefined
  return /^(?:[^@/:]+@)?([a-z0-9.-]+):(?!\/\/)./i.exec(remote)?.[1]?.toLowerCase()
}
