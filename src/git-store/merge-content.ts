/**
 * The lines of both sides in one file, as git merges them. diff3 is what isomorphic-git merges texts with; its own `merge` reads a whole clone,
 * gives no tree where files conflict, and loses a carriage return within a line (docs/adr/0010-dependencies.md).
 */
import { diffArrays } from 'diff'
import diff3Merge from 'diff3'

/** Added and removed lines of one side after which a file counts as another one. diff3 takes memory by their square: 28 MiB here, 361 MiB for twice as many. */
const MOST_EDITS = 2_000
/** Bytes in which git looks for a zero byte, by which it knows a binary file (git, xdiff-interface.c, `buffer_is_binary`). */
const LOOKED_AT = 8_000

export interface ContentSides {
  /** From which both began. */
  readonly base: Uint8Array | null
  readonly ours: Uint8Array | null
  readonly theirs: Uint8Array | null
}

/** Null where a side has no file, where both changed one place, and where git knows no lines. */
export function mergeContent({ base, ours, theirs }: ContentSides): Uint8Array | null {
  if (base === null || ours === null || theirs === null) return null
  if ([base, ours, theirs].some((content) => content.subarray(0, LOOKED_AT).includes(0)))
    return null
  const [then, mine, other] = [splitLines(base), splitLines(ours), splitLines(theirs)]
  if (!isEdit(then, mine) || !isEdit(then, other)) return null
  const parts = diff3Merge(mine, then, other)
  if (parts.some(({ conflict }) => conflict !== undefined)) return null
  return Buffer.from(parts.flatMap(({ ok = [] }) => ok).join(''), 'latin1')
}

/** Each with its line break. A character is a byte, so that any encoding comes out as it went in. */
function splitLines(content: Uint8Array): string[] {
  return (
    Buffer.from(content)
      .toString('latin1')
      .match(/[^\n]*\n|[^\n]+$/g) ?? []
  )
}

function isEdit(before: string[], after: string[]): boolean {
  return diffArrays(before, after, { maxEditLength: MOST_EDITS }) !== undefined
}
