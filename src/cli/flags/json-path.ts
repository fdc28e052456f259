/** Prints a document through a template of `-o jsonpath=`; json-path-parse.ts describes the dialect. */
import { canonicalJson, getKey, isJsonArray, isJsonObject, type Json } from '@backporch/kyaml/json'
import type { Operator, Step, Template } from './json-path-parse.ts'

/** The document does not have the shape that the template expects; the message is a sentence. */
export class TemplateMismatch extends Error {}

/**
 * A missing key prints nothing. Maps and lists print as JSON with sorted keys, several results with spaces between them.
 * `text`: how a string of the document is printed; literals of the template are printed as they are.
 * @throws TemplateMismatch for an index outside of its list, a list operator on something else, and unlike values compared
 */
export function printTemplate(
  template: Template,
  document: Json,
  text: (value: string) => string = (value) => value,
): string {
  return template
    .map((part) => {
      if (part.kind === 'text') return part.text
      if (part.kind === 'path')
        return walk([document], part.steps)
          .map((value) => printed(value, part.steps, text))
          .join(' ')
      return walk([document], part.steps)
        .map((value) => printTemplate(part.body, value, text))
        .join('')
    })
    .join('')
}

/** Repeated `..` multiplies the values: a short template must not exhaust the memory. */
const FOUND_LIMIT = 200_000

function walk(values: readonly Json[], steps: readonly Step[]): readonly Json[] {
  return steps.reduce((found, step) => {
    if (found.length > FOUND_LIMIT)
      throw new TemplateMismatch(`more than ${FOUND_LIMIT} values are found on the way`)
    return take(found, step)
  }, values)
}

function take(values: readonly Json[], step: Step): readonly Json[] {
  switch (step.kind) {
    case 'field':
      return values.flatMap((value) => {
        const below = isJsonObject(value) ? getKey(value, step.name) : undefined
        return below === undefined ? [] : [below]
      })
    case 'wildcard':
      return values.flatMap(children)
    case 'recursive':
      return values.flatMap(descendants)
    case 'union':
      return step.steps.flatMap((one) => take(values, one))
    case 'filter':
      return values.flatMap((value) =>
        listOf(value, 'a filter').filter((item) => passes(item, step)),
      )
    case 'literal':
      // A text replaces all found values; a number or a boolean replaces each of them, as in client-go.
      return typeof step.value === 'string' ? [step.value] : values.map(() => step.value)
    default:
      // In client-go an empty list ends the whole walk and drops the values of later lists; here it adds nothing.
      return values.flatMap((value) =>
        value === null ? [] : sliceOf(listOf(value, 'an index'), step),
      )
  }
}

function children(value: Json): readonly Json[] {
  return isJsonArray(value) ? value : isJsonObject(value) ? Object.values(value) : []
}

/** The value and everything below it; numbers, booleans and null have nothing below and do not count, as in client-go. */
function descendants(value: Json): Json[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  const below = children(value)
  return below.length === 0 ? [] : [value, ...below.flatMap(descendants)]
}

function listOf(value: Json, what: string): readonly Json[] {
  if (isJsonArray(value)) return value
  throw new TemplateMismatch(`${what} wants a list, and there is ${nameOf(value)}`)
}

function sliceOf(
  list: readonly Json[],
  step: Step & { readonly kind: 'slice' | 'index' },
): readonly Json[] {
  const { length } = list
  const location = (index: number): number => (index < 0 ? index + length : index)
  if (step.kind === 'index') {
    const item = list[location(step.index)]
    if (item === undefined) throw outside(step.index, length)
    return [item]
  }
  const from = location(step.from ?? 0)
  const to = step.to === undefined ? length : location(step.to)
  if (from === to) return []
  if (from < 0 || from >= length) throw outside(step.from ?? 0, length)
  if (to < 0 || to > length) throw outside((step.to ?? 0) - 1, length)
  if (from > to)
    throw new TemplateMismatch(`the slice begins at ${from} and ends before it, at ${to}`)
  return list.slice(from, to).filter((_item, index) => index % (step.by ?? 1) === 0)
}

function outside(index: number, length: number): TemplateMismatch {
  return new TemplateMismatch(`there is no item ${index} in a list of ${length}`)
}

function passes(
  item: Json,
  { left, operator, right }: Step & { readonly kind: 'filter' },
): boolean {
  if (operator === 'exists') return exists(item, left)
  const lefts = walk([item], left)
  const rights = walk([item], right)
  if (lefts.length > 1 || rights.length > 1)
    throw new TemplateMismatch('a filter compares one value at a time, and there are more')
  const [first] = lefts
  const [second] = rights
  return first !== undefined && second !== undefined && compare(first, operator, second)
}

function exists(item: Json, steps: readonly Step[]): boolean {
  try {
    return walk([item], steps).length > 0
  } catch (thrown) {
    if (thrown instanceof TemplateMismatch) return false
    throw thrown
  }
}

/** As client-go, compares only values of one basic kind; other comparisons fail, because no output would look like no match. */
function compare(left: Json, operator: Operator, right: Json): boolean {
  const kinds = [kindOf(left), kindOf(right)]
  if (kinds[0] !== kinds[1] || kinds[0] === 'other') {
    throw new TemplateMismatch(`${nameOf(left)} and ${nameOf(right)} cannot be compared`)
  }
  if (kinds[0] === 'boolean' && operator !== '==' && operator !== '!=')
    throw new TemplateMismatch('booleans have no order')
  const [first, second] = [left, right] as [string | number | bigint, string | number | bigint]
  if (operator === '==' || operator === '!=')
    return (compareValues(first, second) === 0) === (operator === '==')
  const order = compareValues(first, second)
  return operator === '<'
    ? order < 0
    : operator === '<='
      ? order <= 0
      : operator === '>'
        ? order > 0
        : order >= 0
}

function compareValues(left: string | number | bigint, right: string | number | bigint): number {
  return left < right ? -1 : left > right ? 1 : 0
}

function kindOf(value: Json): string {
  if (typeof value === 'number' || typeof value === 'bigint') return 'number'
  return typeof value === 'string' || typeof value === 'boolean' ? typeof value : 'other'
}

function nameOf(value: Json): string {
  if (value === null) return 'null'
  if (isJsonArray(value)) return 'a list'
  return isJsonObject(value) ? 'a map' : `a ${kindOf(value)}`
}

function printed(value: Json, steps: readonly Step[], text: (value: string) => string): string {
  if (typeof value === 'string') return steps.at(-1)?.kind === 'literal' ? value : text(value)
  if (isJsonArray(value) || isJsonObject(value)) return goJson(value)
  return typeof value === 'number' ? goNumber(value) : String(value)
}

// Go's encoding/json writes these so that the text may stand in HTML.
function goJson(value: Json): string {
  return canonicalJson(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** As Go's `%v`: an exponent of two digits, and from 1e-05 down; JavaScript begins at 1e-7. */
function goNumber(value: number): string {
  const text = value !== 0 && Math.abs(value) < 1e-4 ? value.toExponential() : String(value)
  return text.replace(/e([-+])(\d)$/, 'e$10$2')
}
