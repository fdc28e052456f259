/**
 * Label selectors of kubectl's `-l`: `app=web,tier in (a, b),!canary`, with the grammar and meaning of k8s.io/apimachinery v0.34.3,
 * pkg/labels/selector.go (docs/facts/label-selectors.md).
 */

export type LabelOperator = 'in' | 'notin' | 'exists' | 'absent' | 'above' | 'below'

/** One condition of a selector; all must hold. */
export interface LabelRequirement {
  readonly key: string
  readonly operator: LabelOperator
  /** Empty for `exists` and `absent`; one whole number for `above` and `below`. */
  readonly values: readonly string[]
}

export type LabelSelector = readonly LabelRequirement[]

/** The selector, or the problem as a clause. The empty text selects everything, as in kubectl. */
export function parseLabelSelector(text: string): { readonly selector: LabelSelector } | { readonly problem: string } {
  try {
    return { selector: new SelectorParser(tokensOf(text)).parse() }
  } catch (thrown) {
    if (thrown instanceof SelectorProblem) return { problem: thrown.message }
    throw thrown
  }
}

/** An absent label fulfils `notin`, `!=` and `!key`, and no other condition. */
export function matchesLabels(selector: LabelSelector, labels: ReadonlyMap<string, string>): boolean {
  return selector.every(({ key, operator, values }) => {
    const value = labels.get(key)
    if (operator === 'exists') return value !== undefined
    if (operator === 'absent') return value === undefined
    if (operator === 'notin') return value === undefined || !values.includes(value)
    if (value === undefined) return false
    if (operator === 'in') return values.includes(value)
    const [here, bound] = [wholeNumber(value), wholeNumber(values[0] ?? '')]
    if (here === undefined || bound === undefined) return false
    return operator === 'above' ? here > bound : here < bound
  })
}

class SelectorProblem extends Error {}

const SYMBOLS = ['==', '!=', '=', '!', '(', ')', ',', '>', '<'] as const
const OPERATORS: { readonly [token: string]: LabelOperator } = {
  '=': 'in',
  '==': 'in',
  '!=': 'notin',
  in: 'in',
  notin: 'notin',
  '>': 'above',
  '<': 'below',
}

/** `word` is a key or a value, or `in` and `notin`, which are operators behind a key. */
interface Token {
  readonly kind: (typeof SYMBOLS)[number] | 'word' | 'end'
  readonly text: string
}

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < text.length; ) {
    const symbol = SYMBOLS.find((each) => text.startsWith(each, at))
    const word = /^[^ \t\r\n=!(),><]+/.exec(text.slice(at))?.[0]
    if (symbol !== undefined) tokens.push({ kind: symbol, text: symbol })
    else if (word !== undefined) tokens.push({ kind: 'word', text: word })
    at += (symbol ?? word ?? ' ').length
  }
  return [...tokens, { kind: 'end', text: '' }]
}

const END: Token = { kind: 'end', text: '' }

class SelectorParser {
  private readonly tokens: readonly Token[]
  private at = 0

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens
  }

  parse(): LabelSelector {
    if (this.current().kind === 'end') return []
    const requirements: LabelRequirement[] = []
    for (;;) {
      requirements.push(this.requirement())
      const next = this.take()
      if (next.kind === 'end') return requirements
      if (next.kind !== ',') throw this.unexpected(next, 'a comma or the end')
    }
  }

  private requirement(): LabelRequirement {
    const absent = this.current().kind === '!'
    if (absent) this.take()
    const token = this.take()
    if (token.kind !== 'word') throw this.unexpected(token, absent ? 'a label' : 'a label or "!"')
    const key = token.text
    const problem = keyProblem(key)
    if (problem !== undefined) throw new SelectorProblem(`${JSON.stringify(key)} is no label name: ${problem}`)
    if (absent) return { key, operator: 'absent', values: [] }
    if (this.current().kind === 'end' || this.current().kind === ',') return { key, operator: 'exists', values: [] }
    const sign = this.take()
    const operator = Object.hasOwn(OPERATORS, sign.text) ? OPERATORS[sign.text] : undefined
    if (operator === undefined) throw this.unexpected(sign, 'in, notin, =, ==, !=, > or <')
    const values = sign.kind === 'word' ? this.set() : [this.value()]
    for (const value of values) this.checkValue(value, operator)
    return { key, operator, values }
  }

  /** `(a, b)`; an empty member is the empty value, as in apimachinery, also in `()`. */
  private set(): readonly string[] {
    const open = this.take()
    if (open.kind !== '(') throw this.unexpected(open, '"("')
    const values = new Set<string>()
    for (;;) {
      values.add(this.current().kind === 'word' ? this.take().text : '')
      const next = this.take()
      if (next.kind === ')') return [...values]
      if (next.kind !== ',') throw this.unexpected(next, 'a comma or ")"')
    }
  }

  private value(): string {
    if (this.current().kind === 'end' || this.current().kind === ',') return ''
    const token = this.take()
    if (token.kind !== 'word') throw this.unexpected(token, 'a value')
    return token.text
  }

  private checkValue(value: string, operator: LabelOperator): void {
    if ((operator === 'above' || operator === 'below') && wholeNumber(value) === undefined) {
      throw new SelectorProblem(`> and < compare whole numbers, and ${JSON.stringify(value)} is none`)
    }
    if (value.length > 63 || !/^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/.test(value)) {
      throw new SelectorProblem(
        `${JSON.stringify(value)} is no label value: at most 63 letters, digits, "-", "_" and ".", with a letter or digit at both ends`,
      )
    }
  }

  private current(): Token {
    return this.tokens[this.at] ?? END
  }

  private take(): Token {
    const token = this.current()
    this.at += 1
    return token
  }

  private unexpected(token: Token, wanted: string): SelectorProblem {
    return new SelectorProblem(`found ${token.kind === 'end' ? 'the end' : JSON.stringify(token.text)} where ${wanted} is wanted`)
  }
}

/** A qualified name: `name` or `dns.prefix/name`. */
function keyProblem(key: string): string | undefined {
  const parts = key.split('/')
  const name = parts.at(-1) ?? ''
  const prefix = parts.length === 2 ? parts[0] : undefined
  if (parts.length > 2) return 'it has more than one "/"'
  if (prefix !== undefined && (prefix.length > 253 || !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(prefix))) {
    return 'what stands before "/" is a DNS name in lower case'
  }
  if (name.length > 63 || !/^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/.test(name)) {
    return 'at most 63 letters, digits, "-", "_" and ".", with a letter or digit at both ends'
  }
  return undefined
}

/** A signed 64-bit number, as of Go's strconv.ParseInt. */
function wholeNumber(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]{1,30}$/.test(text)) return undefined
  const number = BigInt(text.replace(/^\+/, ''))
  return BigInt.asIntN(64, number) === number ? number : undefined
}
