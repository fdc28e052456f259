/** How deep a value is nested, found without recursion: a server takes 10,000 levels, and whatever walks them by calls runs out of stack. */
import type { Json } from './json.ts'

/** Deeper than anything that people write; every walk of ours gets this far with room to spare. */
export const DEEPEST = 500

export function isDeeperThan(value: Json, most: number): boolean {
  let level: readonly Json[] = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > most) return true
    const next: Json[] = []
    for (const each of level) if (typeof each === 'object' && each !== null) for (const below of Object.values(each)) next.push(below)
    level = next
  }
  return false
}
