/**
 * CODEOWNERS as GitHub reads it ("About code owners" in its documentation): of the lines that match a path the last one counts,
 * patterns are those of a `.gitignore` without `!` and `[…]`, and a line that is none is skipped. Pure.
 */

/** Where the file is searched; the first that exists counts. */
export const CODE_OWNERS_PATHS = ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS'] as const

/** GitHub does not load a larger file. */
const SIZE_LIMIT = 3 * 1024 * 1024
const OWNER = /^(?:@[A-Za-z0-9](?:[A-Za-z0-9_.-]*)(?:\/[A-Za-z0-9_.-]+)?|[^@\s]+@[^@\s]+\.[^@\s]+)$/

/**
 * Who owns a file: `@login`, `@org/team` or an address, as written. Empty where it has no owner.
 * @param text the content of CODEOWNERS
 * @param path from the root of the repository, without a leading slash
 */
export function ownersOf(text: string, path: string): readonly string[] {
  if (text.length > SIZE_LIMIT) return []
  const segments = path.split('/')
  const lines = text.split(/\r?\n/)
  for (let index = lines.length - 1; index >= 0; index -= 1) {
    const rule = readLine(lines[index] ?? '')
    if (rule !== undefined && matchesPattern(rule.pattern, segments)) return rule.owners
  }
  return []
}

interface OwnersRule {
  readonly pattern: string
  readonly owners: readonly string[]
}

function readLine(line: string): OwnersRule | undefined {
  const words = splitWords(line)
  const comment = words.findIndex((word) => word.startsWith('#'))
  const [pattern, ...owners] = comment === -1 ? words : words.slice(0, comment)
  // Not supported there: the whole line is ignored.
  if (pattern === undefined || pattern.startsWith('!') || /[[\]]/.test(pattern)) return undefined
  return owners.every((owner) => OWNER.test(owner)) ? { pattern, owners } : undefined
}

/** At blanks that have no backslash before them; the backslash goes. */
function splitWords(line: string): string[] {
  return [...line.matchAll(/(?:\\[ \t]|[^ \t])+/g)].map(([word]) =>
    word.replaceAll(/\\([ \t])/g, '$1'),
  )
}

function matchesPattern(pattern: string, path: readonly string[]): boolean {
  const isFolder = pattern.endsWith('/')
  const body = pattern.replace(/^\//, '').replace(/\/+$/, '')
  if (body === '') return pattern.startsWith('/') && pattern !== '//'
  const wanted = body.split('/')
  // A slash before the end ties the pattern to the root.
  const anchored = pattern.startsWith('/') || wanted.length > 1
  const full = anchored ? wanted : ['**', ...wanted]
  // `docs/*` is about the files of the folder itself, and not about what is below its folders.
  const deep = wanted.at(-1) !== '*' || wanted.length === 1
  return matchSegments(full, path, deep, isFolder)
}

/** `deep`: what lies below a match is matched too. `isFolder`: only what lies below. Quadratic at most. */
function matchSegments(
  pattern: readonly string[],
  path: readonly string[],
  deep: boolean,
  isFolder: boolean,
): boolean {
  // reached[n]: the first n segments of the path can be what the pattern so far matches.
  let reached = Array.from({ length: path.length + 1 }, (_, index) => index === 0)
  pattern.forEach((part, at) => {
    const next = reached.map(() => false)
    let open = false
    for (let index = 0; index <= path.length; index += 1) {
      if (part === '**') {
        open ||= reached[index] === true
        // At the end it matches what is inside, so at least one segment.
        next[index] =
          at === pattern.length - 1 && pattern.length > 1
            ? open && index > 0 && reached.indexOf(true) < index
            : open
      } else if (index > 0)
        next[index] = reached[index - 1] === true && matchSegment(part, path[index - 1] ?? '')
    }
    reached = next
  })
  return reached.some(
    (here, index) => here && index > 0 && (index === path.length ? !isFolder : deep || isFolder),
  )
}

/** `*` is any text and `?` any character, within one segment. */
function matchSegment(pattern: string, text: string): boolean {
  let [at, index, star, mark] = [0, 0, -1, 0]
  while (at < text.length) {
    if (pattern[index] === '*') [star, mark, index] = [index, at, index + 1]
    else if (index < pattern.length && (pattern[index] === '?' || pattern[index] === text[at]))
      [at, index] = [at + 1, index + 1]
    else if (star !== -1) [mark, at, index] = [mark + 1, mark + 1, star + 1]
    else return false
  }
  while (pattern[index] === '*') index += 1
  return index === pattern.length
}
