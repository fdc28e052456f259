/** Which of several repositories a delivery is about. */
import { parseForgeAddress } from '../adapter/forge-address.ts'

/** `owner/name`; undefined for an address that does not say it. */
export function repositoryName(remote: string): string | undefined {
  const named = parseForgeAddress(remote)
  return named === undefined ? undefined : `${named.owner}/${named.repository}`
}

/** Those with this `owner/name`, on whatever host, and those whose address does not say it: a turn too many is no harm. */
export function remotesOf(named: string, remotes: readonly string[]): readonly string[] {
  return remotes.filter(
    (remote) => (repositoryName(remote) ?? named).toLowerCase() === named.toLowerCase(),
  )
}
