/**
 * Matches globs as gobwas/glob 0.2.3 does without separators: `*` and `**` match any text, `?` one
 * character, and `[a-c]`, `[!abc]` and `{a,b}` are supported.
 */

type Part =
  | { readonly kind: 'any' }
  | {
      readonly kind: 'one'
      readonly accepts: (character: string) => boolean
      readonly literal?: string
    }
  | { readonly kind: 'choice'; readonly of: readonly (readonly Part[])[] }

/** An invalid pattern matches nothing. Time is proportional to the product of both lengths. */
export function matchesGoGlob(pattern: string, text: string): boolean {
  const parts = new PatternReader(pattern).parseWhole()
  return parts !== undefined && isWhole(parts, text)
}

/**
 * If a choice with other parts than plain texts has something next to it, or its alternatives begin
 * or end alike, Argo CD's library miscalculates the length of an alternative; some patterns crash
 * its process.
 */
export function hasSureBraces(pattern: string): boolean {
  const parts = new PatternReader(pattern).parseWhole() ?? []
  const choices = parts.flatMap((part) => (part.kind === 'choice' ? [part.of] : []))
  if (choices.length === 0) return true
  if (
    choices.some(
      (of) =>
        (of.length < 2 && parts.length > 1) || of.flat().some(({ kind }) => kind === 'choice'),
    )
  )
    return false
  if (choices.every((of) => of.every(isPlain)) && (parts.length === 1 || !isOpen(pattern)))
    return true
  const [only] = choices
  return only !== undefined && parts.length === 1 && omitAlike(only).every(isPlain)
}

function omitAlike(alternatives: readonly (readonly Part[])[]): readonly (readonly Part[])[] {
  const words = alternatives.map(listWords)
  const [first = []] = words
  if (words.length === 1) return []
  const least = Math.min(...words.map(({ length }) => length))
  let start = 0
  while (start < least && words.every((each) => each[start] === first[start])) start += 1
  let end = 0
  while (end < least - start && words.every((each) => each.at(-1 - end) === first.at(-1 - end)))
    end += 1
  if (start + end === 0) return []
  const rest = words.map((each) => each.slice(start, each.length - end))
  const isText = (each: readonly string[]): boolean =>
    each.length === 1 && each[0]?.startsWith('\0') === false
  return rest.map((each) => (isText(each) ? [...(each[0] ?? '')].map(createPart) : []))
}

function listWords(parts: readonly Part[]): readonly string[] {
  const words: string[] = []
  let isText = false
  for (const part of parts) {
    const literal = part.kind === 'one' ? part.literal : undefined
    if (literal !== undefined && isText) words.push(`${words.pop()}${literal}`)
    else words.push(literal ?? (part.kind === 'any' ? '\0*' : '\0?'))
    isText = literal !== undefined
  }
  return words
}

function createPart(sign: string): Part {
  return { kind: 'one', accepts: (character) => character === sign, literal: sign }
}

function isPlain(parts: readonly Part[]): boolean {
  return (
    parts.length > 0 && parts.every((part) => part.kind === 'one' && part.literal !== undefined)
  )
}

function isOpen(pattern: string): boolean {
  return pattern.lastIndexOf('{') > pattern.lastIndexOf('}')
}

/**
 * In a text, an asterisk and a text, the library lets both texts overlap: `sub/*` followed by
 * `/a.yaml` matches `sub/a.yaml`.
 */
function isWhole(parts: readonly Part[], text: string): boolean {
  const [only] = parts
  if (parts.length === 1 && only?.kind === 'choice')
    return only.of.some((each) => isWhole(each, text))
  const first = parts.findIndex(({ kind }) => kind === 'any')
  const last = parts.findLastIndex(({ kind }) => kind === 'any')
  const [before, between, after] = [
    parts.slice(0, first),
    parts.slice(first, last),
    parts.slice(last + 1),
  ]
  if (
    first !== -1 &&
    isPlain(before) &&
    isPlain(after) &&
    between.every(({ kind }) => kind === 'any')
  )
    return text.startsWith(getLiteral(before)) && text.endsWith(getLiteral(after))
  const characters = [...text]
  return findEnds(parts, characters, new Set([0])).has(characters.length)
}

function getLiteral(parts: readonly Part[]): string {
  return parts.map((part) => (part.kind === 'one' ? part.literal : '')).join('')
}

function findEnds(
  parts: readonly Part[],
  text: readonly string[],
  begins: ReadonlySet<number>,
): ReadonlySet<number> {
  let places = begins
  for (const part of parts) places = findPartEnds(part, text, places)
  return places
}

function findPartEnds(
  part: Part,
  text: readonly string[],
  begins: ReadonlySet<number>,
): ReadonlySet<number> {
  if (part.kind === 'choice')
    return new Set(part.of.flatMap((each) => [...findEnds(each, text, begins)]))
  if (part.kind === 'one')
    return new Set(
      [...begins]
        .filter((at) => at < text.length && part.accepts(text[at] ?? ''))
        .map((at) => at + 1),
    )
  const [first] = [...begins].sort((one, other) => one - other)
  return new Set(
    first === undefined
      ? []
      : Array.from({ length: text.length - first + 1 }, (_, at) => first + at),
  )
}

class PatternReader {
  private readonly characters: readonly string[]
  private at = 0

  constructor(pattern: string) {
    this.characters = [...pattern]
  }

  parseWhole(): readonly Part[] | undefined {
    const parts = this.parseSequence(false)
    return this.at >= this.characters.length ? parts : undefined
  }

  private parseSequence(isInChoice: boolean): readonly Part[] | undefined {
    const parts: Part[] = []
    for (let sign = this.characters[this.at]; sign !== undefined; sign = this.characters[this.at]) {
      if (isInChoice && (sign === ',' || sign === '}')) break
      this.at += 1
      const part = this.parsePart(sign)
      if (part === undefined) return undefined
      parts.push(part)
    }
    return parts
  }

  private parsePart(sign: string): Part | undefined {
    if (sign === '*') return { kind: 'any' }
    if (sign === '?') return { kind: 'one', accepts: () => true }
    if (sign === '[') return this.parseCharacterClass()
    if (sign === '{') return this.parseChoice()
    const literal = sign === '\\' ? this.characters[this.at++] : sign
    return literal === undefined ? undefined : createPart(literal)
  }

  private parseCharacterClass(): Part | undefined {
    const end = this.characters.indexOf(']', this.at)
    if (end === -1) return undefined
    const all = this.characters.slice(this.at, end)
    this.at = end + 1
    const isNot = all[0] === '!'
    const [low = '', dash, high, more] = isNot ? all.slice(1) : all
    const isRange = dash === '-' && more === undefined
    const listed = isNot ? all.slice(1) : all
    const has = (character: string): boolean =>
      isRange && high !== undefined
        ? character >= low && character <= high
        : listed.includes(character)
    return listed.length === 0
      ? undefined
      : { kind: 'one', accepts: (character) => has(character) !== isNot }
  }

  private parseChoice(): Part | undefined {
    const of: (readonly Part[])[] = []
    for (;;) {
      const parts = this.parseSequence(true)
      if (parts === undefined) return undefined
      of.push(parts)
      const sign = this.characters[this.at]
      this.at += 1
      if (sign !== ',') return { kind: 'choice', of }
    }
  }
}
