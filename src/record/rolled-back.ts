import type { Change } from './documents/change.ts'

/** Undefined for a change that is not a rollback. */
export function formatRollback({ rolledBack }: Pick<Change, 'rolledBack'>): string | undefined {
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
