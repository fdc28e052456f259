/** Patterns of paths in ApplicationSets. */

/** Go's `path.Match`: `*` and `?` match no `/`, `[a-c]`, `[^a]`, and `\` before a character. A pattern that is not valid matches nothing. */
export function isFolderMatch(pattern: string, folder: string): boolean {
  return matches(pattern, folder, { any: '[^/]*', one: '[^/]', negations: '^', before: '(?!/)' })
}

/**
 * A path as `git ls-files -- <pattern>` takes it, from the root: `*` and `?` match `/` too, and a folder is everything below it (git
 * `Documentation/glossary-content.adoc` "pathspec").
 */
export function isFileMatch(pattern: string, path: string): boolean {
  const plain = pattern.replace(/^(?:\.\/+)+|^\.$/, '')
  const folder = plain.replace(/\/+$/, '')
  if (folder === '' || path.startsWith(`${folder}/`)) return true
  return folder === plain && matches(plain, path, { any: '[\\s\\S]*', one: '[\\s\\S]', negations: '^!', before: '' })
}

interface Wildcards {
  readonly any: string
  readonly one: string
  /** Signs that negate a class. */
  readonly negations: string
  /** Before a class. */
  readonly before: string
}

function matches(pattern: string, path: string, { any, one, negations, before }: Wildcards): boolean {
  const parts: string[] = []
  const read = /\\([\s\S])|\[([\^!]?)((?:\\[\s\S]|[^\]\\])+)\]|([\s\S])/y
  for (let at = 0; at < pattern.length; at = read.lastIndex) {
    read.lastIndex = at
    const [, literal, sign = '', set, single] = read.exec(pattern) ?? []
    const isNegated = sign !== '' && negations.includes(sign)
    if (literal !== undefined) parts.push(escaped(literal))
    else if (set !== undefined) parts.push(`${before}[${isNegated ? '^' : escaped(sign)}${set.replaceAll(/[[&~]/g, '\\$&')}]`)
    else if (single === undefined || single === '[' || single === '\\') return false
    else parts.push(single === '*' ? any : single === '?' ? one : escaped(single))
  }
  try {
    return new RegExp(`^(?:${parts.join('')})$`, 'u').test(path)
  } catch {
    return false
  }
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
