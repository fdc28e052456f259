/** Templates of an ApplicationSet: `{{path.basename}}`, and of Go templates those that only name a value. */
import { isJsonArray, type Json, type JsonObject, partOf } from '../../text/json.ts'

/** What only Argo CD knows. The message is a clause. */
export class Unfilled extends Error {
  constructor(why: string) {
    super(why)
    this.name = 'Unfilled'
  }
}

/** @param isGo whether it is a Go template @throws Unfilled for a Go template that does more, or whose value is not there */
export function filled(text: string, parameters: JsonObject, isGo: boolean): string {
  return text.replaceAll(/\{\{([\s\S]*?)\}\}/g, (whole, inside: string) => {
    if (isGo) return shown(namedBy(inside, parameters), whole)
    const value = parameters[inside.trim()]
    return typeof value === 'string' ? value : whole
  })
}

function namedBy(inside: string, parameters: JsonObject): Json | undefined {
  const [, field = ''] = /^\s*\.([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\s*$/.exec(inside) ?? []
  if (field !== '') return partOf(parameters, ...field.split('.'))
  const [, list = '', position] = /^\s*index\s+\.([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\s+(\d{1,4})\s*$/.exec(inside) ?? []
  const found = list === '' ? undefined : partOf(parameters, ...list.split('.'))
  return isJsonArray(found) ? found[Number(position)] : undefined
}

function shown(value: Json | undefined, template: string): string {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return String(value)
  if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 1e15) return String(value)
  throw new Unfilled(`its template ${template.slice(0, 80)} does more than to name a value that is there`)
}
