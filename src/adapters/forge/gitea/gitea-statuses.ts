/** Statuses of a commit: the latest of each context counts, and an equal one is not sent again. */
import type { ObjectId } from '../../../package/object-id.ts'
import type { CommitStatus } from '../../../ports/hosted-forge.ts'
import { statusSchema } from './gitea-answers.ts'
import type { GiteaClient } from './gitea-client.ts'

export async function ensureGiteaStatuses(
  client: GiteaClient,
  commit: ObjectId,
  statuses: readonly CommitStatus[],
  signal: AbortSignal,
): Promise<void> {
  const requested = { path: client.path(`/commits/${commit}/statuses`), what: 'read the statuses of a commit' }
  const there = await client.getAll(requested, statusSchema, signal)
  // Times are whole seconds, so Gitea's order is not reliable: the highest number is the latest.
  const latest = new Map(there.toSorted((left, right) => left.id - right.id).map((status) => [status.context, status]))
  for (const { context, state, description, url } of statuses) {
    const before = latest.get(context)
    const wanted = { context, state, description: short(description), target_url: url }
    if (before?.status === state && before.description === wanted.description && before.target_url === url) continue
    const path = client.path(`/statuses/${commit}`)
    await client.send({ method: 'POST', path, body: wanted, what: 'set the status of a commit' }, signal)
  }
}

function short(text: string): string {
  return text.length <= 140 ? text.trim() : `${text.slice(0, 139).trim()}…`
}
