/**
 * As `postBuild` of a Flux Kustomization (fluxcd/pkg `envsubst` 1.5.0, a fork of drone/envsubst):
 * defaults, substrings, case changes, prefix and suffix removal, and replacement; their parameters
 * may contain variables. `$${` means `${`. Every other operator gives the default, even `:+` and
 * `:?`.
 */
import {
  type ByteText,
  bytesOf,
  characterOf,
  charactersOf,
  matchesPattern,
  textOfBytes,
  wildcardPattern,
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
    .whole()
    .map((expression) => evaluate(expression, lookUp))
    .join('')
  const result = textOfBytes(bytes)
  if (result === undefined) throw new BadSubstitution('a character was cut in two')
  return result
}

/**
 * Also in parameters.
 * @throws BadSubstitution
 */
export function variablesIn(text: string): ReadonlySet<string> {
  const names = new Set<string>()
  const collect = (expression: Expression): void => {
    if (expression.kind === 'text') return
    names.add(expression.name)
    expression.parameters.forEach(collect)
  }
  new ExpressionReader(text).whole().forEach(collect)
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

  whole(): readonly Expression[] {
    const found: Expression[] = []
    while (this.at < this.text.length)
      found.push(this.opens() ? this.expression() : this.literal(() => true, new Set(['$$'])))
    return found
  }

  private opens(): boolean {
    return this.text.startsWith('${', this.at)
  }

  private get next(): string {
    return this.text[this.at] ?? ''
  }

  private literal(
    accepts: (character: string) => boolean,
    escapes: ReadonlySet<string> = new Set(),
  ): Expression {
    let text = ''
    while (this.at < this.text.length && !this.opens()) {
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

  private expression(): Expression {
    this.at += 2
    if (this.next === '#') {
      this.at += 1
      return this.closed({ kind: 'variable', name: this.name(), operator: '#', parameters: [] })
    }
    const name = this.name()
    switch (this.next) {
      case ':':
        return /[=\-?+]/.test(this.text[this.at + 1] ?? '')
          ? this.withDefault(name, 2)
          : this.substring(name)
      case '=':
        return this.withDefault(name, 1)
      case ',':
      case '^':
        return this.closed({
          kind: 'variable',
          name,
          operator: this.operator(/[,^]{1,2}/y),
          parameters: [],
        })
      case '/':
        return this.replacement(name)
      case '#':
        return this.removal(name, /#{1,2}/y)
      case '%':
        return this.removal(name, /%{1,2}/y)
      default:
        if (this.next !== '}') throw new BadSubstitution('missing closing brace')
        return this.closed({ kind: 'variable', name, operator: '', parameters: [] })
    }
  }

  private name(): string {
    const name = this.match(NAME)
    if (name === '') throw new BadSubstitution('unable to parse variable name')
    return name
  }

  private operator(pattern: RegExp): string {
    return this.match(pattern)
  }

  private match(pattern: RegExp): string {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.text)?.[0] ?? ''
    this.at += found.length
    return found
  }

  private closed(expression: Expression): Expression {
    if (this.next !== '}') throw new BadSubstitution('bad substitution')
    this.at += 1
    return expression
  }

  private parameter(
    accepts: (character: string) => boolean,
    escapes?: ReadonlySet<string>,
  ): Expression {
    if (this.opens()) return this.expression()
    const start = this.at
    const literal = this.literal(accepts, escapes)
    if (this.at === start) throw new BadSubstitution('unable to parse substitution within function')
    return literal
  }

  private withDefault(name: string, length: number): Expression {
    const operator = this.text.slice(this.at, this.at + length)
    this.at += length
    const parameters: Expression[] = []
    while (this.next !== '}') parameters.push(this.parameter((character) => character !== '}'))
    return this.closed({ kind: 'variable', name, operator, parameters })
  }

  private substring(name: string): Expression {
    this.at += 1
    if (this.next > '\u007f') throw new BadSubstitution('bad substitution')
    const parameters = [this.parameter((character) => character !== ':' && character !== '}')]
    if (this.next === '}') return this.closed({ kind: 'variable', name, operator: ':', parameters })
    if (this.match(/:+/y) === '') throw new BadSubstitution('bad substitution')
    parameters.push(this.parameter((character) => character !== '}'))
    return this.closed({ kind: 'variable', name, operator: ':', parameters })
  }

  private removal(name: string, pattern: RegExp): Expression {
    const operator = this.operator(pattern)
    return this.closed({
      kind: 'variable',
      name,
      operator,
      parameters: [this.parameter((character) => character !== '}')],
    })
  }

  private replacement(name: string): Expression {
    const operator = this.operator(/\/[/#%]?/y)
    const parameters = [this.parameter((character) => character !== '/', ESCAPED)]
    if (this.match(/\/+/y) === '') throw new BadSubstitution('bad substitution')
    if (this.next !== '}')
      parameters.push(this.parameter((character) => character !== '}', ESCAPED))
    return this.closed({ kind: 'variable', name, operator, parameters })
  }
}

function evaluate(expression: Expression, lookUp: (name: string) => string | undefined): ByteText {
  if (expression.kind === 'text') return bytesOf(expression.text)
  const parameters = expression.parameters.map((parameter) => evaluate(parameter, lookUp))
  return applied(expression.operator, bytesOf(lookUp(expression.name) ?? ''), parameters)
}

function applied(operator: string, value: ByteText, parameters: readonly ByteText[]): ByteText {
  const [first = '', second = ''] = parameters
  switch (operator) {
    case ',':
      return mapFirst(value, lower)
    case ',,':
      return mapEach(value, lower)
    case '^':
      return mapFirst(value, upper)
    case '^^':
      return mapEach(value, upper)
    case '#':
      return parameters.length === 0
        ? String(value.length)
        : withoutPrefix(value, first, 'shortest')
    case '##':
      return withoutPrefix(value, first, 'longest')
    case '%':
      return reversed(withoutPrefix(reversed(value), reversed(first), 'shortest'))
    case '%%':
      return reversed(withoutPrefix(reversed(value), reversed(first), 'longest'))
    case ':':
      return substringOf(value, parameters)
    case '/':
      return replaced(value, first, second, 1)
    case '//':
      return replaced(value, first, second, Number.POSITIVE_INFINITY)
    case '/#':
      return parameters.length === 2 && value.startsWith(first)
        ? replaced(value, first, second, 1)
        : value
    case '/%':
      return parameters.length === 2 && value.endsWith(first)
        ? value.slice(0, value.length - first.length) + second
        : value
    default:
      return value === '' ? parameters.join('') : value
  }
}

const lower = (character: string): string => single(character, character.toLowerCase())
const upper = (character: string): string => single(character, character.toUpperCase())

/** Go maps a character to one character. */
function single(character: string, mapped: string): string {
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
  return charactersOf(text)
    .map((bytes) => bytesOf(map(characterOf(bytes))))
    .join('')
}

function mapFirst(text: ByteText, map: (character: string) => string): ByteText {
  const [first = ''] = charactersOf(text)
  return first === '' ? '' : bytesOf(map(characterOf(first))) + text.slice(first.length)
}

/** Positions count bytes. An invalid position or length leaves the text unchanged. */
function substringOf(value: ByteText, [position = '', length]: readonly ByteText[]): ByteText {
  const from = integerOf(position)
  const count = length === undefined ? value.length : integerOf(length)
  if (from === undefined || count === undefined) return value
  const start = from < 0 ? Math.max(0, value.length + from) : from
  if (start + count >= value.length) return value.slice(start)
  // Go's slice panics there, and Flux ends the reconciliation.
  if (count < 0) throw new BadSubstitution('slice bounds out of range')
  return value.slice(start, start + count)
}

function integerOf(text: string): number | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined
  const value = BigInt(text.replace('+', ''))
  return BigInt.asIntN(64, value) === value ? Number(value) : undefined
}

function replaced(value: ByteText, wanted: ByteText, by: ByteText, most: number): ByteText {
  if (wanted !== '')
    return most === 1 ? value.replace(wanted, () => by) : value.replaceAll(wanted, () => by)
  return most === 1
    ? by + value
    : charactersOf(value)
        .map((character) => by + character)
        .join('') + by
}

function reversed(text: ByteText): ByteText {
  return charactersOf(text)
    .reverse()
    .map((bytes) => bytesOf(characterOf(bytes)))
    .join('')
}

/** An empty match removes nothing. */
function withoutPrefix(value: ByteText, text: ByteText, which: 'shortest' | 'longest'): ByteText {
  const pattern = wildcardPattern(text)
  if (pattern === undefined) return value
  const lengths = Array.from(value, (_each, index) => index + 1)
  const found = (which === 'shortest' ? lengths : lengths.toReversed()).find((length) =>
    matchesPattern(pattern, value.slice(0, length)),
  )
  return found === undefined ? value : value.slice(found)
}
