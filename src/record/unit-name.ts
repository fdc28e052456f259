/** What people call a package: by its path, and one at the root of the repository by its Kptfile, as its branches and tags are. */

/** `.` only where a report of an earlier version does not have the name. */
export function unitName({
  package: path,
  name,
}: {
  readonly package: string
  readonly name?: string | undefined
}): string {
  return path || name || '.'
}
