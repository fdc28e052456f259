/** Two edits, or one up to four characters. Nearest first, then by code unit. Ignores case. */
export function findNearestNames(wanted: string, known: Iterable<string>): readonly string[] {
  const allowed = wanted.length <= 4 ? 1 : 2
  const near: { readonly name: string; readonly distance: number }[] = []
  for (const name of new Set(known)) {
    if (Math.abs(name.length - wanted.length) > allowed) continue
    const distance = editDistance(wanted.toLowerCase(), name.toLowerCase())
    if (distance <= allowed) near.push({ name, distance })
  }
  return near
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .map(({ name }) => name)
}

/** Optimal string alignment. */
function editDistance(left: string, right: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let i = 1; i <= left.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= right.length; j += 1) {
      const same = left[i - 1] === right[j - 1]
      let best = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (same ? 0 : 1),
      )
      const swapped = i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1]
      if (swapped) best = Math.min(best, (beforeLast[j - 2] ?? 0) + 1)
      row.push(best)
    }
    beforeLast = last
    last = row
  }
  return last[right.length] ?? 0
}
