/**
 * Its path, or the Kptfile's name of a root package. `.` only if a report of an earlier version
 * lacks the name.
 */
export function getUnitName({
  package: path,
  name,
}: {
  readonly package: string
  readonly name?: string | undefined
}): string {
  return path || name || '.'
}
