import { parseForgeAddress } from '../adapter/forge-address.ts'

export function repositoryName(remote: string): string | undefined {
  const named = parseForgeAddress(remote)
  return named === undefined ? undefined : `${named.owner}/${named.repository}`
}

/** Includes addresses that do not say it: an extra turn is harmless. */
export function remotesOf(named: string, remotes: readonly string[]): readonly string[] {
  return remotes.filter(
    (remote) => (repositoryName(remote) ?? named).toLowerCase() === named.toLowerCase(),
  )
}
