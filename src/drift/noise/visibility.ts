/**
 * A value inside of a Secret is hidden whatever a policy allows. Else the schema may call it a
 * password, or the policies hide or show it.
 */
import type { DesiredResource } from '@backporch/kpt/desired-set'
import {
  type FieldPath,
  type FieldSchema,
  findValueAt,
  indexOfStep,
  type PathStep,
} from '@backporch/kyaml/field'
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '@backporch/kyaml/json'
import {
  isCopyOfTheObject,
  isEmbeddedSecret,
  isSecret,
  type Visibility,
  type VisibilityOf,
} from '@backporch/kyaml/redaction'
import type { ResourceId } from '@backporch/kyaml/resource'
import type { Drift, ObjectVerdict } from '../compare/drift.ts'
import { findTargetMismatch, type IgnoreRule } from './ignore-rules.ts'
import { hasExpressionMatch } from './rule-expression.ts'
import { coversPlace, type RulePath } from './rule-path.ts'

export interface VisibilityRule {
  readonly target: IgnoreRule['target']
  readonly paths: readonly RulePath[]
  readonly patterns: readonly string[]
  readonly reason: string | undefined
  readonly where: string
}

export interface VisibilityRules {
  readonly hide: readonly VisibilityRule[]
  readonly show: readonly VisibilityRule[]
  /** A clause: the policy is currently unknown. */
  readonly withheld?: string
}

export function applyVisibility(
  verdict: ObjectVerdict,
  schema: FieldSchema,
  rules: VisibilityRules,
): ObjectVerdict {
  const { id, live, desired, items } = verdict
  if (items.length === 0) return verdict
  const unexpected = items.flatMap((item) =>
    item.change === 'unexpected' && isJsonObject(item.live) ? [item.live] : [],
  )
  const visibilityOf = hideDeclaredFields(desired, createVisibility(id, schema, rules))
  const objects = [live, desired?.object, ...unexpected].filter((object) => object !== undefined)
  const judged = new Map(
    items.map((item) => [item, applyDriftVisibility(item, objects, visibilityOf)]),
  )
  const observed = (item: Drift): Drift => judged.get(item) ?? item
  return {
    ...verdict,
    items: items.map(observed),
    ...(verdict.mayBeBehind === undefined
      ? {}
      : { mayBeBehind: new Set([...verdict.mayBeBehind].map(observed)) }),
    visibilityOf,
  }
}

function hideDeclaredFields(
  desired: DesiredResource | undefined,
  visibilityOf: VisibilityOf,
): VisibilityOf {
  if (desired?.hidden === undefined || desired.hidden.length === 0) return visibilityOf
  const { object: own, hidden } = desired
  const places = hidden.map((path) => findPlace(own, path) ?? [])
  return (path, value, object) => {
    const place = findPlace(own, path)
    const isHidden =
      place !== undefined &&
      places.some(
        (each) => each.length <= place.length && each.every((part, at) => part === place[at]),
      )
    return isHidden
      ? { shown: false, why: 'its value is substituted from a Secret' }
      : visibilityOf(path, value, object)
  }
}

function findPlace(object: JsonObject, path: FieldPath): readonly (string | number)[] | undefined {
  const place: (string | number)[] = []
  let value: Json | undefined = object
  for (const step of path) {
    if (value === undefined) return undefined
    const part: string | number = step.kind === 'field' ? step.name : indexOfStep(value, step)
    if (part === -1) return undefined
    place.push(part)
    value = findValueAt(value, [step])
  }
  return place
}

/** A rule that hides one value in one object hides the difference. */
function applyDriftVisibility(
  drift: Drift,
  objects: readonly JsonObject[],
  visibilityOf: VisibilityOf,
): Drift {
  const values = [drift.git, drift.live].filter((value) => value !== undefined)
  const text = objects.flatMap((object) =>
    values.map((value) =>
      findInnerVisibility(drift.path, value, (path, below) => visibilityOf(path, below, object)),
    ),
  )
  const visibility =
    text.find((one) => one?.shown === false) ?? text.find((one) => one !== undefined)
  return visibility === undefined ? drift : { ...drift, visibility }
}

/** A difference is shown or hidden as a whole. */
function findInnerVisibility(
  path: FieldPath,
  value: Json,
  visibilityOf: (path: FieldPath, value: Json) => Visibility | undefined,
): Visibility | undefined {
  const text = path.length === 0 ? undefined : visibilityOf(path, value)
  if (text?.shown === false) return text
  const below = isJsonArray(value)
    ? value.map((item, index) => [{ kind: 'index', index }, item] as const)
    : isJsonObject(value)
      ? Object.entries(value).map(([name, item]) => [{ kind: 'field', name }, item] as const)
      : []
  for (const [step, item] of below) {
    const inner = findInnerVisibility([...path, step], item, visibilityOf)
    if (inner?.shown === false) return inner
  }
  return text
}

/** @param schema an unknown schema marks nothing */
export function createVisibility(
  id: ResourceId,
  schema: FieldSchema,
  rules: VisibilityRules,
): VisibilityOf {
  const [hide = [], show = []] = [rules.hide, rules.show].map((some) =>
    some.filter((rule) => findTargetMismatch(id, rule, {}) === undefined),
  )
  const { withheld } = rules
  return (path, value, object) => {
    if (withheld !== undefined && !isOfIdentity(path)) return { shown: false, why: withheld }
    if (isInsideOfSecret(object, path) && !isSecret(id))
      return { shown: false, why: 'it is inside of a Secret' }
    const hides = hide.find((rule) => shouldHideValue(rule, path, value, object))
    if (hides !== undefined)
      return {
        shown: false,
        why: `${hides.where} hides it${hides.reason === undefined ? '' : `: ${hides.reason}`}`,
      }
    // Never shown as a whole; its other values are judged one by one.
    const shows =
      isSecret(id) || isNeverShown(path, value)
        ? undefined
        : show.find((rule) => covers(rule, path, object))
    if (shows !== undefined)
      return { shown: true, why: `${shows.where} shows it: ${shows.reason ?? ''}` }
    if (getPathSchema(schema, path).format === 'password')
      return { shown: false, why: PASSWORD_BY_SCHEMA }
    return undefined
  }
}

export const PASSWORD_BY_SCHEMA = 'the schema of its kind says format: password'

/** No policy can show a Secret or a copy of a whole object. */
export function isNeverShown(path: FieldPath, value: Json): boolean {
  return holdsSecret(value) || isCopy(path)
}

/** The identity of an object is always shown. */
function isOfIdentity(path: FieldPath): boolean {
  const [first, second] = path.map((step) => (step.kind === 'field' ? step.name : ''))
  if (first !== 'metadata') return first === 'apiVersion' || first === 'kind'
  return second === undefined || second === 'name' || second === 'namespace'
}

function shouldHideValue(
  rule: VisibilityRule,
  path: FieldPath,
  value: Json,
  object: JsonObject,
): boolean {
  if (rule.patterns.length === 0) return covers(rule, path, object)
  if (rule.paths.length > 0 && !covers(rule, path, object)) return false
  const text =
    typeof value === 'string'
      ? value
      : typeof value === 'number' || typeof value === 'bigint'
        ? String(value)
        : undefined
  return text !== undefined && rule.patterns.some((pattern) => hasExpressionMatch(pattern, text))
}

function covers({ paths }: VisibilityRule, path: FieldPath, object: JsonObject): boolean {
  return paths.some(
    (rule) =>
      coversPlace(rule, path, object) || coversPlace(rule, resolveNames(path, object), object),
  )
}

/** An item has one name, whoever wrote the path. */
function resolveNames(path: FieldPath, object: JsonObject): FieldPath {
  return path.map((step, at): PathStep => {
    if (step.kind === 'field' || step.kind === 'member') return step
    const item = findValueAt(object, path.slice(0, at + 1))
    if (!isJsonObject(item)) return step
    const keys = Object.entries(item).filter(
      ([, value]) => !isJsonObject(value) && !isJsonArray(value),
    )
    return keys.length === 0
      ? step
      : {
          kind: 'item',
          keys: { ...Object.fromEntries(keys), ...(step.kind === 'item' ? step.keys : {}) },
        }
  })
}

function isInsideOfSecret(object: JsonObject, path: FieldPath): boolean {
  let above: Json | undefined = object
  for (const step of path) {
    if (above === undefined) return false
    if (isJsonObject(above) && isEmbeddedSecret(above)) return true
    above = findValueAt(above, [step])
  }
  return false
}

function holdsSecret(value: Json): boolean {
  if (isJsonArray(value)) return value.some(holdsSecret)
  return (
    isJsonObject(value) &&
    (isEmbeddedSecret(value) ||
      Object.entries(value).some(([key, below]) => isCopyOfTheObject(key) || holdsSecret(below)))
  )
}

function isCopy(path: FieldPath): boolean {
  return path.some((step) => step.kind === 'field' && isCopyOfTheObject(step.name))
}

export function getPathSchema(schema: FieldSchema, path: FieldPath): FieldSchema {
  return path.reduce(
    (at, step) => (step.kind === 'field' ? at.getChildSchema(step.name) : at.getItemSchema()),
    schema,
  )
}
