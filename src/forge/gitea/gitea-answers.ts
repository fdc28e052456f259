/** modules/structs of Gitea. Every field is checked. */
import { type ObjectId, parseObjectId } from '@backporch/kyaml/files'
import * as z from 'zod'
import { normalizeLines } from '../adapter/topic-marker.ts'
import type { KnownProposal } from '../ports/hosted-forge.ts'

const user = z.object({ login: z.string() })
const label = z.object({ id: z.int(), name: z.string() })
const moment = z.string().refine((text) => !Number.isNaN(Date.parse(text)), 'is not a time')
const time = moment.nullish()
const commit = z.string().regex(/^([0-9a-f]{40})?$/)

export const pullRequestSchema = z.object({
  number: z.int(),
  title: z.string(),
  body: z.string().nullish(),
  state: z.string(),
  draft: z.boolean().nullish(),
  merged: z.boolean(),
  merged_at: time,
  merged_by: user.nullish(),
  merge_commit_sha: commit.nullish(),
  created_at: time,
  closed_at: time,
  html_url: z.string(),
  labels: z.array(label).nullish(),
  base: z.object({ ref: z.string(), repo_id: z.int() }),
  // `label` still names the branch after its deletion, when `ref` is `refs/pull/<n>/head`
  // (services/convert/pull.go).
  head: z.object({ label: z.string(), ref: z.string(), sha: commit, repo_id: z.int() }),
})
export type PullRequest = z.infer<typeof pullRequestSchema>

const gitReference = z.object({ ref: z.string(), object: z.object({ sha: commit }) })
export const gitReferencesSchema = z.union([
  gitReference.transform((one) => [one]),
  z.array(gitReference),
])

export const labelSchema = label
export const milestoneSchema = z.object({ id: z.number(), title: z.string() })
export const userSchema = user
export const repositorySchema = z.object({
  archived: z.boolean(),
  full_name: z.string(),
  html_url: z.string(),
  has_issues: z.boolean().nullish(),
  has_pull_requests: z.boolean().nullish(),
  allow_merge_commits: z.boolean().nullish(),
  allow_rebase: z.boolean().nullish(),
  allow_rebase_explicit: z.boolean().nullish(),
  allow_squash_merge: z.boolean().nullish(),
  allow_fast_forward_only_merge: z.boolean().nullish(),
})
export const commentSchema = z.object({
  id: z.int(),
  body: z.string(),
  user: user.nullish(),
  created_at: moment,
  updated_at: moment,
})
export const reactionSchema = z.object({ user: user.nullish(), content: z.string() })
export const statusSchema = z.object({
  id: z.int(),
  context: z.string(),
  status: z.string(),
  description: z.string(),
  target_url: z.string(),
})
export const issueSchema = z.object({
  number: z.int(),
  title: z.string(),
  body: z.string().nullish(),
  state: z.string(),
  html_url: z.string(),
  user: user.nullish(),
  labels: z.array(label).nullish(),
})
export const timelineSchema = z.object({
  type: z.string(),
  user: user.nullish(),
  created_at: z.string(),
})
export const permissionSchema = z.object({ permission: z.string() })

/** By title (setting `[repository.pull-request] WORK_IN_PROGRESS_PREFIXES`). */
const DRAFT_PREFIX = 'WIP: '
const TITLE_BYTES = 255
const ELLIPSIS = Buffer.from('…')
const DRAFT = /^(WIP:|\[WIP\])\s*/i

function parseGiteaTitle({ title }: Pick<PullRequest, 'title'>): {
  readonly title: string
  readonly draft: boolean
} {
  return { title: title.replace(DRAFT, ''), draft: DRAFT.test(title) }
}

/**
 * Gitea silently cuts a longer title (models/issues: 255 bytes), which would never equal the wanted
 * one.
 */
export function formatGiteaTitle(title: string, draft: boolean): string {
  const whole = `${draft ? DRAFT_PREFIX : ''}${title}`
  if (Buffer.byteLength(whole) <= TITLE_BYTES) return whole
  let retained = ''
  for (const character of whole) {
    if (Buffer.byteLength(retained) + Buffer.byteLength(character) + ELLIPSIS.length > TITLE_BYTES)
      break
    retained += character
  }
  return `${retained}…`
}

/** @param head at that moment; default: the branch's present head */
export function createGiteaProposal(
  pull: PullRequest,
  decidedBy: string | undefined,
  head: string = pull.head.sha,
): KnownProposal {
  const state = pull.merged ? 'merged' : pull.state === 'open' ? 'open' : 'closed'
  const decidedAt =
    state === 'open' ? undefined : state === 'merged' ? pull.merged_at : pull.closed_at
  const { created_at: openedAt } = pull
  return {
    ...parseGiteaTitle(pull),
    number: pull.number,
    label: `#${pull.number}`,
    url: pull.html_url,
    ref: `refs/heads/${pull.head.label}`,
    baseBranch: pull.base.ref,
    state,
    commit: findCommit(head),
    body: normalizeLines(pull.body),
    labels: (pull.labels ?? []).map(({ name }) => name),
    ...(openedAt === undefined || openedAt === null ? {} : { openedAt: formatGiteaTime(openedAt) }),
    decidedBy: state === 'open' ? undefined : decidedBy,
    decidedAt: decidedAt ? formatGiteaTime(decidedAt) : undefined,
  }
}

/** RFC 3339 in UTC with whole seconds. */
export function formatGiteaTime(text: string): string {
  return `${new Date(text).toISOString().slice(0, 19)}Z`
}

function findCommit(sha: string): ObjectId {
  return parseObjectId(sha === '' ? '0'.repeat(40) : sha)
}
