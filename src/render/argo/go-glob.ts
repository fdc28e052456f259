/** Patterns of paths as Argo CD has them (gobwas/glob 0.2.3 without separators): `*` and `**` are any text, `?` one character, `[a-c]`, `[!abc]`, `{a,b}`. */

type Part =
  | { readonly kind: 'any' }
  | { readonly kind: 'one'; readonly accepts: (character: string) => boolean }
  | { readonly kind: 'choice'; readonly of: readonly (readonly Part[])[] }

/** A pattern that is not valid matches nothing. Takes time by the product of both lengths. */
export function matchesGoGlob(pattern: string, text: string): boolean {
  const parts = new PatternReader(pattern).whole()
  const characters = [...text]
  return parts !== undefined && ends(parts, characters, new Set([0])).has(characters.length)
}

/** Where the parts can end that begin at one of the places. */
function ends(parts: readonly Part[], text: readonly string[], begins: ReadonlySet<number>): ReadonlySet<number> {
  let places = begins
  for (const part of parts) places = endsOf(part, text, places)
  return places
}

function endsOf(part: Part, text: readonly string[], begins: ReadonlySet<number>): ReadonlySet<number> {
  if (part.kind === 'choice') return new Set(part.of.flatMap((each) => [...ends(each, text, begins)]))
  if (part.kind === 'one') return new Set([...begins].filter((at) => at < text.length && part.accepts(text[at] ?? '')).map((at) => at + 1))
  const [first] = [...begins].sort((one, other) => one - other)
  return new Set(first === undefined ? [] : Array.from({ length: text.length - first + 1 }, (_, at) => first + at))
}

class PatternReader {
  private readonly characters: readonly string[]
  private at = 0

  constructor(pattern: string) {
    this.characters = [...pattern]
  }

  whole(): readonly Part[] | undefined {
    const parts = this.sequence(false)
    return this.at >= this.characters.length ? parts : undefined
  }

  private sequence(isInChoice: boolean): readonly Part[] | undefined {
    const parts: Part[] = []
    for (let sign = this.characters[this.at]; sign !== undefined; sign = this.characters[this.at]) {
      if (isInChoice && (sign === ',' || sign === '}')) break
      this.at += 1
      const part = this.part(sign)
      if (part === undefined) return undefined
      parts.push(part)
    }
    return parts
  }

  private part(sign: string): Part | undefined {
    if (sign === '*') return { kind: 'any' }
    if (sign === '?') return { kind: 'one', accepts: () => true }
    if (sign === '[') return this.characterClass()
    if (sign === '{') return this.choice()
    const literal = sign === '\\' ? this.characters[this.at++] : sign
    return literal === undefined ? undefined : { kind: 'one', accepts: (character) => character === literal }
  }

  private characterClass(): Part | undefined {
    const end = this.characters.indexOf(']', this.at)
    if (end === -1) return undefined
    const all = this.characters.slice(this.at, end)
    this.at = end + 1
    const isNot = all[0] === '!'
    const [low = '', dash, high = '', more] = isNot ? all.slice(1) : all
    const isRange = dash === '-' && high !== '' && more === undefined
    const listed = isNot ? all.slice(1) : all
    const has = (character: string): boolean => (isRange ? character >= low && character <= high : listed.includes(character))
    return listed.length === 0 ? undefined : { kind: 'one', accepts: (character) => has(character) !== isNot }
  }

  private choice(): Part | undefined {
    const of: (readonly Part[])[] = []
    for (;;) {
      const parts = this.sequence(true)
      if (parts === undefined) return undefined
      of.push(parts)
      const sign = this.characters[this.at]
      this.at += 1
      // An open choice ends with the pattern.
      if (sign !== ',') return { kind: 'choice', of }
    }
  }
}
