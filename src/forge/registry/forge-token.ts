/** Never sent to another host. */
import type { CredentialOptions, Environment } from '../adapter/forge-adapter.ts'
import { ALL_FORGES } from './forges.ts'

/**
 * `BACKPORCH_TOKEN` is for any repository, then comes the variable of the forge with that host, or
 * of the forge that may be on any host (`GITEA_TOKEN`).
 */
export function findForgeToken(host: string, environment: Environment): string | undefined {
  const own = environment['BACKPORCH_TOKEN'] || undefined
  if (own !== undefined) return own
  const named = ALL_FORGES.filter((forge) => forge.hasHost(host, environment))
  const forges =
    named.length > 0 ? named : ALL_FORGES.filter(({ token }) => token?.anyHost === true)
  return forges
    .map(({ token }) => (token === undefined ? undefined : environment[token.variable]))
    .find((token) => token)
}

/** An App's token is renewed when it expires. */
export async function findGitToken(
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
