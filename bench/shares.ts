/** Shares of objects by kind, as Markdown. */
export interface KindShare {
  readonly kind: string
  objects: number
  /** How many objects were not proven, by reason. */
  readonly reasons: Map<string, number>
}

/** One line per kind, the most frequent first, and one for the total. */
export function formatShares(shares: readonly KindShare[]): string {
  const all: KindShare = { kind: 'all', objects: 0, reasons: new Map() }
  for (const { objects, reasons } of shares) {
    all.objects += objects
    for (const [reason, count] of reasons)
      all.reasons.set(reason, (all.reasons.get(reason) ?? 0) + count)
  }
  const sorted = shares.toSorted(
    (left, right) => right.objects - left.objects || (left.kind < right.kind ? -1 : 1),
  )
  const rows = [...sorted, all].map(({ kind, objects, reasons }) => {
    const open = [...reasons.values()].reduce((sum, count) => sum + count, 0)
    const why = [...reasons]
      .toSorted(([, left], [, right]) => right - left)
      .map(([reason, count]) => `${count}: ${reason}`)
    return [
      kind,
      `${objects}`,
      `${objects - open}`,
      `${((100 * (objects - open)) / objects).toFixed(1)} %`,
      why.join('; ') || 'none',
    ]
  })
  const head = ['kind', 'objects', 'proven by ownership', 'share', 'verified by a dry run, and why']
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |\n`)
    .join('')
}
