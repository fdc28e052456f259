/** A plan has the files of its commits as text, so that the plan can be stored as JSON. */
import type { FileChange } from '@backporch/git-store/package-repository'
import type { GitWrites, PlannedCommit } from '../observation/action.ts'
import type { TextCommit, TextWrites } from './turn-action.ts'

/** A plan writes texts alone. @throws TypeError for content that is no UTF-8 */
export function createTextCommit({ changes, ...commit }: PlannedCommit): TextCommit {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  return {
    ...commit,
    changes: changes.map(({ path, content }) => ({
      path,
      content: content === null ? null : decoder.decode(content),
    })),
  }
}

export function createTextWrites({ commits, ...writes }: GitWrites): TextWrites {
  return { ...writes, commits: commits.map(createTextCommit) }
}

export function decodeChanges({ changes }: Pick<TextCommit, 'changes'>): readonly FileChange[] {
  return changes.map(({ path, content }) => ({
    path,
    content: content === null ? null : new TextEncoder().encode(content),
  }))
}

export function createGitWrites({ commits, ...writes }: TextWrites): GitWrites {
  return {
    ...writes,
    commits: commits.map((commit) => ({ ...commit, changes: decodeChanges(commit) })),
  }
}
