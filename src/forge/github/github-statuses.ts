import type { ObjectId } from '@backporch/kyaml/files'
import { omitUndefined } from '@backporch/kyaml/text'
import type { CommitStatus } from '../ports/hosted-forge.ts'
import type { GitHubClient } from './github-client.ts'

/** GitHub's limit, in characters. */
const LONGEST = 140
const PAGE = 100

export async function ensureStatuses(
  client: GitHubClient,
  commit: ObjectId,
  statuses: readonly CommitStatus[],
  signal: AbortSignal,
): Promise<void> {
  if (statuses.length === 0) return
  const { octokit } = client
  const target = await client.getTarget(signal)
  const what = `set the statuses of ${commit.slice(0, 8)}`
  const there = new Map<string, string>()
  for (let page = 1; ; page += 1) {
    const requested = { ...target, ref: commit, per_page: PAGE, page }
    const { data } = await client.ask(what, () =>
      octokit.rest.repos.getCombinedStatusForRef(requested),
    )
    for (const { context, state, description, target_url } of data.statuses)
      there.set(context, getStatusKey(state, description, target_url))
    if (data.statuses.length < PAGE) break
  }
  for (const { context, state, description, url } of statuses) {
    const short = shorten(description)
    if (there.get(context) === getStatusKey(state, short, url)) continue
    const wanted = {
      context,
      state,
      description: short,
      ...omitUndefined({ target_url: url }),
    }
    const writable = await client.getWritableTarget(what, signal)
    await client.ask(what, () =>
      octokit.rest.repos.createCommitStatus({ ...writable, sha: commit, ...wanted }),
    )
  }
}

function getStatusKey(
  state: string,
  description: string | null,
  url: string | null | undefined,
): string {
  return JSON.stringify([state, description ?? '', url ?? ''])
}

/** Half a surrogate pair is not text. */
function shorten(text: string): string {
  if (text.length <= LONGEST) return text
  let short = ''
  for (const character of text) {
    if (short.length + character.length > LONGEST - 1) break
    short += character
  }
  return `${short}…`
}
