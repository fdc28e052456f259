/**
 * Substitutes variables as `postBuild` of a Flux Kustomization does (fluxcd/pkg `envsubst` 1.5.0, a
 * fork of drone/envsubst): defaults, substrings, case changes, prefix and suffix removal, and
 * replacement; their parameters may contain variables. `$${` means `${`. Every other operator gives
 * the default, even `:+` and `:?`.
 */
import {
  type ByteText,
  convertToByteText,
  decodeByteText,
  decodeCharacter,
  matchesPattern,
  parseWildcardPattern,
  splitCharacters,
} from '../../syncers/flux-artifact/wildcard-pattern.ts'

type Expression =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'variable'
      readonly name: string
      readonly operator: string
      readonly parameters: readonly Expression[]
    }

export class BadSubstitution extends Error {}

/**
 * @param lookUp undefined for an unset variable, which counts as empty
 * @throws BadSubstitution
 */
export function substituteVariables(
  text: string,
  lookUp: (name: string) => string | undefined,
): string {
  const bytes = new ExpressionReader(text)
    .parseWhole()
    .map((expression) => evaluate(expression, lookUp))
    .join('')
  const result = decodeByteText(bytes)
  if (result === undefined) throw new BadSubstitution('a character was cut in two')
  return result
}

/**
 * Also in parameters.
 * @throws BadSubstitution
 */
export function parseVariableNames(text: string): ReadonlySet<string> {
  const names = new Set<string>()
  const collect = (expression: Expression): void => {
    if (expression.kind === 'text') return
    names.add(expression.name)
    expression.parameters.forEach(collect)
  }
  new ExpressionReader(text).parseWhole().forEach(collect)
  return names
}

const NAME = /[\p{L}\p{Nd}_]+/uy
const ESCAPED: ReadonlySet<string> = new Set(['$$', '\\/', '\\\\'])

class ExpressionReader {
  private readonly text: string
  private at = 0

  constructor(text: string) {
    this.text = text
  }

  parseWhole(): readonly Expression[] {
    const found: Expression[] = []
    while (this.at < this.text.length)
      found.push(
        this.isAtExpression()
          ? this.parseExpression()
          : this.parseLiteral(() => true, new Set(['$$'])),
      )
    return found
  }

  private isAtExpression(): boolean {
    return this.text.startsWith('${', this.at)
  }

  private get next(): string {
    return this.text[this.at] ?? ''
  }

  private parseLiteral(
    accepts: (character: string) => boolean,
    escapes: ReadonlySet<string> = new Set(),
  ): Expression {
    let text = ''
    while (this.at < this.text.length && !this.isAtExpression()) {
      const pair = this.text.slice(this.at, this.at + 2)
      if (escapes.has(pair)) {
        text += pair.slice(1)
        this.at += 2
        continue
      }
      if (!accepts(this.next)) break
      text += this.next
      this.at += 1
    }
    return { kind: 'text', text }
  }

  private parseExpression(): Expression {
    this.at += 2
    if (this.next === '#') {
      this.at += 1
      return this.closeExpression({
        kind: 'variable',
        name: this.name(),
        operator: '#',
        parameters: [],
      })
    }
    const name = this.name()
    switch (this.next) {
      case ':':
        return /[=\-?+]/.test(this.text[this.at + 1] ?? '')
          ? this.parseDefault(name, 2)
          : this.parseSubstring(name)
      case '=':
        return this.parseDefault(name, 1)
      case ',':
      case '^':
        return this.closeExpression({
          kind: 'variable',
          name,
          operator: this.parseOperator(/[,^]{1,2}/y),
          parameters: [],
        })
      case '/':
        return this.parseReplacement(name)
      case '#':
        return this.parseRemoval(name, /#{1,2}/y)
      case '%':
        return this.parseRemoval(name, /%{1,2}/y)
      default:
        if (this.next !== '}') throw new BadSubstitution('missing closing brace')
        return this.closeExpression({ kind: 'variable', name, operator: '', parameters: [] })
    }
  }

  private name(): string {
    const name = this.match(NAME)
    if (name === undefined) throw new BadSubstitution('unable to parse variable name')
    return name
  }

  private parseOperator(pattern: RegExp): string {
    return this.match(pattern) ?? ''
  }

  private match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.text)?.[0]
    this.at += found?.length ?? 0
    return found
  }

  private closeExpression(expression: Expression): Expression {
    if (this.next !== '}') throw new BadSubstitution('bad substitution')
    this.at += 1
    return expression
  }

  private parseParameter(
    accepts: (character: string) => boolean,
    escapes?: ReadonlySet<string>,
  ): Expression {
    if (this.isAtExpression()) return this.parseExpression()
    const start = this.at
    const literal = this.parseLiteral(accepts, escapes)
    if (this.at === start) throw new BadSubstitution('unable to parse substitution within function')
    return literal
  }

  private parseDefault(name: string, length: number): Expression {
    const operator = this.text.slice(this.at, this.at + length)
    this.at += length
    const parameters: Expression[] = []
    while (this.next !== '}') parameters.push(this.parseParameter((character) => character !== '}'))
    return this.closeExpression({ kind: 'variable', name, operator, parameters })
  }

  private parseSubstring(name: string): Expression {
    this.at += 1
    if (this.next > '\u007f') throw new BadSubstitution('bad substitution')
    const parameters = [this.parseParameter((character) => character !== ':' && character !== '}')]
    if (this.next === '}')
      return this.closeExpression({ kind: 'variable', name, operator: ':', parameters })
    if (this.match(/:+/y) === undefined) throw new BadSubstitution('bad substitution')
    parameters.push(this.parseParameter((character) => character !== '}'))
    return this.closeExpression({ kind: 'variable', name, operator: ':', parameters })
  }

  private parseRemoval(name: string, pattern: RegExp): Expression {
    const operator = this.parseOperator(pattern)
    return this.closeExpression({
      kind: 'variable',
      name,
      operator,
      parameters: [this.parseParameter((character) => character !== '}')],
    })
  }

  private parseReplacement(name: string): Expression {
    const operator = this.parseOperator(/\/[/#%]?/y)
    const parameters = [this.parseParameter((character) => character !== '/', ESCAPED)]
    if (this.match(/\/+/y) === undefined) throw new BadSubstitution('bad substitution')
    if (this.next !== '}')
      parameters.push(this.parseParameter((character) => character !== '}', ESCAPED))
    return this.closeExpression({ kind: 'variable', name, operator, parameters })
  }
}

function evaluate(expression: Expression, lookUp: (name: string) => string | undefined): ByteText {
  if (expression.kind === 'text') return convertToByteText(expression.text)
  const parameters = expression.parameters.map((parameter) => evaluate(parameter, lookUp))
  return applyOperator(
    expression.operator,
    convertToByteText(lookUp(expression.name) ?? ''),
    parameters,
  )
}

function applyOperator(
  operator: string,
  value: ByteText,
  parameters: readonly ByteText[],
): ByteText {
  const [first = '', second = ''] = parameters
  switch (operator) {
    case ',':
      return mapFirst(value, lower)
    case ',,':
      return mapEach(value, lower)
    case '^':
      return mapFirst(value, convertToUpper)
    case '^^':
      return mapEach(value, convertToUpper)
    case '#':
      return parameters.length === 0 ? String(value.length) : removePrefix(value, first, 'shortest')
    case '##':
      return removePrefix(value, first, 'longest')
    case '%':
      return reverseText(removePrefix(reverseText(value), reverseText(first), 'shortest'))
    case '%%':
      return reverseText(removePrefix(reverseText(value), reverseText(first), 'longest'))
    case ':':
      return getSubstring(value, parameters)
    case '/':
      return replaceText(value, first, second, 1)
    case '//':
      return replaceText(value, first, second, Number.POSITIVE_INFINITY)
    case '/#':
      return parameters.length === 2 && value.startsWith(first)
        ? replaceText(value, first, second, 1)
        : value
    case '/%':
      return parameters.length === 2 && value.endsWith(first)
        ? value.slice(0, value.length - first.length) + second
        : value
    default:
      return value === '' ? parameters.join('') : value
  }
}

const lower = (character: string): string => convertToSingle(character, character.toLowerCase())
const convertToUpper = (character: string): string =>
  convertToSingle(character, character.toUpperCase())

/** Go maps a character to one character. */
function convertToSingle(character: string, mapped: string): string {
  if ([...mapped].length === 1) return mapped
  const code = character.codePointAt(0) ?? 0
  if (code === 0x130) return 'i'
  // Greek letters with iota subscript: Unicode's mapping to a single character is the title case.
  if (code >= 0x1f80 && code <= 0x1faf) return String.fromCodePoint(code | 8)
  return code === 0x1fb3 || code === 0x1fc3 || code === 0x1ff3
    ? String.fromCodePoint(code + 9)
    : character
}

function mapEach(text: ByteText, map: (character: string) => string): ByteText {
  return splitCharacters(text)
    .map((bytes) => convertToByteText(map(decodeCharacter(bytes))))
    .join('')
}

function mapFirst(text: ByteText, map: (character: string) => string): ByteText {
  const [first] = splitCharacters(text)
  return first === undefined
    ? ''
    : convertToByteText(map(decodeCharacter(first))) + text.slice(first.length)
}

/** Positions count bytes. An invalid position or length leaves the text unchanged. */
function getSubstring(value: ByteText, [position = '', length]: readonly ByteText[]): ByteText {
  const from = parseInteger(position)
  const count = length === undefined ? value.length : parseInteger(length)
  if (from === undefined || count === undefined) return value
  const start = from < 0 ? Math.max(0, value.length + from) : from
  if (start + count >= value.length) return value.slice(start)
  // Go's slice panics there, and Flux ends the reconciliation.
  if (count < 0) throw new BadSubstitution('slice bounds out of range')
  return value.slice(start, start + count)
}

function parseInteger(text: string): number | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined
  const value = BigInt(text.replace('+', ''))
  return BigInt.asIntN(64, value) === value ? Number(value) : undefined
}

function replaceText(value: ByteText, wanted: ByteText, by: ByteText, most: number): ByteText {
  if (wanted !== '')
    return most === 1 ? value.replace(wanted, () => by) : value.replaceAll(wanted, () => by)
  return most === 1
    ? by + value
    : splitCharacters(value)
        .map((character) => by + character)
        .join('') + by
}

function reverseText(text: ByteText): ByteText {
  return splitCharacters(text)
    .reverse()
    .map((bytes) => convertToByteText(decodeCharacter(bytes)))
    .join('')
}

/** An empty match removes nothing. */
function removePrefix(value: ByteText, text: ByteText, which: 'shortest' | 'longest'): ByteText {
  const pattern = parseWildcardPattern(text)
  if (pattern === undefined) return value
  const lengths = Array.from(value, (_each, index) => index + 1)
  const found = (which === 'shortest' ? lengths : lengths.toReversed()).find((length) =>
    matchesPattern(pattern, value.slice(0, length)),
  )
  return found === undefined ? value : value.slice(found)
}
