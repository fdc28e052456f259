import { encodePath, type ForgeAddress } from '../adapter/forge-address.ts'
import type { ForgeDialect } from '../ports/hosted-forge.ts'

/** GitHub takes 65,536 characters, but answered a body near that with 502, so less is sent (Renovate's number). */
const BODY_LIMIT = 58_000

export function githubDialect({ webUrl, owner, repository }: ForgeAddress): ForgeDialect {
  const blob = (ref: string, path: string): string => `${webUrl}/${owner}/${repository}/blob/${encodePath(ref)}/${encodePath(path)}`
  return {
    name: 'GitHub',
    bodyLimit: BODY_LIMIT,
    titleLimit: 256,
    alerts: true,
    folds: true,
    fileUrl: (commit, path, line) => `${blob(commit, path)}${line === undefined ? '' : `#L${line}`}`,
    branchFileUrl: blob,
  }
}
