/** `*` is any text, including empty; `\*` and `\\` are literal. */

/** Linear: each part matches at its first position. */
export function matchesGlob(glob: string, text: string): boolean {
  if (!/[*\\]/.test(glob)) return glob === text
  return matchesParts(splitGlob(glob), text)
}

export function matchesParts(parts: readonly string[], text: string): boolean {
  const [first = ''] = parts
  const last = parts.at(-1) ?? ''
  if (parts.length < 2) return text === first
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
    return false
  let at = first.length
  const end = text.length - last.length
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at)
    if (found === -1 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}

export function hasWildcard(glob: string): boolean {
  return splitGlob(glob).length > 1
}

export function escapeGlob(text: string): string {
  // Only a backslash that would be an escape is escaped.
  return text.replace(/\\(?=[\\*]|$)|\*/g, (sign) => `\\${sign}`)
}

function splitGlob(glob: string): string[] {
  const parts = ['']
  for (const [sign] of glob.matchAll(/\\[\\*]|[\s\S]/g)) {
    if (sign === '*') parts.push('')
    else parts[parts.length - 1] += sign.length === 2 ? sign.slice(1) : sign
  }
  return parts
}
