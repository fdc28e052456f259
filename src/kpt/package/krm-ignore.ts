/**
 * `.krmignore`: the files of a package that kpt does not read. The syntax is a subset of gitignore with kyaml's meaning (kyaml
 * `kio/ignorefilesmatcher.go` over go-gitignore 205db1a8cc00), which differs from git's (docs/facts/krmignore.md): a pattern without a leading
 * `/` matches the end of a path at any depth, also with a `/` inside; `**` is `*`; a `!` line wins at any position; and nothing below an
 * ignored directory is read.
 */

interface Pattern {
  readonly directoryOnly: boolean
  readonly glob: Glob
}

/** Patterns with one number of segments, by the text that a path has to contain before they are compared with it. */
interface PatternIndex {
  /** Patterns without a wildcard; true where one is not for directories only. */
  readonly exact: Map<string, boolean>
  /** The others, by the length of their longest text between wildcards, then by that text; '' where they have none. */
  readonly holding: Map<number, Map<string, Pattern[]>>
}

interface PatternSet {
  /** By number of segments: anchored at the root of the package, or matching the last segments of a path. */
  readonly anchored: ReadonlyMap<number, PatternIndex>
  readonly floating: ReadonlyMap<number, PatternIndex>
}

export interface KrmIgnore {
  readonly ignored: PatternSet
  readonly accepted: PatternSet
}

/** Reads a `.krmignore` file. Never fails: an invalid line matches nothing. */
export function parseKrmIgnore(text: string): KrmIgnore {
  const ignored: string[] = []
  const accepted: string[] = []
  for (const raw of text.split('\n')) {
    // Only spaces are trimmed, and one carriage return of the line end; a tab belongs to the pattern.
    const line = raw.replace(/\r$/, '').replace(/^ +| +$/g, '')
    if (line === '' || line.startsWith('#')) continue
    const pattern = line.startsWith('\\#') ? line.slice(1) : line
    if (pattern.startsWith('!')) accepted.push(pattern.slice(1))
    else ignored.push(pattern)
  }
  return { ignored: patternSet(ignored), accepted: patternSet(accepted) }
}

/** Whether kpt ignores the path. @param path relative to the folder of the `.krmignore`, with `/` */
export function isIgnored(rules: KrmIgnore, path: string, isDirectory: boolean): boolean {
  const segments = path.split('/')
  return (
    !matchesAny(rules.accepted, path, segments, isDirectory) &&
    matchesAny(rules.ignored, path, segments, isDirectory)
  )
}

function patternSet(lines: readonly string[]): PatternSet {
  const anchored = new Map<number, PatternIndex>()
  const floating = new Map<number, PatternIndex>()
  for (const line of new Set(lines)) {
    const body = line.replace(/^\/+|\/+$/g, '')
    const glob = body === '' ? undefined : parseGlob(body)
    // A line of slashes alone makes kpt itself crash; here it matches nothing.
    if (glob === undefined) continue
    const byDepth = line.startsWith('/') ? anchored : floating
    const depth = body.split('/').length
    const index = byDepth.get(depth) ?? { exact: new Map(), holding: new Map() }
    byDepth.set(depth, index)
    addPattern(index, { directoryOnly: line.endsWith('/'), glob })
  }
  return { anchored, floating }
}

function addPattern({ exact, holding }: PatternIndex, pattern: Pattern): void {
  const { glob, directoryOnly } = pattern
  const texts = [...literalTexts(glob)]
  const [only] = texts
  if (glob.every(({ kind }) => kind === 'literal') && only !== undefined) {
    exact.set(only, exact.get(only) === true || !directoryOnly)
    return
  }
  const longest = texts.reduce((best, text) => (text.length > best.length ? text : best), '')
  const ofLength = holding.get(longest.length) ?? new Map<string, Pattern[]>()
  holding.set(longest.length, ofLength)
  const same = ofLength.get(longest)
  if (same === undefined) ofLength.set(longest, [pattern])
  else same.push(pattern)
}

/** The texts between the wildcards. */
function* literalTexts(glob: Glob): Iterable<string> {
  let text = ''
  for (const token of glob) {
    if (token.kind === 'literal') text += token.character
    else {
      yield text
      text = ''
    }
  }
  yield text
}

function matchesAny(
  set: PatternSet,
  path: string,
  segments: readonly string[],
  isDirectory: boolean,
): boolean {
  const anchored = set.anchored.get(segments.length)
  if (anchored !== undefined && matchesIndex(anchored, path, isDirectory)) return true
  for (const [depth, index] of set.floating)
    if (
      depth <= segments.length &&
      matchesIndex(index, segments.slice(-depth).join('/'), isDirectory)
    )
      return true
  return false
}

function matchesIndex(index: PatternIndex, text: string, isDirectory: boolean): boolean {
  const exact = index.exact.get(text)
  if (exact === true || (exact !== undefined && isDirectory)) return true
  const characters = [...text]
  for (const { directoryOnly, glob } of candidates(index, text))
    if ((isDirectory || !directoryOnly) && matchesGlob(glob, characters)) return true
  return false
}

/** The patterns with wildcards that may match: one lookup for each part of the text, however many patterns exist. */
export function* candidates({ holding }: PatternIndex, text: string): Iterable<Pattern> {
  for (const [length, patterns] of holding) {
    const parts = new Set<string>()
    for (let at = 0; at + length <= text.length && (length > 0 || at === 0); at += 1)
      parts.add(text.slice(at, at + length))
    for (const part of parts) yield* patterns.get(part) ?? []
  }
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

/** The syntax of Go's `path/filepath.Match`. Undefined where the pattern is malformed and matches nothing. */
function parseGlob(pattern: string): Glob | undefined {
  const characters = [...pattern]
  // Without a wildcard go-gitignore compares texts, so that a backslash is itself.
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

/** Backtracks to the last star only, so the time is at most length of the text times length of the pattern. */
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
