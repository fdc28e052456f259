/**
 * Templates of `-o jsonpath=`, in the dialect of kubectl (k8s.io/client-go, util/jsonpath; its documentation:
 * kubernetes.io/docs/reference/kubectl/jsonpath). A parser of its own: nothing of a template is ever run as code, and there
 * are no regular expressions in it (client-go refuses `=~` too).
 * Three differences, each where kubectl surprises: a quoted key is one key, also with a dot in it (`['a.b/c']`; kubectl wants
 * `['a\.b/c']`, which works here too); a `range` without its `end` is refused (kubectl prints what follows once more); an empty
 * list between others ends nothing (see json-path.ts).
 */
import type { Json } from '@backporch/kyaml/json'

export type Step =
  /** The members of a map under this key. */
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'recursive' }
  /** `[a:b:c]`; an index is a slice of one. Undefined stands for "left out". */
  | {
      readonly kind: 'slice'
      readonly from: number | undefined
      readonly to: number | undefined
      readonly by: number | undefined
    }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'union'; readonly steps: readonly Step[] }
  | {
      readonly kind: 'filter'
      readonly left: readonly Step[]
      readonly operator: Operator | 'exists'
      readonly right: readonly Step[]
    }
  /** A literal takes the place of what was found before it. */
  | { readonly kind: 'literal'; readonly value: Json }

export type Operator = (typeof OPERATORS)[number]

type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'path'; readonly steps: readonly Step[] }
  | {
      readonly kind: 'range'
      readonly steps: readonly Step[]
      readonly body: readonly TemplatePart[]
    }

export type Template = readonly TemplatePart[]

const OPERATORS = ['==', '!=', '<', '<=', '>', '>='] as const
const ESCAPES: { readonly [letter: string]: string } = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\u0007',
  b: '\b',
  f: '\f',
  v: '\v',
}
const LENGTH_LIMIT = 10_000
/** What ends one side of a comparison. */
const FILTER_ENDS = '=!<>)'

/** @returns the template, or a sentence that says what is wrong and at which character */
export function parseTemplate(
  text: string,
): { readonly template: Template } | { readonly problem: string } {
  if (text.length > LENGTH_LIMIT) return { problem: `it is longer than ${LENGTH_LIMIT} characters` }
  if (!text.includes('{'))
    return {
      problem: 'there is no expression in braces in it, as {.items[*].spec.unit.package} is one',
    }
  try {
    return { template: new TemplateReader(text).read() }
  } catch (thrown) {
    if (thrown instanceof TemplateSyntax) return { problem: thrown.message }
    throw thrown
  }
}

class TemplateSyntax extends Error {}

interface OpenRange {
  readonly steps: readonly Step[]
  readonly body: TemplatePart[]
}

/** What one pair of braces holds. */
type Action = { readonly word: string | undefined; readonly steps: readonly Step[] }

class TemplateReader {
  private readonly text: string
  private at = 0

  constructor(text: string) {
    this.text = text
  }

  read(): Template {
    const root: TemplatePart[] = []
    const open: OpenRange[] = []
    const here = (): TemplatePart[] => open.at(-1)?.body ?? root
    while (this.at < this.text.length) {
      const brace = this.text.indexOf('{', this.at)
      const end = brace === -1 ? this.text.length : brace
      if (end > this.at) here().push({ kind: 'text', text: this.text.slice(this.at, end) })
      this.at = end
      if (brace === -1) break
      const { word, steps } = this.action()
      if (word === 'range') open.push({ steps, body: [] })
      else if (word === 'end') {
        const range = open.pop()
        if (range === undefined) throw this.wrong('there is no {range} that {end} would end')
        here().push({ kind: 'range', steps: range.steps, body: range.body })
      } else here().push({ kind: 'path', steps })
    }
    if (open.length > 0) throw this.wrong('{range} has no {end}')
    return root
  }

  private action(): Action {
    this.at += 1
    this.spaces()
    const word = this.match(/(?:range|end)(?=[\s.[{}@$]|$)/y)
    const steps = this.steps('}')
    this.take('}')
    if (word === 'end' && steps.length > 0) throw this.wrong('{end} stands alone')
    return { word, steps }
  }

  /** Steps up to a character of `ends`, which is not read. */
  private steps(ends: string): Step[] {
    const steps: Step[] = []
    for (;;) {
      this.spaces()
      const next = this.text[this.at]
      if (next === undefined || (ends === '}' && /[\n\r]/.test(next)))
        throw this.wrong(`"${ends.at(-1)}" is missing`)
      if (ends.includes(next)) return steps
      if (ends !== '}' && /[&|]/.test(next))
        throw this.wrong('a filter compares once: kubectl has no "&&" and no "||"')
      if (next === '@' || next === '$') this.at += 1
      else steps.push(...this.step(next, steps.at(-1)))
    }
  }

  private step(next: string, before: Step | undefined): Step[] {
    if (this.text.startsWith('..', this.at)) return this.recursive(before)
    if (this.text.startsWith('[?(', this.at)) return [this.filter()]
    if (next === '[') return [this.bracket()]
    if (next === '.') {
      this.at += 1
      return [this.field()]
    }
    if (next === '"' || next === "'") return [{ kind: 'literal', value: this.quoted() }]
    if (/[-+0-9]/.test(next)) return [{ kind: 'literal', value: this.number() }]
    const value = this.match(/(?:true|false)(?!\w)/y)
    if (value !== undefined) return [{ kind: 'literal', value: value === 'true' }]
    const [name] = /^\w+/.exec(this.text.slice(this.at)) ?? []
    if (name === undefined) throw this.wrong(`${JSON.stringify(next)} begins nothing here`)
    throw this.wrong(`the word ${name} means nothing here; a field is written .${name}`)
  }

  private recursive(before: Step | undefined): Step[] {
    if (before?.kind === 'recursive') throw this.wrong('".." stands twice')
    this.at += 2
    return /[\p{L}\p{N}_]/u.test(this.text[this.at] ?? '')
      ? [{ kind: 'recursive' }, this.field()]
      : [{ kind: 'recursive' }]
  }

  private field(): Step {
    // A backslash takes the next character as it is: a dot that belongs to the key.
    const name = (this.match(/(?:\\.?|[^\\\s.,[\]$@{}=!<>()])*/sy) ?? '').replace(/\\(.?)/gs, '$1')
    return name === '*' ? { kind: 'wildcard' } : { kind: 'field', name }
  }

  private bracket(): Step {
    this.at += 1
    const steps = [this.element()]
    while (this.text[this.at] === ',') {
      this.at += 1
      steps.push(this.element())
    }
    this.take(']')
    const [only] = steps
    return steps.length === 1 && only !== undefined ? only : { kind: 'union', steps }
  }

  private element(): Step {
    this.spaces()
    const step = this.elementStep()
    this.spaces()
    return step
  }

  private elementStep(): Step {
    const next = this.text[this.at]
    if (next === "'") return { kind: 'field', name: this.key() }
    if (next === '"') throw this.wrong("a key in brackets stands in single quotes: ['key']")
    if (next === '*') {
      this.at += 1
      return { kind: 'slice', from: undefined, to: undefined, by: undefined }
    }
    const numbers = /(-?\d{0,9})(?::(-?\d{0,9}))?(?::(-?\d{0,9}))?/y
    numbers.lastIndex = this.at
    const [all = '', from = '', to, by] = numbers.exec(this.text) ?? []
    if (all === '' || /-(?!\d)/.test(all))
      throw this.wrong(
        "wanted a place, a slice, * or a key in single quotes, as in [0], [1:3], [*], ['key']",
      )
    this.at += all.length
    if (to === undefined) return { kind: 'index', index: Number(from) }
    if (by !== undefined && by !== '' && Number(by) <= 0)
      throw this.wrong('the step of a slice is 1 or more')
    return { kind: 'slice', from: numberOf(from), to: numberOf(to), by: numberOf(by ?? '') }
  }

  private key(): string {
    const end = this.text.indexOf("'", this.at + 1)
    if (end === -1) throw this.wrong('the quote is not closed')
    const key = this.text.slice(this.at + 1, end).replace(/\\(.)/gs, '$1')
    this.at = end + 1
    return key
  }

  private filter(): Step {
    this.at += 3
    const left = this.steps(FILTER_ENDS)
    const operator = this.operator()
    const right = operator === 'exists' ? [] : this.steps(FILTER_ENDS)
    this.take(')')
    this.take(']')
    return { kind: 'filter', left, operator, right }
  }

  private operator(): Operator | 'exists' {
    const from = this.at
    const found = this.match(/[=!<>]*~?/y) ?? ''
    if (found === '') return 'exists'
    const operator = OPERATORS.find((one) => one === found)
    if (operator !== undefined) return operator
    this.at = from
    if (found.endsWith('~'))
      throw this.wrong('filters with regular expressions are not taken: kubectl has none either')
    throw this.wrong(`${found} is no comparison; there are ${OPERATORS.join(', ')}`)
  }

  private quoted(): string {
    const quote = this.text[this.at]
    let text = ''
    for (this.at += 1; this.at < this.text.length; this.at += 1) {
      const character = this.text[this.at] ?? ''
      if (character === quote) {
        this.at += 1
        return text
      }
      if (character === '\n') break
      text += character === '\\' ? this.escape() : character
    }
    throw this.wrong('the quote is not closed')
  }

  /** As Go's strconv.UnquoteChar; ends on the last character of the escape. */
  private escape(): string {
    this.at += 1
    const letter = this.text[this.at] ?? ''
    const hex = { x: 2, u: 4, U: 8 }[letter]
    if (hex === undefined) {
      if (letter in ESCAPES) return ESCAPES[letter] ?? ''
      if (letter === '\\' || letter === '"' || letter === "'") return letter
      throw this.wrong(`\\${letter} is no escape`)
    }
    const digits = this.text.slice(this.at + 1, this.at + 1 + hex)
    const point = Number.parseInt(digits, 16)
    if (!/^[0-9a-fA-F]+$/.test(digits) || digits.length !== hex || point > 0x10ffff)
      throw this.wrong(`\\${letter} wants ${hex} hex digits`)
    this.at += hex
    return String.fromCodePoint(point)
  }

  private number(): number {
    const found = this.match(/[-+]?\d+(?:\.\d+)?/y)
    if (found === undefined) throw this.wrong('wanted a number')
    return Number(found)
  }

  /** Matches a sticky pattern here, and moves behind the match. */
  private match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at
    const [found] = pattern.exec(this.text) ?? []
    this.at += found?.length ?? 0
    return found
  }

  private spaces(): void {
    this.match(/ */y)
  }

  private take(character: string): void {
    if (this.text[this.at] !== character) throw this.wrong(`wanted "${character}"`)
    this.at += 1
  }

  private wrong(problem: string): TemplateSyntax {
    return new TemplateSyntax(
      `${problem} (at character ${Math.min(this.at, this.text.length) + 1})`,
    )
  }
}

function numberOf(text: string): number | undefined {
  return text === '' ? undefined : Number(text)
}
