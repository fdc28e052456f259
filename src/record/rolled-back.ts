import type { Change } from './documents/change.ts'

/** `rolled back to 1a2b3c4, 5d6e7f8 was live until 2026-11-21T10:00:00Z`; undefined of a change that is no rollback. */
export function rollbackText({ rolledBack }: Pick<Change, 'rolledBack'>): string | undefined {
  if (rolledBack === undefined) return undefined
  const { commit, seen: observed } = rolledBack
  const to =
    commit === ''
      ? 'rolled back to before the package was in git'
      : `rolled back to ${commit.slice(0, 7)}`
  return observed === undefined
    ? to
    : `${to}, ${observed.commit.slice(0, 7)} was live until ${observed.at}`
}
