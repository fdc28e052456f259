/**
 * Writes one preview comment per pull request and updates it in place. It never replaces the
 * preview of a newer head by that of an older one.
 */
import type { ForgePullRequest, HostedForge } from '@backporch/forge/hosted-forge'
import { isBaseBranch } from '@backporch/git-store/ref-name'
import { previewMark, previewText } from '../../../proposal/preview/preview-text.ts'
import type { Preview } from '../../../record/documents/preview.ts'
import type { PreviewHead } from './preview-request.ts'

const TOPIC = 'preview'

interface PreviewForge {
  readonly forge: HostedForge
  readonly version: string
}

export function getPreviewHead({ label, branch, commit, fork }: ForgePullRequest): PreviewHead {
  return { name: branch === '' ? label : branch, commit, fork }
}

/** A Backporch proposal's own text says what merging does. */
export function isPreviewed({ branch, fork, open }: ForgePullRequest): boolean {
  return open && (fork || isBaseBranch(branch))
}

/**
 * A pull request that changes nothing and violates no policy gets no comment, unless it has one.
 * @returns `moved`: the head or base is another by now, and nothing was written
 */
export async function writePreview(
  { forge, version }: PreviewForge,
  { number, commit, baseBranch }: ForgePullRequest,
  preview: Preview,
  signal: AbortSignal,
): Promise<'written' | 'nothing' | 'moved'> {
  const now = await forge.readPullRequest(number, signal)
  if (now.commit !== commit || now.baseBranch !== baseBranch) return 'moved'
  const saysNothing = preview.items.length === 0 && preview.policyProblem === undefined
  if (saysNothing && (await forge.readOwnComment(number, TOPIC, signal)) === undefined)
    return 'nothing'
  await forge.ensureComment(
    number,
    TOPIC,
    previewText(preview, { dialect: forge.dialect, version }),
    signal,
  )
  return 'written'
}

export async function hasPreview(
  forge: HostedForge,
  { number, commit }: ForgePullRequest,
  base: string,
  signal: AbortSignal,
): Promise<boolean> {
  const comment = await forge.readOwnComment(number, TOPIC, signal)
  return (
    comment?.startsWith(
      previewMark({ base: { branch: '', commit: base }, head: { name: '', commit, fork: false } }),
    ) === true
  )
}
