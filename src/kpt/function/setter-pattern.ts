/**
 * `image: nginx:1.27 # kpt-set: nginx:${tag}`, expanded like apply-setters (krm-functions-catalog,
 * `apply-setters/apply_setters.go`). Adopt inverts the expansion.
 */

const COMMENT = '# kpt-set: '
/** Values may name other setters, so a text may grow. */
const MAX_LENGTH = 1_048_576

export interface SetterPattern {
  readonly text: string
  /** In order, repeated ones repeated. */
  readonly setters: readonly string[]
  /** One more than there are setters. */
  readonly literals: readonly string[]
}

export function findSetterPattern(lineComment: string): SetterPattern | undefined {
  const text = lineComment.startsWith(COMMENT) ? lineComment.slice(COMMENT.length).trim() : ''
  return text === '' ? undefined : parseSetterPattern(text)
}

export function parseSetterPattern(text: string): SetterPattern {
  const setters: string[] = []
  const literals: string[] = []
  let behind = 0
  for (const [start, end] of findReferences(text)) {
    literals.push(text.slice(behind, start))
    setters.push(text.slice(start + 2, end - 1))
    behind = end
  }
  literals.push(text.slice(behind))
  return { text, setters, literals }
}

/** Otherwise apply-setters ignores the field. */
export function containsAnySetter(pattern: SetterPattern, names: Iterable<string>): boolean {
  for (const name of names) if (pattern.text.includes(`\${${name}}`)) return true
  return false
}

/** Such a setter can set a whole list. */
export function findOnlySetter(pattern: SetterPattern): string | undefined {
  const [name] = pattern.setters
  return pattern.setters.length === 1 && pattern.text === `\${${name}}` ? name : undefined
}

type ExpandedPattern =
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'unresolved'; readonly references: readonly string[] }
  | { readonly is: 'too-long' }

/** A value may name a later setter. */
export function expandPattern(
  pattern: SetterPattern,
  ...values: readonly ReadonlyMap<string, string>[]
): ExpandedPattern {
  let text = pattern.text
  for (const given of values)
    for (const [name, value] of given) {
      const reference = `\${${name}}`
      if (!text.includes(reference)) continue
      text = text.replaceAll(reference, () => value)
      if (text.length > MAX_LENGTH) return { is: 'too-long' }
    }
  const left = findReferences(text).map(([start, end]) => text.slice(start, end))
  return left.length === 0 ? { is: 'text', text } : { is: 'unresolved', references: left }
}

/**
 * The original matches `(.*)` for each setter: unanchored, leftmost, greedy, within one line. The
 * last position of each literal gives the same result.
 * @returns empty if the text does not match, or a value is empty
 */
export function extractSetterValues(
  pattern: SetterPattern,
  text: string,
): ReadonlyMap<string, string> {
  for (const line of text.split('\n')) {
    const values = matchLine(pattern.literals, line)
    if (values === undefined) continue
    return values.includes('')
      ? new Map()
      : new Map(pattern.setters.map((name, index) => [name, values[index] ?? '']))
  }
  return new Map()
}

function matchLine(literals: readonly string[], line: string): string[] | undefined {
  const [first = ''] = literals
  const start = line.indexOf(first)
  if (start === -1) return undefined
  const backwards: string[] = []
  let end = line.length
  for (let index = literals.length - 1; index > 0; index -= 1) {
    const literal = literals[index] ?? ''
    const at = end < literal.length ? -1 : line.lastIndexOf(literal, end - literal.length)
    if (at === -1) return undefined
    if (index < literals.length - 1) backwards.push(line.slice(at + literal.length, end))
    end = at
  }
  if (start + first.length > end) return undefined
  if (literals.length > 1) backwards.push(line.slice(start + first.length, end))
  return backwards.reverse()
}

/** As `\$\{([^}]*)\}` finds them. */
function findReferences(text: string): (readonly [start: number, end: number])[] {
  const found: [number, number][] = []
  for (let start = text.indexOf('${'); start !== -1; ) {
    const close = text.indexOf('}', start)
    if (close === -1) break
    found.push([start, close + 1])
    start = text.indexOf('${', close + 1)
  }
  return found
}

/** Repeated setters make the search expensive. */
const MAX_STEPS = 50_000
const MAX_FOUND = 16
const MAX_SETTERS = 200
const MAX_WANTED = 65_536

export type SetterChanges = ReadonlyMap<string, string>

type PatternInversion =
  /** Without changes if the text is already present. */
  | { readonly is: 'one'; readonly changes: SetterChanges }
  /** Equally few setters change; incomplete if there may be more. */
  | { readonly is: 'several'; readonly ways: readonly SetterChanges[]; readonly complete: boolean }
  | { readonly is: 'none' }
  | { readonly is: 'too-hard' }

/**
 * With as few changed setters as possible. For `${a}-${b}` with `a` x and `b` y, `x-z` changes only
 * `b`, so does `x-y-z`, and `p-q-r` is ambiguous. Every returned way was expanded and gives the
 * text.
 * @param current a setter without a value needs one
 */
export function invertPattern(
  pattern: SetterPattern,
  current: ReadonlyMap<string, string>,
  wanted: string,
): PatternInversion {
  if (matchesExpansion(pattern, current, wanted)) return { is: 'one', changes: new Map() }
  if (pattern.setters.length > MAX_SETTERS || wanted.length > MAX_WANTED) return { is: 'too-hard' }
  const search = new InversionSearch(pattern, current, wanted)
  const most = new Set(pattern.setters).size
  for (let changes = 1; changes <= most && search.found.size === 0 && search.complete; changes += 1)
    search.run(changes)
  const ways = [...search.found.values()]
  const [first, second] = ways
  if (first === undefined) return { is: search.complete ? 'none' : 'too-hard' }
  if (second !== undefined) return { is: 'several', ways, complete: search.complete }
  return search.complete ? { is: 'one', changes: first } : { is: 'too-hard' }
}

function matchesExpansion(
  pattern: SetterPattern,
  values: ReadonlyMap<string, string>,
  wanted: string,
): boolean {
  const expanded = expandPattern(pattern, values)
  return expanded.is === 'text' && expanded.text === wanted
}

class InversionSearch {
  readonly found = new Map<string, SetterChanges>()
  complete = true
  private steps = 0
  private readonly pattern: SetterPattern
  private readonly current: ReadonlyMap<string, string>
  private readonly wanted: string

  constructor(pattern: SetterPattern, current: ReadonlyMap<string, string>, wanted: string) {
    this.pattern = pattern
    this.current = current
    this.wanted = wanted
  }

  run(changes: number): void {
    const first = this.getLiteral(0)
    if (this.wanted.startsWith(first)) this.matchAt(0, first.length, new Map(), changes)
  }

  private matchAt(
    index: number,
    start: number,
    values: ReadonlyMap<string, string>,
    left: number,
  ): void {
    this.steps += 1
    if (this.steps > MAX_STEPS || this.found.size >= MAX_FOUND) this.complete = false
    if (!this.complete) return
    const name = this.pattern.setters[index]
    if (name === undefined) {
      if (start === this.wanted.length) this.keep(values)
      return
    }
    const chosen = values.get(name)
    const now = this.current.get(name)
    const value = chosen ?? now
    if (value !== undefined && this.wanted.startsWith(value, start)) {
      this.matchNext(
        index,
        start + value.length,
        chosen === undefined ? new Map(values).set(name, value) : values,
        left,
      )
    }
    if (chosen !== undefined || left === 0) return
    for (const end of this.listEnds(index, start)) {
      const other = this.wanted.slice(start, end)
      if (other !== now) this.matchNext(index, end, new Map(values).set(name, other), left - 1)
      if (!this.complete) return
    }
  }

  private matchNext(
    index: number,
    end: number,
    values: ReadonlyMap<string, string>,
    left: number,
  ): void {
    const literal = this.getLiteral(index + 1)
    if (this.wanted.startsWith(literal, end))
      this.matchAt(index + 1, end + literal.length, values, left)
  }

  private *listEnds(index: number, start: number): Generator<number> {
    const literal = this.getLiteral(index + 1)
    if (index === this.pattern.setters.length - 1) {
      const end = this.wanted.length - literal.length
      if (end >= start) yield end
      return
    }
    for (
      let end = this.wanted.indexOf(literal, start);
      end !== -1;
      end = this.wanted.indexOf(literal, end + 1)
    ) {
      yield end
      if (end === this.wanted.length) return
    }
  }

  private keep(values: ReadonlyMap<string, string>): void {
    const changes = new Map([...values].filter(([name, value]) => this.current.get(name) !== value))
    if (matchesExpansion(this.pattern, new Map([...this.current, ...changes]), this.wanted))
      this.found.set(JSON.stringify([...changes]), changes)
  }

  private getLiteral(index: number): string {
    return this.pattern.literals[index] ?? ''
  }
}
