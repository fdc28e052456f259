/**
 * A subset of gitignore with kyaml's meaning (`kio/ignorefilesmatcher.go` over go-gitignore
 * 205db1a8cc00; docs/facts/krmignore.md): a pattern without a leading `/` matches the end of a path
 * at any depth, even with a `/` inside; `**` is `*`; a `!` line wins at any position; and nothing
 * below an ignored directory is read.
 */

interface Pattern {
  /** Matches the whole path from the folder of the file; otherwise the last segments of a path. */
  readonly anchored: boolean
  readonly directoryOnly: boolean
  /** Number of segments. */
  readonly depth: number
  readonly glob: Glob
}

export interface KrmIgnore {
  readonly ignored: readonly Pattern[]
  readonly accepted: readonly Pattern[]
}

/** An invalid line matches nothing. */
export function parseKrmIgnore(text: string): KrmIgnore {
  const ignored: string[] = []
  const accepted: string[] = []
  for (const raw of text.split('\n')) {
    // A tab belongs to the pattern.
    const line = raw.replace(/\r$/, '').replace(/^ +| +$/g, '')
    if (line === '' || line.startsWith('#')) continue
    const pattern = line.startsWith('\\#') ? line.slice(1) : line
    if (pattern.startsWith('!')) accepted.push(pattern.slice(1))
    else ignored.push(pattern)
  }
  return { ignored: ignored.flatMap(parsePattern), accepted: accepted.flatMap(parsePattern) }
}

/** @param path relative to the folder of the `.krmignore` */
export function isIgnored(rules: KrmIgnore, path: string, isDirectory: boolean): boolean {
  const tails = listTails(path)
  return (
    !rules.accepted.some((pattern) => matches(pattern, tails, isDirectory)) &&
    rules.ignored.some((pattern) => matches(pattern, tails, isDirectory))
  )
}

function parsePattern(line: string): readonly Pattern[] {
  const body = line.replace(/^\/+|\/+$/g, '')
  const glob = body === '' ? undefined : parseGlob(body)
  // A line of only slashes crashes kpt; here it matches nothing.
  if (glob === undefined) return []
  return [
    {
      anchored: line.startsWith('/'),
      directoryOnly: line.endsWith('/'),
      depth: body.split('/').length,
      glob,
    },
  ]
}

/** The characters of the last segment of the path, of the last two segments, and so on to the whole path. */
function listTails(path: string): readonly (readonly string[])[] {
  const segments = path.split('/')
  return segments.map((_, index) => [...segments.slice(-1 - index).join('/')])
}

function matches(
  { anchored, directoryOnly, depth, glob }: Pattern,
  tails: readonly (readonly string[])[],
  isDirectory: boolean,
): boolean {
  if (anchored && depth !== tails.length) return false
  if (directoryOnly && !isDirectory) return false
  const tail = tails[depth - 1]
  return tail !== undefined && matchesGlob(glob, tail)
}

type Token =
  | { readonly kind: 'literal'; readonly character: string }
  | { readonly kind: 'any' }
  | { readonly kind: 'star' }
  | {
      readonly kind: 'class'
      readonly negated: boolean
      readonly ranges: readonly (readonly [string, string])[]
    }
type Glob = readonly Token[]

/** Go's `path/filepath.Match`. Undefined: malformed, matches nothing. */
function parseGlob(pattern: string): Glob | undefined {
  const characters = [...pattern]
  // go-gitignore then compares texts, so a backslash is literal.
  if (!/[*?[]/.test(pattern)) return characters.map((character) => ({ kind: 'literal', character }))
  const tokens: Token[] = []
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] as string
    if (character === '*') {
      if (tokens.at(-1)?.kind !== 'star') tokens.push({ kind: 'star' })
    } else if (character === '?') tokens.push({ kind: 'any' })
    else if (character === '[') {
      const read = readClass(characters, at + 1)
      if (read === undefined) return undefined
      tokens.push(read.token)
      at = read.last
    } else {
      if (character === '\\') at += 1
      const literal = characters[at]
      if (literal === undefined) return undefined
      tokens.push({ kind: 'literal', character: literal })
    }
  }
  return tokens
}

function readClass(
  characters: readonly string[],
  start: number,
): { readonly token: Token; readonly last: number } | undefined {
  const negated = characters[start] === '^'
  const ranges: (readonly [string, string])[] = []
  let at = negated ? start + 1 : start
  const member = (): string | undefined => {
    const first = characters[at]
    if (first === undefined || first === '-' || first === ']') return undefined
    if (first === '\\') at += 1
    const value = characters[at]
    at += 1
    return value
  }
  for (;;) {
    if (characters[at] === ']' && ranges.length > 0)
      return { token: { kind: 'class', negated, ranges }, last: at }
    const low = member()
    if (low === undefined) return undefined
    let high: string | undefined = low
    if (characters[at] === '-') {
      at += 1
      high = member()
    }
    if (high === undefined) return undefined
    ranges.push([low, high])
  }
}

/** At most text length times pattern length. */
function matchesGlob(glob: Glob, characters: readonly string[]): boolean {
  let at = 0
  let token = 0
  let star = -1
  let starAt = 0
  while (at < characters.length) {
    const current = glob[token]
    const character = characters[at] as string
    if (current?.kind === 'star') {
      star = token
      starAt = at
      token += 1
    } else if (current !== undefined && matchesToken(current, character)) {
      at += 1
      token += 1
    } else if (star !== -1 && characters[starAt] !== '/') {
      starAt += 1
      at = starAt
      token = star + 1
    } else return false
  }
  return glob.slice(token).every(({ kind }) => kind === 'star')
}

function matchesToken(token: Token, character: string): boolean {
  if (token.kind === 'literal') return token.character === character
  if (token.kind === 'class')
    return (
      token.ranges.some(([low, high]) => low <= character && character <= high) !== token.negated
    )
  return token.kind === 'any' && character !== '/'
}
