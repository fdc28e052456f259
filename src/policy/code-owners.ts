/**
 * As GitHub reads it ("About code owners"): the last matching line counts, patterns are those of a
 * `.gitignore` without `!` and `[…]`, and invalid lines are skipped.
 */

export const CODE_OWNERS_PATHS = ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS'] as const

/** GitHub does not load a larger file. */
const SIZE_LIMIT = 3 * 1024 * 1024
const OWNER = /^(?:@[A-Za-z0-9](?:[A-Za-z0-9_.-]*)(?:\/[A-Za-z0-9_.-]+)?|[^@\s]+@[^@\s]+\.[^@\s]+)$/

/**
 * `@login`, `@org/team` or an address, as written.
 * @param path from the repository root, without a leading slash
 */
export function listCodeOwners(text: string, path: string): readonly string[] {
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
  // GitHub ignores the whole line.
  if (pattern === undefined || pattern.startsWith('!') || /[[\]]/.test(pattern)) return undefined
  return owners.every((owner) => OWNER.test(owner)) ? { pattern, owners } : undefined
}

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
  // A slash before the end anchors the pattern to the root.
  const anchored = pattern.startsWith('/') || wanted.length > 1
  const full = anchored ? wanted : ['**', ...wanted]
  const deep = wanted.at(-1) !== '*' || wanted.length === 1
  return matchSegments(full, path, deep, isFolder)
}

/** `isFolder`: only what is below a match. `deep`: also that. Quadratic at most. */
function matchSegments(
  pattern: readonly string[],
  path: readonly string[],
  deep: boolean,
  isFolder: boolean,
): boolean {
  let reached = Array.from({ length: path.length + 1 }, (_, index) => index === 0)
  pattern.forEach((part, at) => {
    const next = reached.map(() => false)
    let open = false
    for (let index = 0; index <= path.length; index += 1) {
      if (part === '**') {
        open ||= reached[index] === true
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
