/**
 * Finds packages that changed since the last poll: a package with a changed hash is observed again.
 * It reads no cluster, but it reads people's requests, because only the forge has them.
 */

import { hash } from 'node:crypto'
import type { HostedForge, KnownIssue } from '@backporch/forge/hosted-forge'
import {
  LEDGER_BRANCH,
  parseRevisionTag,
  parseWorkspaceBranch,
} from '@backporch/git-store/ref-name'
import { derivePackageSlug } from '@backporch/kpt/package'
import { DASHBOARD } from '../../plan/turn/forge/plan-issues.ts'
import { DRIFT_FOLDER, RECORDS_FOLDER } from '../../record/record-paths.ts'
import { observeRepository } from '../observe/observe-units.ts'
import type { FleetPorts, TurnRequest } from '../observe/turn-request.ts'
import { isHosted } from '../repository/is-hosted.ts'
import type { RepositoryView } from '../repository/repository-view.ts'
import { observeRequests } from './requests/observe-requests.ts'

export interface RepositoryDigest {
  /** Of policies, the base branch's name, and files outside packages. */
  readonly shared: string
  readonly packages: ReadonlyMap<string, string>
  readonly requested: ReadonlySet<string>
}

export interface PolledRepository extends RepositoryDigest {
  readonly view: Pick<RepositoryView, 'baseBranch' | 'refs' | 'policies'>
}

/** Nothing is rendered from them. */
const TEXTS = /(?:^|\/)(?:LICENSE|NOTICE)$|\.(?:md|txt|adoc|rst|png|jpe?g|gif|svg|pdf)$/i

/** @throws Failure BP40xx or BP50xx where the repository or the forge cannot be read */
export async function pollRepository(
  { repository, forge, clusters }: Pick<FleetPorts, 'repository' | 'forge' | 'clusters'>,
  request: TurnRequest,
  signal: AbortSignal,
): Promise<PolledRepository> {
  const view = await observeRepository({ repository, forge }, request, signal)
  const hosted = isHosted(forge) ? forge : undefined
  const { requestedActions } = request.forge
  const dashboard =
    hosted === undefined ? '' : ((await readDashboard(hosted, view, signal))?.body ?? '')
  const requests =
    hosted === undefined || requestedActions === undefined
      ? []
      : await observeRequests(
          view,
          hosted,
          {
            units: request.units,
            bot: request.git.bot,
            clusters: clusters.map(({ name }) => name),
            requestedActions,
          },
          signal,
        )
  const outside = request.between?.outside ?? new Map<string, readonly string[]>()
  const requested = new Set(requests.map(({ unit }) => unit.packagePath))
  return { ...computeDigest(view, dashboard, outside), requested, view }
}

function computeDigest(
  view: RepositoryView,
  dashboard: string,
  outside: ReadonlyMap<string, readonly string[]>,
): Omit<RepositoryDigest, 'requested'> {
  const paths = new Set([...view.packages.map(({ path }) => path), ...outside.keys()])
  const parts = new Map<string, string[]>([...paths].map((path) => [path, []]))
  const shared: string[] = [view.baseBranch, dashboard]
  const slugs = new Map([...paths].map((path) => [derivePackageSlug(path, path), path]))
  const add = (path: string | undefined, line: string): void =>
    void ((path === undefined ? undefined : parts.get(path)) ?? shared).push(line)
  for (const { path, id } of view.tree) {
    const line = `${path} ${id}`
    const [, slug] = path.startsWith(`${RECORDS_FOLDER}/`)
      ? path.slice(RECORDS_FOLDER.length + 1).split('/')
      : []
    if (slug !== undefined) add(slugs.get(slug), line)
    else if (path.startsWith(`${DRIFT_FOLDER}/`)) shared.push(line)
    else addFile(parts, shared, line, path)
  }
  for (const [path, read] of outside) {
    const wanted = new Set(read)
    if (wanted.size > 0)
      for (const file of view.tree)
        if (wanted.has(file.path)) parts.get(path)?.push(`outside ${file.path} ${file.id}`)
  }
  for (const [ref, id] of view.refs) {
    if (ref === `refs/heads/${LEDGER_BRANCH}` || ref === `refs/heads/${view.baseBranch}`) continue
    const owner = ref.startsWith('refs/tags/') ? parseRevisionTag(ref) : parseWorkspaceBranch(ref)
    if (owner !== undefined) add(owner.packagePath, `${ref} ${id}`)
  }
  for (const { ref, ...proposal } of view.proposals.values())
    add(parseWorkspaceBranch(ref)?.packagePath, `${ref} ${JSON.stringify(proposal)}`)
  return {
    shared: computeHash(shared),
    packages: new Map([...parts].map(([path, lines]) => [path, computeHash(lines)])),
  }
}

function addFile(
  parts: ReadonlyMap<string, string[]>,
  shared: string[],
  line: string,
  path: string,
): void {
  let isOwned = false
  for (let end = path.lastIndexOf('/'); ; end = path.lastIndexOf('/', end - 1)) {
    const own = parts.get(end === -1 ? '' : path.slice(0, end))
    own?.push(line)
    isOwned ||= own !== undefined
    if (end <= 0) break
  }
  if (!isOwned && !TEXTS.test(path)) shared.push(line)
}

function computeHash(lines: readonly string[]): string {
  return hash('sha256', lines.toSorted().join('\n'))
}

/**
 * Only held and silenced units have a box. Undefined without boxes, and without the issue.
 * @throws Failure BP50xx
 */
export async function readDashboard(
  forge: HostedForge,
  { reports }: Pick<RepositoryView, 'reports'>,
  signal: AbortSignal,
): Promise<KnownIssue | undefined> {
  const hasBoxes = [...reports.values()].some(
    ({ status }) => status.held !== undefined || status.state === 'Silenced',
  )
  return hasBoxes ? forge.readIssue(DASHBOARD, signal) : undefined
}
