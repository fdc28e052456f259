import type { ForgeDialect } from '../../../ports/hosted-forge.ts'
import type { GitHubAddress } from './github-address.ts'

/** GitHub takes 65,536 characters; a body near that was answered with 502 before, so less is sent (Renovate's number). */
const BODY_LIMIT = 58_000

/** How GitHub draws text. */
export function githubDialect({ webUrl, owner, repository }: GitHubAddress): ForgeDialect {
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

/** Each segment by itself; brackets too, which would end a Markdown link. */
function encodePath(path: string): string {
  return path
    .split('/')
    .map((segment) =>
      encodeURIComponent(segment).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`),
    )
    .join('/')
}
