/** Each value is only a candidate: rendering the chart proves the edit. */
import {
  createFieldStep,
  type FieldPath,
  findValueAt,
  formatFieldPath,
  isAnyStep,
  type PathStep,
} from '@backporch/kyaml/field'
import {
  isJsonArray,
  isJsonEqual,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import type { Wanted } from '../../locate/candidate.ts'
import {
  convertToTypeOf,
  emptyParts,
  findOtherText,
  isAlike,
  type Leaf,
  listImageChanges,
  listOfParts,
} from '../../locate/text-parts.ts'
import { deduplicatePaths } from '../chart/template-actions.ts'
import type { FieldWriter } from '../chart/template-trace.ts'

export type ValueChange = readonly { readonly path: FieldPath; readonly wanted: Wanted }[]

interface ValueQuestion {
  readonly values: JsonObject
  readonly writers: readonly FieldWriter[]
  readonly now: Json | undefined
  readonly wanted: Wanted
}

/** Per group: each is a Helm run. */
const MOST = 12

interface Target {
  readonly base: FieldPath
  readonly path: FieldPath | undefined
  readonly value: Json | undefined
  readonly writer: FieldWriter
}

/** A group counts if no earlier one has a result. */
export function listValueChanges(question: ValueQuestion): readonly (readonly ValueChange[])[] {
  const { now, wanted, values } = question
  const targets = listTargets(question)
  const leaves = deduplicateLeaves(
    targets.flatMap(({ path, value }) =>
      path === undefined ? [] : listLeaves(value ?? null, path),
    ),
  )
  const below = deduplicateLeaves(
    targets.flatMap(({ base }) => listLeaves(findValueAt(values, base) ?? null, base)),
  )
  const exact = targets.filter(
    ({ value }) => isScalar(value) && now !== undefined && isAlike(value, now),
  )
  const isOne = isScalar(now) && isScalar(wanted)
  // A text that a template joins from a one-item list.
  const joins =
    typeof now === 'string' && typeof wanted === 'string' && wanted.startsWith(`${now},`)
  return [
    joins ? listChanges(targets, question) : [],
    exact.flatMap(({ path, value }) => (path === undefined ? [] : [setTo(path, value, wanted)])),
    createWholeChanges(targets, question),
    listChanges(targets, question),
    isOne
      ? below
          .filter(({ value }) => now !== undefined && isAlike(value, now))
          .map(({ path, value }) => setTo(path, value, wanted))
      : [],
    isOne ? createPartChanges(leaves, question) : [],
    isOne ? emptyChanges(targets, question) : [],
    switchChanges(targets, question),
  ].map((changes) => deduplicateChanges(changes).slice(0, MOST))
}

export function listValueRemovals(
  values: JsonObject,
  controls: readonly FieldPath[],
  lists: readonly FieldPath[],
  object: JsonObject,
): readonly (readonly ValueChange[])[] {
  const own = lists
    .flatMap((list) => expandPath(list, values))
    .filter((path) => isLike(findValueAt(values, path), object))
  const off = controls.flatMap((path) => switchOff(path, findValueAt(values, path)))
  return [
    own.map((path) => [{ path, wanted: undefined }]),
    ...off.slice(0, MOST).map((change) => [change]),
  ]
}

function isLike(item: Json | undefined, object: JsonObject): boolean {
  if (!isJsonObject(item)) return false
  const at = (value: Json, ...names: readonly string[]): Json | undefined =>
    findValueAt(value, names.map(createFieldStep))
  const name = at(item, 'metadata', 'name')
  const isNamed =
    isJsonEqual(name, at(object, 'metadata', 'name')) ||
    (typeof name === 'string' && name.includes('{{'))
  return isNamed && isJsonEqual(at(item, 'kind'), at(object, 'kind'))
}

function switchOff(path: FieldPath, value: Json | undefined): readonly ValueChange[] {
  if (value === true) return [[{ path, wanted: false }]]
  if (isJsonArray(value) && value.length > 0) return [[{ path, wanted: [] }]]
  return typeof value === 'string' && value !== '' ? [[{ path, wanted: '' }]] : []
}

function listTargets({ values, writers, now }: ValueQuestion): readonly Target[] {
  return writers.flatMap((writer) =>
    writer.refs.flatMap((ref) => {
      const all = expandPath(ref, values).map(
        (base): Target => findTarget(values, base, writer.rest, writer),
      )
      const isListed = now === undefined && isItem(ref.at(-1))
      return isListed ? [findTarget(values, ref.slice(0, -1), writer.added, writer), ...all] : all
    }),
  )
}

function findTarget(
  values: JsonObject,
  base: FieldPath,
  rest: FieldPath,
  writer: FieldWriter,
): Target {
  const at = findValueAt(values, base)
  const [step, ...below] = rest
  // A map by name for the object's list: `env: {COLOR: blue}`.
  const name = step?.kind === 'item' && !isJsonArray(at) ? step.keys['name'] : undefined
  if (typeof name === 'string' && isJsonObject(at)) {
    const [last] = below
    const isWhole =
      below.length === 0 || (below.length === 1 && last?.kind === 'field' && last.name === 'value')
    const path = isWhole ? [...base, createFieldStep(name)] : undefined
    return { base, path, value: path === undefined ? undefined : findValueAt(values, path), writer }
  }
  const path = rest.length === 0 || fits(at, step) ? [...base, ...rest] : undefined
  return { base, path, value: path === undefined ? undefined : findValueAt(values, path), writer }
}

function fits(value: Json | undefined, step: PathStep | undefined): boolean {
  if (value === undefined || value === null) return true
  return isJsonArray(value) ? step?.kind !== 'field' : isJsonObject(value) && step?.kind === 'field'
}

function isItem(step: PathStep | undefined): boolean {
  return step !== undefined && isAnyStep(step)
}

function expandPath(path: FieldPath, values: JsonObject): readonly FieldPath[] {
  const at = path.findIndex((step) => isAnyStep(step))
  if (at === -1) return [path]
  const [before, after] = [path.slice(0, at), path.slice(at + 1)]
  const list = findValueAt(values, before)
  const steps: readonly PathStep[] = isJsonArray(list)
    ? list.map((_, index) => ({ kind: 'index', index }))
    : isJsonObject(list)
      ? Object.keys(list).map(createFieldStep)
      : []
  return steps.flatMap((step) => expandPath([...before, step, ...after], values))
}

function createWholeChanges(
  targets: readonly Target[],
  { now, wanted }: ValueQuestion,
): readonly ValueChange[] {
  const isPart = isScalar(now) && isScalar(wanted)
  const fitting = targets.filter(({ path, value, writer, base }) => {
    if (path === undefined || isPart) return false
    if (now === undefined) return isEmpty(value) && (base !== path || isOpen(writer))
    return value !== undefined && isAlike(value, now)
  })
  return fitting.flatMap(({ path, value, writer }): ValueChange[] => {
    if (path === undefined) return []
    const step = writer.rest[0]
    const isNamed =
      step?.kind === 'item' &&
      path.at(-1)?.kind === 'field' &&
      isJsonObject(wanted) &&
      writer.rest.length === 1
    return [setTo(path, value, isNamed ? wanted['value'] : wanted)]
  })
}

function isOpen({ isField, rest }: FieldWriter): boolean {
  return isField || rest.length === 0
}

function isEmpty(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

function createPartChanges(
  leaves: readonly Leaf[],
  { now, wanted }: ValueQuestion,
): readonly ValueChange[] {
  const single = leaves.flatMap((leaf) => {
    const other = findOtherText(leaf.value, now, wanted)
    return other === undefined ? [] : [setTo(leaf.path, leaf.value, other)]
  })
  return [...single, ...listImageChanges(leaves, now, wanted)]
}

function emptyChanges(
  targets: readonly Target[],
  { now, wanted }: ValueQuestion,
): readonly ValueChange[] {
  return targets.flatMap(({ path, value }) =>
    path === undefined || !isEmpty(value) || typeof value === 'object'
      ? []
      : emptyParts(now, wanted).map((part): ValueChange => [{ path, wanted: part }]),
  )
}

function listChanges(
  targets: readonly Target[],
  { values, now, wanted }: ValueQuestion,
): readonly ValueChange[] {
  const paths = targets.flatMap(({ base }) => [
    base,
    ...base.flatMap((step, at) => (step.kind === 'index' ? [base.slice(0, at)] : [])),
  ])
  return deduplicatePaths(paths).flatMap((path): ValueChange[] => {
    const list = findValueAt(values, path)
    if (!isJsonArray(list)) return []
    const joined = listOfParts(list, now, wanted)
    if (joined !== undefined) return [[{ path, wanted: joined }]]
    if (!isJsonArray(now) || !isJsonArray(wanted))
      return wanted === undefined
        ? list.map((_, index) => [{ path: [...path, { kind: 'index', index }], wanted }])
        : []
    if (isAlike(list, now)) return [[{ path, wanted }]]
    if (now.length !== list.length || wanted.length !== now.length - 1) return []
    const gone = now.findIndex((each, at) => !isJsonEqual(each, wanted[at]))
    return [[{ path: [...path, { kind: 'index', index: gone }], wanted: undefined }]]
  })
}

function switchChanges(
  targets: readonly Target[],
  { values, writers, wanted }: ValueQuestion,
): readonly ValueChange[] {
  const off =
    wanted === undefined
      ? writers.flatMap(({ controls }) =>
          controls.toReversed().flatMap((path) => switchOff(path, findValueAt(values, path))),
        )
      : []
  const flipped = targets.flatMap(({ base, value }): ValueChange[] =>
    typeof value === 'boolean' ? [[{ path: base, wanted: !value }]] : [],
  )
  return [...flipped, ...off]
}

function listLeaves(value: Json, at: FieldPath): readonly Leaf[] {
  if (isJsonObject(value))
    return Object.entries(value).flatMap(([key, each]) =>
      listLeaves(each, [...at, createFieldStep(key)]),
    )
  if (isJsonArray(value))
    return value.flatMap((each, index) => listLeaves(each, [...at, { kind: 'index', index }]))
  return value === null ? [] : [{ path: at, value: value as Leaf['value'] }]
}

function isScalar(value: Json | undefined): boolean {
  return value !== undefined && value !== null && typeof value !== 'object'
}

/** A chart may quote it. */
function setTo(path: FieldPath, value: Json | undefined, wanted: Wanted): ValueChange {
  return [{ path, wanted: convertToTypeOf(wanted, value) }]
}

function deduplicateLeaves(leaves: readonly Leaf[]): readonly Leaf[] {
  return [...new Map(leaves.map((leaf) => [formatFieldPath(leaf.path), leaf])).values()]
}

function deduplicateChanges(changes: readonly ValueChange[]): readonly ValueChange[] {
  const nameOf = (change: ValueChange): string =>
    JSON.stringify(
      change.map(({ path, wanted }) => [
        formatFieldPath(path),
        wanted ?? null,
        wanted === undefined,
      ]),
    )
  return [...new Map(changes.map((change) => [nameOf(change), change])).values()]
}

export function listDifferences(now: Json | undefined, wanted: Wanted): readonly FieldPath[] {
  if (isJsonArray(now) && isJsonArray(wanted)) {
    if (now.length !== wanted.length) return [[]]
    return now.flatMap((each, index) =>
      listDifferences(each, wanted[index]).map(
        (path): FieldPath => [{ kind: 'index', index }, ...path],
      ),
    )
  }
  if (isJsonObject(now) && isJsonObject(wanted)) {
    const keys = [...new Set([...Object.keys(now), ...Object.keys(wanted)])]
    return keys.flatMap((key) =>
      listDifferences(now[key], wanted[key]).map(
        (path): FieldPath => [createFieldStep(key), ...path],
      ),
    )
  }
  return isJsonEqual(now, wanted) ? [] : [[]]
}
