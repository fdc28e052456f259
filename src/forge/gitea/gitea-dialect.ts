import { encodePath, type ForgeAddress } from '../adapter/forge-address.ts'
import type { ForgeDialect } from '../ports/hosted-forge.ts'

/** How Gitea draws text (its `modules/markup/markdown`), and the sizes of its columns. */
export function giteaDialect({ webUrl, owner, repository }: ForgeAddress): ForgeDialect {
  const source = (kind: 'commit' | 'branch', ref: string, path: string): string =>
    `${webUrl}/${owner}/${repository}/src/${kind}/${encodePath(ref)}/${encodePath(path)}`
  return {
    name: 'Gitea',
    // The column takes 1 MiB and more, but nobody reads a page of that size.
    bodyLimit: 250_000,
    titleLimit: 255,
    alerts: true,
    folds: true,
    fileUrl: (commit, path, line) => `${source('commit', commit, path)}${line === undefined ? '' : `#L${line}`}`,
    branchFileUrl: (branch, path) => source('branch', branch, path),
  }
}
