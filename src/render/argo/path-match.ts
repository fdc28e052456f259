/** Patterns of Go's `path.Match`: `*` and `?` match no `/`, `[a-c]`, `[^a]`, and `\` before a character. */

/** A pattern that is not valid matches nothing. */
export function isFolderMatch(pattern: string, folder: string): boolean {
  const parts: string[] = []
  const read = /\\([\s\S])|\[(\^?)((?:\\[\s\S]|[^\]\\])+)\]|([\s\S])/y
  for (let at = 0; at < pattern.length; at = read.lastIndex) {
    read.lastIndex = at
    const [, literal, negated, set, single] = read.exec(pattern) ?? []
    if (literal !== undefined) parts.push(escaped(literal))
    else if (set !== undefined) parts.push(`(?!/)[${negated}${set.replaceAll(/[[&~]/g, '\\$&')}]`)
    else if (single === undefined || single === '[' || single === '\\') return false
    else parts.push(single === '*' ? '[^/]*' : single === '?' ? '[^/]' : escaped(single))
  }
  try {
    return new RegExp(`^(?:${parts.join('')})$`, 'u').test(folder)
  } catch {
    return false
  }
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
