/** What a forge does not know of those that a policy or CODEOWNERS names: the proposal goes on without them, and people are told. */

const CANNOT = {
  reviewers: 'cannot be asked for a review',
  assignees: 'cannot be assigned',
  milestone: 'is no open milestone',
} as const

/** One line for `note`, in which `names` are as they were given. @param where as people call the repository */
export function leftOut(
  where: string,
  what: keyof typeof CANNOT,
  names: readonly string[],
): string {
  return `${where}: ${names.join(', ')} ${CANNOT[what]} here, and is left out`
}
