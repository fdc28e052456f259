import { CODE_OWNERS_PATHS } from '../../policy/code-owners.ts'
import { readTexts } from '../../sources/commit/commit-files.ts'
import type { RepositoryView } from './repository-view.ts'

export async function readBaseText(
  view: RepositoryView,
  path: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const files = view.tree.filter((file) => file.path === path)
  return files.length === 0
    ? undefined
    : (await readTexts(view.repository, files, signal)).get(path)
}

export async function readCodeOwners(view: RepositoryView, signal: AbortSignal): Promise<string> {
  for (const path of CODE_OWNERS_PATHS) {
    const text = await readBaseText(view, path, signal)
    if (text !== undefined) return text
  }
  return ''
}
