/**
 * Fills templates of an ApplicationSet: `{{path.basename}}`, and Go templates that only name a
 * value.
 */
import { getPartAt, isJsonArray, type Json, type JsonObject } from '@backporch/kyaml/json'

export class Unfilled extends Error {
  constructor(why: string) {
    super(why)
    this.name = 'Unfilled'
  }
}

/** @throws Unfilled for a Go template that does more, or whose value is missing */
export function fillSetTemplate(text: string, parameters: JsonObject, isGo: boolean): string {
  return replaceExpressions(text, ({ whole, inside }) => {
    if (isGo) return formatShown(findNamedValue(inside, parameters), whole)
    const value = parameters[inside.trim()]
    return typeof value === 'string' ? value : whole
  })
}

export function replaceWithAny(text: string): string {
  return replaceExpressions(text, () => '*')
}

function replaceExpressions(text: string, by: (expression: Expression) => string): string {
  const parts: string[] = []
  let end = 0
  for (const expression of listExpressions(text)) {
    parts.push(text.slice(end, expression.at), by(expression))
    end = expression.at + expression.whole.length
  }
  return [...parts, text.slice(end)].join('')
}

interface Expression {
  readonly at: number
  readonly whole: string
  readonly inside: string
}

function listExpressions(text: string): readonly Expression[] {
  const found: Expression[] = []
  for (let from = 0; ; ) {
    const at = text.indexOf('{{', from)
    const end = at === -1 ? -1 : text.indexOf('}}', at + 2)
    if (end === -1) return found
    found.push({ at, whole: text.slice(at, end + 2), inside: text.slice(at + 2, end) })
    from = end + 2
  }
}

export function listTemplateNames(text: string): readonly string[] {
  return [...new Set(listExpressions(text).map(({ inside }) => getName(inside)))]
}

function getName(inside: string): string {
  return inside.trim().replace(/^\./, '')
}

/** Undefined if the value occurs more than once, or the rest differs. */
export function solveTemplateValue(
  name: string,
  { text, wanted }: { readonly text: string; readonly wanted: string },
  parameters: JsonObject,
  isGo: boolean,
): string | undefined {
  const [place, ...others] = listExpressions(text).filter(({ inside }) => getName(inside) === name)
  if (place === undefined || others.length > 0) return undefined
  const before = fillSetTemplate(text.slice(0, place.at), parameters, isGo)
  const after = fillSetTemplate(text.slice(place.at + place.whole.length), parameters, isGo)
  const isRest =
    wanted.startsWith(before) &&
    wanted.endsWith(after) &&
    wanted.length >= before.length + after.length
  return isRest ? wanted.slice(before.length, wanted.length - after.length) : undefined
}

function findNamedValue(inside: string, parameters: JsonObject): Json | undefined {
  const [, field] = /^\s*\.([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\s*$/.exec(inside) ?? []
  if (field !== undefined) return getPartAt(parameters, ...field.split('.'))
  const [, list, position] =
    /^\s*index\s+\.([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\s+(\d{1,4})\s*$/.exec(inside) ?? []
  const found = list === undefined ? undefined : getPartAt(parameters, ...list.split('.'))
  return isJsonArray(found) ? found[Number(position)] : undefined
}

function formatShown(value: Json | undefined, template: string): string {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean' || typeof value === 'number') return printGoValue(value)
  throw new Unfilled(
    `its template ${template.slice(0, 80)} does more than insert an existing value`,
  )
}

/** Like Go's `%v`: JSON numbers are floats. */
export function printGoValue(given: string | number | bigint | boolean | null): string {
  if (given === null) return '<nil>'
  const value = typeof given === 'bigint' ? Number(given) : given
  const size = typeof value === 'number' ? Math.abs(value) : 0
  if (typeof value !== 'number' || size === 0 || (size >= 1e-4 && size < 1e6)) return String(value)
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2')
}
