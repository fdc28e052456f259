/** The credential of a host. One for another host is never sent: that would give it away. */
import type { CredentialOptions, Environment } from '../adapter/forge-adapter.ts'
import { ALL_FORGES } from './forges.ts'

/**
 * `BACKPORCH_TOKEN` is for whatever repository is named. Then comes the variable of the forge that has the host (`GITHUB_TOKEN` for GitHub and
 * the server whose workflow runs), or of the one that may be on any host (`GITEA_TOKEN`).
 */
export function tokenFor(host: string, environment: Environment): string | undefined {
  const own = environment['BACKPORCH_TOKEN']
  if (own !== undefined && own !== '') return own
  const named = ALL_FORGES.filter((forge) => forge.hasHost(host, environment))
  const forges =
    named.length > 0 ? named : ALL_FORGES.filter(({ token }) => token?.anyHost === true)
  return forges
    .map(({ token }) => (token === undefined ? undefined : environment[token.variable]))
    .find((token) => token)
}

/** The credential of git over https where a forge gives out its own: an App's token, renewed as it ends. */
export async function gitTokenFor(
  remote: string,
  options: CredentialOptions,
): Promise<((signal: AbortSignal) => Promise<string>) | undefined> {
  if (!/^https?:/i.test(remote)) return undefined
  for (const forge of ALL_FORGES) {
    const token = await forge.gitToken(remote, options)
    if (token !== undefined) return token
  }
  return undefined
}
