/** The proposal continues without them, and people are told. */

const CANNOT = {
  reviewers: 'cannot be asked for a review',
  assignees: 'cannot be assigned',
  milestone: 'is not an open milestone',
} as const

interface Told {
  readonly address: { readonly owner: string; readonly repository: string }
  tell(line: string): void
}

export function tellLeftOut(
  client: Told,
  what: keyof typeof CANNOT,
  names: readonly string[],
): void {
  if (names.length === 0) return
  const { owner, repository } = client.address
  client.tell(`${owner}/${repository}: ${names.join(', ')} ${CANNOT[what]} here, and is left out`)
}
