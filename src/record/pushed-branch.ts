/**
 * The name in a commit proves nothing. A commit that was merged in another shape, or whose branch
 * was deleted, is recognized by its content.
 */
import { createHash } from 'node:crypto'
import { omitUndefined } from '@backporch/kyaml/text'
import { z } from 'zod'
import { API_VERSION, createDocumentHead } from './documents/document.ts'
import { isRecordPath } from './record-paths.ts'

/** The branch is recreated while its drift changes. */
const MOST_COMMITS = 20

export const pushedBranchSchema = z.object({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('PushedBranch'),
  metadata: z.object({
    name: z.string().describe('Branch, short: `proposed/apps/web/drift-9f2c1a7b`.'),
    annotations: z.object({ 'config.kubernetes.io/local-config': z.literal('true') }),
  }),
  spec: z.object({
    commits: z
      .array(
        z.object({
          commit: z.string(),
          content: z
            .string()
            .describe('Hash of the paths and contents that the commit changes, 16 hex digits.'),
          records: z
            .array(z.string())
            .describe('Hashes of the records that it brings, 16 hex digits each.'),
        }),
      )
      .describe('What backporch pushed, the latest last, twenty at most.'),
    pullRequest: z
      .number()
      .int()
      .positive()
      .optional()
      .describe(
        'Number of the pull request that was opened from it last: it stays the same when the branch is renamed.',
      ),
    approved: z
      .object({
        by: z.string().describe('Name and address, as a commit has them.'),
        at: z.string().describe('RFC 3339 UTC.'),
        commit: z.string().describe('The head that was approved.'),
      })
      .optional()
      .describe(
        'Who put the pull request into a merge queue with `backporch approve`: the merge itself does not name a person.',
      ),
    pullRequestUrl: z
      .string()
      .optional()
      .describe('Address of its page; absent in a file of an earlier version.'),
  }),
})

export type PushedBranch = z.infer<typeof pushedBranchSchema>
export type PushedContent = Omit<PushedBranch['spec']['commits'][number], 'commit'>

export function formatPushedPath(branch: string): string {
  return `pushed/${branch}.yaml`
}

/** From the root; `null` is a deleted file. */
export function computePushedContent(
  changes: readonly { readonly path: string; readonly content: Uint8Array | null }[],
): PushedContent {
  const hash = createHash('sha256')
  const files = changes.map(({ path, content }) => ({
    path,
    digest: content === null ? '' : computeHash(content),
  }))
  for (const { path, digest } of files.toSorted(comparePaths)) hash.update(`${path}\0${digest}\n`)
  const records = files.filter(({ path, digest }) => isRecordPath(path) && digest !== '')
  return {
    content: hash.digest('hex').slice(0, 16),
    records: records.map(({ digest }) => digest).sort(),
  }
}

/** 16 hex digits. */
export function computeHash(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 16)
}

export function addPushedCommit(
  before: PushedBranch | undefined,
  branch: string,
  commit: string,
  content: PushedContent,
): PushedBranch {
  const { commits = [], pullRequest, pullRequestUrl } = before?.spec ?? {}
  const others = commits.filter((known) => known.commit !== commit)
  return {
    ...createDocumentHead('PushedBranch', branch),
    spec: {
      commits: [...others, { commit, ...content }].slice(-MOST_COMMITS),
      ...omitUndefined({ pullRequest, pullRequestUrl }),
    },
  }
}

/**
 * Undefined if already present.
 * @param url empty without a page
 */
export function setPullRequest(
  before: PushedBranch,
  { number, url }: { readonly number: number; readonly url: string },
): PushedBranch | undefined {
  const { pullRequest, pullRequestUrl = '', ...spec } = before.spec
  if (pullRequest === number && pullRequestUrl === url) return undefined
  return {
    ...before,
    spec: { ...spec, pullRequest: number, ...(url === '' ? {} : { pullRequestUrl: url }) },
  }
}

export function setApproval(
  before: PushedBranch,
  approved: NonNullable<PushedBranch['spec']['approved']>,
): PushedBranch {
  return { ...before, spec: { ...before.spec, approved } }
}

function comparePaths(left: { readonly path: string }, right: { readonly path: string }): number {
  return left.path < right.path ? -1 : 1
}
