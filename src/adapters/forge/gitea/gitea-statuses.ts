/** Statuses of a commit: the latest of each context counts, and one that says the same is not sent again. */
import type { ObjectId } from '../../../package/object-id.ts'
import type { CommitStatus } from '../../../ports/hosted-forge.ts'
import { statusSchema } from './gitea-answers.ts'
import type { GiteaClient } from './gitea-client.ts'
import { notGitea } from './gitea-failure.ts'

export async function ensureGiteaStatuses(
  client: GiteaClient,
  commit: ObjectId,
  statuses: readonly CommitStatus[],
  signal: AbortSignal,
): Promise<void> {
  const { owner, repository } = client.address
  const path = `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(repository)}`
  const what = 'read the statuses of a commit'
  const listed = await client.list({ path: `${path}/commits/${commit}/statuses`, query: { sort: 'recentupdate' }, what }, signal)
  const parsed = statusSchema.array().safeParse(listed)
  if (!parsed.success) throw notGitea({ address: client.address, what }, 'its answer has another shape')
  for (const { context, state, description, url } of statuses) {
    const there = parsed.data.find((status) => status.context === context)
    const wanted = { context, state, description: short(description), target_url: url }
    if (there?.status === state && there.description === wanted.description && there.target_url === url) continue
    await client.send({ method: 'POST', path: `${path}/statuses/${commit}`, body: wanted, what: 'set the status of a commit' }, signal)
  }
}

function short(text: string): string {
  return text.length <= 140 ? text : `${text.slice(0, 139)}…`
}
