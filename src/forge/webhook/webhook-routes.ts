import { parseForgeAddress } from '../adapter/forge-address.ts'

export function getRepositoryName(remote: string): string | undefined {
  const named = parseForgeAddress(remote)
  return named === undefined ? undefined : `${named.owner}/${named.repository}`
}

/** Includes addresses that do not say it: an extra turn is harmless. */
export function filterRemotes(named: string, remotes: readonly string[]): readonly string[] {
  return remotes.filter(
    (remote) => (getRepositoryName(remote) ?? named).toLowerCase() === named.toLowerCase(),
  )
}
