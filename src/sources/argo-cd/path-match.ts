/**
 * `*` and `?` match no `/`, `[a-c]`, `[^a]`, and `\` before a character. An invalid pattern matches
 * nothing.
 */
export function isFolderMatch(pattern: string, folder: string): boolean {
  return matches(pattern, folder, { isInside: (character) => character !== '/', negations: '^' })
}

/**
 * From the root: `*` and `?` match `/` too, and a folder is everything below it (gitglossary,
 * "pathspec").
 */
export function isFileMatch(pattern: string, path: string): boolean {
  const plain = pattern.replace(/^(?:\.\/+)+|^\.$/, '')
  const folder = plain.replace(/\/+$/, '')
  if (folder === '' || path.startsWith(`${folder}/`)) return true
  return folder === plain && matches(plain, path, { isInside: () => true, negations: '^!' })
}

interface Wildcards {
  readonly isInside: (character: string) => boolean
  readonly negations: string
}

type Part = ((character: string) => boolean) | undefined

function matches(pattern: string, path: string, wildcards: Wildcards): boolean {
  const [parts, text] = [parseParts(pattern, wildcards), [...path]]
  if (parts === undefined) return false
  let [at, part, star, from] = [0, 0, -1, 0]
  while (at < text.length) {
    const accepts = parts[part]
    if (part < parts.length && accepts === undefined) {
      ;[star, from] = [part, at]
      part += 1
    } else if (accepts?.(text[at] ?? '') === true) {
      at += 1
      part += 1
    } else if (star !== -1 && wildcards.isInside(text[from] ?? '')) {
      from += 1
      ;[at, part] = [from, star + 1]
    } else return false
  }
  return parts.slice(part).every((rest) => rest === undefined)
}

function parseParts(
  pattern: string,
  { isInside, negations }: Wildcards,
): readonly Part[] | undefined {
  const parts: Part[] = []
  const read = /\\([\s\S])|\[([\^!]?)((?:\\[\s\S]|[^\]\\])+)\]|([\s\S])/uy
  for (let at = 0; at < pattern.length; at = read.lastIndex) {
    read.lastIndex = at
    const [, literal, sign = '', set, single] = read.exec(pattern) ?? []
    if (literal !== undefined) parts.push((character) => character === literal)
    else if (set !== undefined) {
      const isNegated = sign !== '' && negations.includes(sign)
      const accepts = parseClass(isNegated ? set : `${sign}${set}`)
      if (accepts === undefined) return undefined
      parts.push((character) => isInside(character) && accepts(character) !== isNegated)
    } else if (single === undefined || single === '[' || single === '\\') return undefined
    else if (single === '*') parts.push(undefined)
    else parts.push(single === '?' ? isInside : (character) => character === single)
  }
  return parts
}

function parseClass(set: string): ((character: string) => boolean) | undefined {
  const characters = [...set.matchAll(/\\([\s\S])|([\s\S])/gu)].map(([, literal, plain]) => ({
    text: literal ?? plain ?? '',
    isDash: plain === '-',
  }))
  const ranges: (readonly [from: string, to: string])[] = []
  for (let at = 0; at < characters.length; at += 1) {
    const [from, dash, to] = [characters[at], characters[at + 1], characters[at + 2]]
    if (from === undefined || (from.isDash && at > 0)) return undefined
    const isRange = dash?.isDash === true && to !== undefined
    ranges.push([from.text, isRange ? to.text : from.text])
    if (isRange) at += 2
  }
  return (character) => ranges.some(([from, to]) => from <= character && character <= to)
}
