/** The latest of each context counts; an equal one is not sent again. */
import type { ObjectId } from '@backporch/kyaml/files'
import type { CommitStatus, ForgePullRequest, OpenHead } from '../ports/hosted-forge.ts'
import { statusSchema } from './gitea-answers.ts'
import type { GiteaClient } from './gitea-client.ts'

export async function ensureGiteaStatuses(
  client: GiteaClient,
  commit: ObjectId,
  statuses: readonly CommitStatus[],
  signal: AbortSignal,
): Promise<void> {
  const latest = await readLatest(client, commit, signal)
  for (const { context, state, description, url = '' } of statuses) {
    const before = latest.get(context)
    const wanted = { context, state, description: shortenText(description), target_url: url }
    if (
      before?.status === state &&
      before.description === wanted.description &&
      before.target_url === url
    )
      continue
    const path = client.buildPath(`/statuses/${commit}`)
    await client.send(
      { method: 'POST', path, body: wanted, what: 'set the status of a commit' },
      signal,
    )
  }
}

export async function readGiteaHeads(
  client: GiteaClient,
  pulls: readonly ForgePullRequest[],
  { context, known }: { readonly context: string; readonly known: Map<ObjectId, CommitStatus> },
  signal: AbortSignal,
): Promise<readonly OpenHead[]> {
  const heads: OpenHead[] = []
  for (const { number, commit, branch, fork } of pulls) {
    const kind = !fork && branch.startsWith('proposed/') ? 'proposal' : 'pull-request'
    // Gitea has no merge groups.
    const status =
      kind === 'proposal'
        ? undefined
        : (known.get(commit) ?? (await readStatus(client, commit, context, signal)))
    if (status !== undefined) known.set(commit, status)
    heads.push({ kind, commit, numbers: [number], status })
  }
  const open = new Set(pulls.map(({ commit }) => commit))
  for (const commit of known.keys()) if (!open.has(commit)) known.delete(commit)
  return heads
}

async function readStatus(
  client: GiteaClient,
  commit: ObjectId,
  context: string,
  signal: AbortSignal,
): Promise<CommitStatus | undefined> {
  const found = (await readLatest(client, commit, signal)).get(context)
  if (found === undefined) return undefined
  const state = found.status === 'success' || found.status === 'pending' ? found.status : 'failure'
  return { context, state, description: found.description, url: found.target_url || undefined }
}

async function readLatest(client: GiteaClient, commit: ObjectId, signal: AbortSignal) {
  const requested = {
    path: client.buildPath(`/commits/${commit}/statuses`),
    what: 'read the statuses of a commit',
  }
  const there = await client.getAll(requested, statusSchema, signal)
  // Gitea's order by whole seconds is unreliable.
  return new Map(
    there.toSorted((left, right) => left.id - right.id).map((status) => [status.context, status]),
  )
}

function shortenText(text: string): string {
  return text.length <= 140 ? text.trim() : `${text.slice(0, 139).trim()}…`
}
