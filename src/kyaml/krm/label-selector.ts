/**
 * kubectl's `-l`, as k8s.io/apimachinery v0.34.3, pkg/labels/selector.go
 * (docs/facts/label-selectors.md).
 */
type LabelOperator = 'in' | 'notin' | 'exists' | 'absent' | 'above' | 'below'

interface LabelRequirement {
  readonly key: string
  readonly operator: LabelOperator
  readonly values: readonly string[]
}

export type LabelSelector = readonly LabelRequirement[]

/** The problem is a clause. The empty text selects everything, as in kubectl. */
export function parseLabelSelector(
  text: string,
): { readonly selector: LabelSelector } | { readonly problem: string } {
  try {
    return { selector: parse(text.match(TOKEN) ?? []) }
  } catch (thrown) {
    if (thrown instanceof SelectorProblem) return { problem: thrown.message }
    throw thrown
  }
}

/** An absent label fulfils only `notin`, `!=` and `!key`. */
export function matchesLabels(
  selector: LabelSelector,
  labels: ReadonlyMap<string, string>,
): boolean {
  return selector.every(({ key, operator, values }) => {
    const value = labels.get(key)
    if (operator === 'exists') return value !== undefined
    if (operator === 'absent') return value === undefined
    if (operator === 'notin') return value === undefined || !values.includes(value)
    if (value === undefined) return false
    if (operator === 'in') return values.includes(value)
    const [here, bound] = [parseWholeNumber(value), parseWholeNumber(values[0] ?? '')]
    if (here === undefined || bound === undefined) return false
    return operator === 'above' ? here > bound : here < bound
  })
}

class SelectorProblem extends Error {}

const OPERATORS: { readonly [token: string]: LabelOperator } = {
  '=': 'in',
  '==': 'in',
  '!=': 'notin',
  in: 'in',
  notin: 'notin',
  '>': 'above',
  '<': 'below',
}

/** `in` and `notin` are operators after a key. */
const TOKEN = /[!=]=|[=!(),><]|[^ \t\r\n=!(),><]+/g

function parse(tokens: readonly string[]): LabelSelector {
  const requirements: LabelRequirement[] = []
  let at = 0
  const current = (): string | undefined => tokens[at]
  const take = (): string | undefined => {
    at += 1
    return tokens[at - 1]
  }
  const requirement = (): LabelRequirement => {
    const absent = current() === '!'
    if (absent) take()
    const key = take()
    if (!isWord(key)) throw createUnexpectedProblem(key, absent ? 'a label' : 'a label or "!"')
    const problem = findKeyProblem(key)
    if (problem !== undefined)
      throw new SelectorProblem(`${JSON.stringify(key)} is not a label name: ${problem}`)
    if (absent) return { key, operator: 'absent', values: [] }
    if (current() === undefined || current() === ',') return { key, operator: 'exists', values: [] }
    const sign = take()
    const operator =
      sign !== undefined && Object.hasOwn(OPERATORS, sign) ? OPERATORS[sign] : undefined
    if (operator === undefined) throw createUnexpectedProblem(sign, 'in, notin, =, ==, !=, > or <')
    const values = isWord(sign) ? set() : [value()]
    for (const each of values) checkValue(each, operator)
    return { key, operator, values }
  }
  /** An empty member is the empty value, also in `()`, as in apimachinery. */
  const set = (): readonly string[] => {
    const open = take()
    if (open !== '(') throw createUnexpectedProblem(open, '"("')
    const values = new Set<string>()
    for (;;) {
      values.add((isWord(current()) && take()) || '')
      const next = take()
      if (next === ')') return [...values]
      if (next !== ',') throw createUnexpectedProblem(next, 'a comma or ")"')
    }
  }
  const value = (): string => {
    if (current() === undefined || current() === ',') return ''
    const token = take()
    if (!isWord(token)) throw createUnexpectedProblem(token, 'a value')
    return token
  }
  while (tokens.length > 0) {
    requirements.push(requirement())
    const next = take()
    if (next === undefined) break
    if (next !== ',') throw createUnexpectedProblem(next, 'a comma or the end')
  }
  return requirements
}

function isWord(token: string | undefined): token is string {
  return token !== undefined && /^[^=!(),><]/.test(token)
}

function createUnexpectedProblem(token: string | undefined, wanted: string): SelectorProblem {
  return new SelectorProblem(
    `found ${token === undefined ? 'the end' : JSON.stringify(token)} where ${wanted} is wanted`,
  )
}

function checkValue(value: string, operator: LabelOperator): void {
  if ((operator === 'above' || operator === 'below') && parseWholeNumber(value) === undefined)
    throw new SelectorProblem(
      `> and < compare whole numbers, and ${JSON.stringify(value)} is not one`,
    )
  if (value.length > 63 || !/^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/.test(value)) {
    throw new SelectorProblem(
      `${JSON.stringify(value)} is not a label value: at most 63 letters, digits, "-", "_" and ".", with a letter or digit at both ends`,
    )
  }
}

function findKeyProblem(key: string): string | undefined {
  const parts = key.split('/')
  const name = parts.at(-1) ?? ''
  const prefix = parts.length === 2 ? parts[0] : undefined
  if (parts.length > 2) return 'it has more than one "/"'
  if (
    prefix !== undefined &&
    (prefix.length > 253 ||
      !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(prefix))
  ) {
    return 'the part before "/" must be a DNS name in lower case'
  }
  if (name.length > 63 || !/^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/.test(name)) {
    return 'at most 63 letters, digits, "-", "_" and ".", with a letter or digit at both ends'
  }
  return undefined
}

/** 64 bits, like Go's strconv.ParseInt. */
function parseWholeNumber(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]{1,30}$/.test(text)) return undefined
  const number = BigInt(text.replace(/^\+/, ''))
  return BigInt.asIntN(64, number) === number ? number : undefined
}
