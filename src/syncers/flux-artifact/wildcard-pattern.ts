/** Each character is a byte. */
export type ByteText = string

export function convertToByteText(text: string): ByteText {
  // Nearly all paths and patterns are ASCII.
  if (!/[^\0-\x7f]/.test(text)) return text
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('')
}

/** Undefined if it is not UTF-8. */
export function decodeByteText(bytes: ByteText): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)),
    )
  } catch {
    return undefined
  }
}

const CHARACTER =
  /[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\s\S]/y

/** An invalid byte counts as a character. */
export function splitCharacters(text: ByteText): string[] {
  return text.match(new RegExp(CHARACTER, 'g')) ?? []
}

export function decodeCharacter(bytes: ByteText): string {
  return decodeByteText(bytes) ?? '\ufffd'
}

function getFirstCharacter(text: ByteText, at: number): ByteText {
  CHARACTER.lastIndex = at
  return CHARACTER.exec(text)?.[0] ?? ''
}

type Single = { readonly literal: ByteText } | { readonly accepts: (character: string) => boolean }
interface Chunk {
  readonly star: boolean
  readonly singles: readonly Single[]
}

/**
 * As Go's `path.Match`, but `*` and `?` also match `/`, over UTF-8: a text may be cut inside of a
 * character, and `?` then matches one byte. Undefined if malformed; such a pattern matches nothing.
 */
export function parseWildcardPattern(pattern: ByteText): readonly Chunk[] | undefined {
  const characters = splitCharacters(pattern)
  const chunks: { star: boolean; singles: Single[] }[] = [{ star: false, singles: [] }]
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? ''
    const singles = chunks.at(-1)?.singles ?? []
    if (character === '*') chunks.push({ star: true, singles: [] })
    else if (character === '?') singles.push({ accepts: () => true })
    else if (character === '\\') {
      at += 1
      if (at === characters.length) return undefined
      singles.push({ literal: characters[at] ?? '' })
    } else if (character === '[') {
      const read = readClass(characters, at + 1)
      if (read === undefined) return undefined
      singles.push(read)
      at = read.last
    } else singles.push({ literal: character })
  }
  return chunks.filter(
    ({ star, singles }, index) => singles.length > 0 || (star && index === chunks.length - 1),
  )
}

function readClass(
  characters: readonly string[],
  start: number,
): { readonly accepts: (character: string) => boolean; readonly last: number } | undefined {
  const isNegated = characters[start] === '^'
  let at = isNegated ? start + 1 : start
  const ranges: (readonly [number, number])[] = []
  const one = (): number | undefined => {
    const first = characters[at]
    if (first === undefined || first === '-' || first === ']') return undefined
    if (first === '\\') at += 1
    const bytes = characters[at] ?? ''
    at += 1
    return at < characters.length ? decodeByteText(bytes)?.codePointAt(0) : undefined
  }
  while (characters[at] !== ']' || ranges.length === 0) {
    const from = one()
    if (from === undefined) return undefined
    let to: number | undefined = from
    if (characters[at] === '-') {
      at += 1
      to = one()
    }
    if (to === undefined) return undefined
    ranges.push([from, to])
  }
  const isIn = (code: number): boolean => ranges.some(([from, to]) => from <= code && code <= to)
  return { accepts: (character) => isIn(character.codePointAt(0) ?? 0) !== isNegated, last: at }
}

/** Each chunk takes its first match; the last one must reach the end. */
export function matchesPattern(chunks: readonly Chunk[], text: ByteText): boolean {
  let at = 0
  for (const [index, { star, singles }] of chunks.entries()) {
    const isLast = index === chunks.length - 1
    if (isLast && star && singles.length === 0) return true
    const lastPlace = star ? text.length : at
    let end: number | undefined
    for (let place = at; end === undefined && place <= lastPlace; place += 1) {
      const found = getEnd(singles, text, place)
      if (!isLast || found === text.length) end = found
    }
    if (end === undefined) return false
    at = end
  }
  return at === text.length
}

function getEnd(singles: readonly Single[], text: ByteText, start: number): number | undefined {
  let at = start
  for (const single of singles) {
    if (at >= text.length) return undefined
    if ('literal' in single) {
      if (!text.startsWith(single.literal, at)) return undefined
      at += single.literal.length
    } else {
      const bytes = getFirstCharacter(text, at)
      if (!single.accepts(decodeCharacter(bytes))) return undefined
      at += bytes.length
    }
  }
  return at
}
