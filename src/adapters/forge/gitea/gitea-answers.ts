/** What Gitea answers, as far as it is used; every field is checked, and what has another shape is a failure (modules/structs of Gitea). */
import * as z from 'zod'
import { type ObjectId, objectId } from '../../../package/object-id.ts'
import type { KnownProposal } from '../../../ports/hosted-forge.ts'
import { plainLines } from '../topic-marker.ts'

const user = z.object({ login: z.string() })
const label = z.object({ id: z.int(), name: z.string() })
const time = z.string().nullish()

export const pullRequestSchema = z.object({
  number: z.int(),
  title: z.string(),
  body: z.string().nullish(),
  state: z.string(),
  draft: z.boolean().nullish(),
  merged: z.boolean(),
  merged_at: time,
  merged_by: user.nullish(),
  merge_commit_sha: z.string().nullish(),
  closed_at: time,
  html_url: z.string(),
  labels: z.array(label).nullish(),
  base: z.object({ ref: z.string(), repo_id: z.int() }),
  // `label` is the branch also after it was deleted, when `ref` is `refs/pull/<n>/head` (services/convert/pull.go).
  head: z.object({ label: z.string(), sha: z.string(), repo_id: z.int() }),
})
export type PullRequest = z.infer<typeof pullRequestSchema>

export const labelSchema = label
export const userSchema = user
export const repositorySchema = z.object({
  archived: z.boolean(),
  full_name: z.string(),
  html_url: z.string(),
  default_merge_style: z.string().nullish(),
})
export const commentSchema = z.object({
  id: z.int(),
  body: z.string(),
  user: user.nullish(),
  created_at: z.string(),
  updated_at: z.string(),
})
export const reactionSchema = z.object({ user: user.nullish(), content: z.string() })
export const statusSchema = z.object({ context: z.string(), status: z.string(), description: z.string(), target_url: z.string() })
export const issueSchema = z.object({
  number: z.int(),
  title: z.string(),
  body: z.string().nullish(),
  state: z.string(),
  html_url: z.string(),
  user: user.nullish(),
  labels: z.array(label).nullish(),
})
export const timelineSchema = z.object({ type: z.string(), user: user.nullish(), created_at: z.string() })
export const permissionSchema = z.object({ permission: z.string() })

/** Gitea has no flag for drafts: the title says it (setting `[repository.pull-request] WORK_IN_PROGRESS_PREFIXES`). */
export const DRAFT_PREFIX = 'WIP: '
const DRAFT = /^(WIP:|\[WIP\])\s*/i

export function titleOf({ title }: Pick<PullRequest, 'title'>): { readonly title: string; readonly draft: boolean } {
  return { title: title.replace(DRAFT, ''), draft: DRAFT.test(title) }
}

/** @param closedBy login, where somebody closed it without a merge and Gitea told who */
export function proposalOf(pull: PullRequest, closedBy: string): KnownProposal {
  const state = pull.merged ? 'merged' : pull.state === 'open' ? 'open' : 'closed'
  const decidedAt = state === 'open' ? '' : ((state === 'merged' ? pull.merged_at : pull.closed_at) ?? '')
  return {
    ...titleOf(pull),
    number: pull.number,
    label: `#${pull.number}`,
    url: pull.html_url,
    ref: `refs/heads/${pull.head.label}`,
    baseBranch: pull.base.ref,
    state,
    commit: commitOf(pull.head.sha),
    body: plainLines(pull.body),
    labels: (pull.labels ?? []).map(({ name }) => name),
    decidedBy: state === 'merged' ? (pull.merged_by?.login ?? '') : state === 'closed' ? closedBy : '',
    decidedAt: decidedAt === '' ? '' : `${new Date(decidedAt).toISOString().slice(0, 19)}Z`,
  }
}

/** Empty where Gitea does not know it any more. */
function commitOf(sha: string): ObjectId {
  return objectId(sha === '' ? '0'.repeat(40) : sha)
}
