/**
 * Values of a chart that may give a field another value, and what they would have to be. Each is a candidate only: whether the edit lands is
 * proven by rendering the chart.
 */
import { type FieldPath, field, formatFieldPath, type PathStep, valueAt } from '../../../krm/field-path.ts'
import { splitReference } from '../../../text/image-reference.ts'
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../../text/json.ts'
import type { Wanted } from '../candidate.ts'

/** Values that are set together; `undefined` takes one out. */
export type ValueChange = readonly { readonly path: FieldPath; readonly wanted: Wanted }[]

export interface ValueQuestion {
  /** All values of the chart, with its defaults. */
  readonly values: JsonObject
  /** Paths that the templates of the object read: `.Values.image.tag`. */
  readonly references: readonly FieldPath[]
  /** Of the field. */
  readonly path: FieldPath
  readonly now: Json | undefined
  readonly wanted: Wanted
}

/** Candidates of one group: an image may be a registry, a name and a tag, and a list may have many values. */
const MOST = 24

/** Groups in order: one counts where none before it has a result. */
export function valueChanges(question: ValueQuestion): readonly (readonly ValueChange[])[] {
  const all = leavesOf(question.values, [])
  const read = all.filter(({ path }) => question.references.some((each) => startsWith(path, each)))
  const near = (leaves: readonly Leaf[]): readonly Leaf[] => byName(leaves, question.path).slice(0, MOST)
  const equal = (leaves: readonly Leaf[]): readonly ValueChange[] =>
    question.now === undefined
      ? []
      : near(leaves.filter(({ value }) => isAlike(value, question.now))).map((leaf) => setTo(leaf, question.wanted))
  return [equal(read), partly(near(read), question), atReferences(question), equal(all), partly(near(all), question)]
}

/** Values that are true, which may switch an object off. */
export function switches({ values, references }: Pick<ValueQuestion, 'values' | 'references'>): readonly ValueChange[] {
  const leaves = leavesOf(values, []).filter(({ path, value }) => value === true && references.some((each) => startsWith(path, each)))
  return leaves.slice(0, MOST).map((leaf) => setTo(leaf, false))
}

/** `.Values.a.b`, `$.Values.a.b` and `index .Values "a" "b"` in a template. @param under where a dependency has its values */
export function referencesIn(text: string, under: readonly string[]): readonly FieldPath[] {
  const dotted = [...text.matchAll(/\.Values((?:\.[A-Za-z_]\w*)+)/g)].map(([, path = '']) => path.slice(1).split('.'))
  const indexed = [...text.matchAll(/index\s+\$?\.Values((?:\.\w+)*)((?:\s+"[^"]+")+)/g)].map(([, path = '', keys = '']) => [
    ...path.split('.').filter((part) => part !== ''),
    ...[...keys.matchAll(/"([^"]+)"/g)].map(([, key = '']) => key),
  ])
  const all = [...dotted, ...indexed].map((names) => [...(names[0] === 'global' ? [] : under), ...names].map(field))
  return [...new Map(all.map((path) => [formatFieldPath(path), path])).values()]
}

interface Leaf {
  readonly path: FieldPath
  readonly value: string | number | boolean
}

function leavesOf(value: Json, at: FieldPath): readonly Leaf[] {
  if (isJsonObject(value)) return Object.entries(value).flatMap(([key, each]) => leavesOf(each, [...at, field(key)]))
  if (isJsonArray(value)) return value.flatMap((each, index) => leavesOf(each, [...at, { kind: 'index', index }]))
  return value === null ? [] : [{ path: at, value: value as Leaf['value'] }]
}

function isAlike(value: Leaf['value'], now: Json | undefined): boolean {
  return value === now || (typeof now !== 'object' && String(value) === String(now))
}

/** With the type that the value has: a chart may quote it. */
function setTo({ path, value }: Leaf, wanted: Wanted): ValueChange {
  return [{ path, wanted: typeof wanted === 'string' || typeof value === 'string' ? asTyped(wanted, value) : wanted }]
}

function asTyped(wanted: Wanted, like: Leaf['value']): Wanted {
  if (wanted === undefined || wanted === null || typeof wanted === 'object') return wanted
  if (typeof like === 'string') return String(wanted)
  const text = String(wanted)
  if (typeof like === 'boolean') return text === 'true' || text === 'false' ? text === 'true' : wanted
  return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : wanted
}

/** A value that is a part of the text, and the parts of an image together. */
function partly(leaves: readonly Leaf[], { now, wanted }: ValueQuestion): readonly ValueChange[] {
  if (typeof now !== 'string' || typeof wanted !== 'string') return []
  const single = leaves.flatMap((leaf) => {
    const part = String(leaf.value)
    const at = part === '' || part === now ? -1 : now.indexOf(part)
    if (at === -1) return []
    const [before, after] = [now.slice(0, at), now.slice(at + part.length)]
    const isSame = wanted.startsWith(before) && wanted.endsWith(after) && wanted.length > before.length + after.length
    return isSame ? [setTo(leaf, wanted.slice(before.length, wanted.length - after.length))] : []
  })
  const [was, is] = [splitReference(now), splitReference(wanted)]
  if (was.name === is.name || was.tag === is.tag) return single
  const named = leaves.filter(({ value }) => value === was.name)
  const tagged = leaves.filter(({ value }) => String(value) === was.tag)
  const both = named.flatMap((name) => tagged.map((tag): ValueChange => [...setTo(name, is.name), ...setTo(tag, is.tag)]))
  return [...single, ...both]
}

/** A value that a template reads and that is not set, and keys under a map that a template writes as it is. */
function atReferences({ values, references, path, wanted }: ValueQuestion): readonly ValueChange[] {
  const found = references.flatMap((reference) => {
    const value = valueAt(values, reference)
    const isOpen = value === undefined || value === null
    const whole = isOpen || typeof value !== 'object' ? [{ rank: rankOf(reference, path, path.length), path: reference }] : []
    const below = isOpen || typeof value === 'object' ? path.map((_, at) => at).filter((at) => fits(value, path[at])) : []
    return [...whole, ...below.map((at) => ({ rank: rankOf(reference, path, at), path: [...reference, ...path.slice(at)] }))]
  })
  const ranked = found.toSorted((one, other) => one.rank - other.rank).slice(0, MOST)
  return ranked.map(({ path: each }) => [{ path: each, wanted }])
}

function fits(value: Json | undefined, step: PathStep | undefined): boolean {
  if (value === undefined || value === null) return step !== undefined
  return isJsonArray(value) ? step?.kind !== 'field' : step?.kind === 'field'
}

/** Less for a reference with the name of the field above the part, as `resources` for `resources.limits`. */
function rankOf(reference: FieldPath, path: FieldPath, at: number): number {
  const [last, above] = [nameOf(reference.at(-1)), nameOf(path[at - 1])]
  if (last === above) return 0
  return above !== '' && (last.toLowerCase().includes(above.toLowerCase()) || above.toLowerCase().includes(last.toLowerCase())) ? 1 : 2
}

function byName(leaves: readonly Leaf[], path: FieldPath): readonly Leaf[] {
  const last = nameOf(path.findLast(({ kind }) => kind === 'field'))
  const rank = ({ path: own }: Leaf): number => rankOf(own, [field(last)], 1)
  return leaves.toSorted((one, other) => rank(one) - rank(other))
}

function nameOf(step: PathStep | undefined): string {
  return step?.kind === 'field' ? step.name : ''
}

function startsWith(path: FieldPath, prefix: FieldPath): boolean {
  return formatFieldPath(path.slice(0, prefix.length)) === formatFieldPath(prefix)
}
