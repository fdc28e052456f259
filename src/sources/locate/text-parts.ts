import type { FieldPath } from '@backporch/kyaml/field'
import { isJsonArray, isJsonEqual, isJsonObject, type Json } from '@backporch/kyaml/json'
import { splitReference } from '@backporch/kyaml/text'
import type { Wanted } from './candidate.ts'

export interface Leaf {
  readonly path: FieldPath
  readonly value: string | number | boolean
}

/** A chart may quote a number, including in maps and lists. */
export function isAlike(value: Json | undefined, now: Json | undefined): boolean {
  if (isJsonArray(value) && isJsonArray(now))
    return value.length === now.length && value.every((each, at) => isAlike(each, now[at]))
  if (isJsonObject(value) && isJsonObject(now))
    return (
      Object.keys(value).length === Object.keys(now).length &&
      Object.entries(value).every(([key, each]) => isAlike(each, now[key]))
    )
  if (
    value === undefined ||
    now === undefined ||
    typeof value === 'object' ||
    typeof now === 'object'
  )
    return isJsonEqual(value, now)
  return String(value) === String(now)
}

export function convertToTypeOf(wanted: Wanted, like: Json | undefined): Wanted {
  if (wanted === undefined || wanted === null || typeof wanted === 'object') return wanted
  if (typeof like === 'string') return String(wanted)
  const text = String(wanted)
  if (typeof like === 'boolean')
    return text === 'true' || text === 'false' ? text === 'true' : wanted
  return typeof like === 'number' && /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : wanted
}

export function findOtherText(
  value: Leaf['value'],
  now: Json | undefined,
  wanted: Wanted,
): string | undefined {
  if (typeof now !== 'string' || typeof wanted !== 'string') return undefined
  const part = String(value)
  if (part !== '' && part !== now) {
    if (part.toLowerCase() === now.toLowerCase())
      return part === part.toLowerCase() ? wanted.toLowerCase() : wanted
    const found = findOtherPart(part, now, wanted)
    if (found !== undefined) return found
  }
  return typeof value === 'string' ? patchText(value, now, wanted) : undefined
}

function findOtherPart(part: string, now: string, wanted: string): string | undefined {
  if (part === '') return undefined
  for (let at = now.indexOf(part); at !== -1; at = now.indexOf(part, at + 1)) {
    const [before, after] = [now.slice(0, at), now.slice(at + part.length)]
    const isSame =
      wanted.startsWith(before) &&
      wanted.endsWith(after) &&
      wanted.length > before.length + after.length
    if (isSame) return wanted.slice(before.length, wanted.length - after.length)
  }
  return undefined
}

/** If the text contains the differing lines once; a template may write other lines. */
export function patchText(text: string, now: string, wanted: string): string | undefined {
  const [were, are] = [now.split('\n'), wanted.split('\n')]
  let first = 0
  while (first < were.length && first < are.length && were[first] === are[first]) first += 1
  let last = 0
  while (
    last < Math.min(were.length, are.length) - first &&
    were[were.length - 1 - last] === are[are.length - 1 - last]
  )
    last += 1
  const [old, other] = [were.slice(first, were.length - last), are.slice(first, are.length - last)]
  const anchor = old.length === 0 && first > 0 ? [were[first - 1] ?? ''] : []
  const find = [...anchor, ...old]
  if (find.join('').trim() === '') return undefined
  const lines = text.split('\n')
  const places = lines.flatMap((_, at) =>
    find.every((each, offset) => lines[at + offset] === each) ? [at] : [],
  )
  const [at, second] = places
  if (at === undefined || second !== undefined) return patchPart(text, now, wanted)
  return lines.toSpliced(at, find.length, ...anchor, ...other).join('\n')
}

function patchPart(text: string, now: string, wanted: string): string | undefined {
  const { first, last } = measureCommonEnds(now, wanted)
  const [old, other] = [
    now.slice(first, now.length - last),
    wanted.slice(first, wanted.length - last),
  ]
  const at = old.trim() === '' ? -1 : text.indexOf(old)
  if (at === -1 || text.includes(old, at + 1) || !text.includes('{{')) return undefined
  return text.slice(0, at) + other + text.slice(at + old.length)
}

function measureCommonEnds(
  now: string,
  wanted: string,
): { readonly first: number; readonly last: number } {
  const most = Math.min(now.length, wanted.length)
  let [first, last] = [0, 0]
  while (first < most && now[first] === wanted[first]) first += 1
  while (last < most - first && now.at(-1 - last) === wanted.at(-1 - last)) last += 1
  return { first, last }
}

export function listImageChanges(
  leaves: readonly Leaf[],
  now: Json | undefined,
  wanted: Wanted,
): readonly (readonly { readonly path: FieldPath; readonly wanted: Wanted }[])[] {
  if (typeof now !== 'string' || typeof wanted !== 'string') return []
  const [was, is] = [splitReference(now), splitReference(wanted)]
  const { tag } = is
  if (was.name === is.name || was.tag === tag || tag === undefined) return []
  const tagged = leaves.filter(({ value }) => String(value) === was.tag || value === '')
  const named = leaves.flatMap(({ path, value }) => {
    const name = value === was.name ? is.name : findOtherPart(String(value), was.name, is.name)
    return name === undefined ? [] : [{ path, wanted: name }]
  })
  return named.flatMap((name) =>
    tagged.map(({ path, value }) => [name, { path, wanted: convertToTypeOf(tag, value) }]),
  )
}

export function emptyParts(now: Json | undefined, wanted: Wanted): readonly Json[] {
  if (wanted === undefined || wanted === null || typeof wanted === 'object') return []
  if (typeof now !== 'string' || typeof wanted !== 'string') return [wanted]
  const { name, tag } = splitReference(wanted)
  const ends = measureCommonEnds(now, wanted)
  let [first, end] = [ends.first, wanted.length - ends.last]
  const isEdge = (at: number): boolean =>
    at <= 0 ||
    at >= wanted.length ||
    /[^\w.-]/.test(wanted[at - 1] ?? '') ||
    /[^\w.-]/.test(wanted[at] ?? '')
  while (!isEdge(first)) first -= 1
  while (!isEdge(end)) end += 1
  const part = wanted.slice(first, end).replace(/^[^\w]|[^\w]$/g, '')
  return [...new Set([tag ?? '', part, wanted, name])].filter((each) => each !== '')
}

const SEPARATORS = [',', ', ', ' ', ';', '|', ':', '\n']

export function listOfParts(
  list: readonly Json[],
  now: Json | undefined,
  wanted: Wanted,
): readonly Json[] | undefined {
  if (typeof now !== 'string' || typeof wanted !== 'string' || list.length === 0) return undefined
  const separator = SEPARATORS.find((each) => list.map(String).join(each) === now)
  if (separator === undefined || (list.length === 1 && !wanted.includes(','))) return undefined
  return wanted.split(list.length === 1 ? ',' : separator)
}
