/**
 * Owned by a manager (`fieldsV1`), or declared by a manifest. As structured-merge-diff's
 * `fieldpath.Set`; `buildFieldSet` follows `ToFieldSet` (typed/tofieldset.go).
 */
import {
  formatCanonicalJson,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  parseJson,
} from '../text/json.ts'
import { DEEPEST } from '../text/json-depth.ts'
import { createWordSet } from '../text/words.ts'
import { createFieldStep, type FieldPath, type PathStep } from './field-path.ts'
import type { FieldSchema } from './field-schema.ts'

export interface FieldSet {
  readonly owned: boolean
  readonly children: ReadonlyMap<string, FieldSetChild>
}
export interface FieldSetChild {
  readonly step: PathStep
  readonly set: FieldSet
}

export function stepKey(step: PathStep): string {
  if (step.kind === 'field') return `f:${step.name}`
  if (step.kind === 'item') return `k:${formatCanonicalJson(step.keys)}`
  if (step.kind === 'member') return `v:${formatCanonicalJson(step.value)}`
  return `i:${step.index}`
}

/** Undefined for an unknown prefix, a list, broken JSON in a key, or too much depth. */
export function parseFieldsV1(value: Json | undefined, depth = 0): FieldSet | undefined {
  if (!isJsonObject(value) || depth > DEEPEST) return undefined
  const children = new Map<string, FieldSetChild>()
  let owned = false
  for (const [key, below] of Object.entries(value)) {
    if (key === '.') {
      owned = true
      continue
    }
    const step = parseFieldsV1Key(key)
    const set = parseFieldsV1(below, depth + 1)
    if (step === undefined || set === undefined) return undefined
    children.set(stepKey(step), { step, set })
  }
  // `{}` is a leaf: the location itself is owned.
  return { owned: owned || children.size === 0, children }
}

function parseFieldsV1Key(key: string): PathStep | undefined {
  const rest = key.slice(2)
  if (key.startsWith('f:')) return createFieldStep(rest)
  try {
    if (key.startsWith('k:')) {
      const keys = parseJson(rest)
      return isJsonObject(keys) && Object.keys(keys).length > 0 ? { kind: 'item', keys } : undefined
    }
    if (key.startsWith('v:')) return { kind: 'member', value: parseJson(rest) }
  } catch {
    return undefined
  }
  if (!key.startsWith('i:')) return undefined
  const index = Number(rest)
  return Number.isInteger(index) ? { kind: 'index', index } : undefined
}

// apimachinery, managedfields/internal/stripmeta.go
const UNTRACKED_TOP = new Set(['apiVersion', 'kind'])
const UNTRACKED_METADATA = createWordSet(
  'name namespace creationTimestamp selfLink uid clusterName generation managedFields resourceVersion',
)

export function buildFieldSet(object: JsonObject, schema: FieldSchema): FieldSet {
  const children = new Map<string, FieldSetChild>()
  for (const [name, value] of Object.entries(object)) {
    if (UNTRACKED_TOP.has(name)) continue
    if (name === 'metadata' && isJsonObject(value)) {
      const retained = Object.entries(value).filter(([key]) => !UNTRACKED_METADATA.has(key))
      if (retained.length === 0) continue
      addChild(children, name, setOfMap(Object.fromEntries(retained), schema.getChildSchema(name)))
    } else addChild(children, name, setOfValue(value, schema.getChildSchema(name)))
  }
  return { owned: false, children }
}

function addChild(children: Map<string, FieldSetChild>, name: string, set: FieldSet): void {
  if (set.owned || set.children.size > 0)
    children.set(`f:${name}`, { step: createFieldStep(name), set })
}

const LEAF: FieldSet = { owned: true, children: new Map() }

function setOfValue(value: Json, schema: FieldSchema): FieldSet {
  if (isJsonObject(value)) return schema.atomic ? LEAF : setOfMap(value, schema)
  if (isJsonArray(value)) return setOfList(value, schema)
  return LEAF
}

function setOfMap(value: JsonObject, schema: FieldSchema): FieldSet {
  const children = new Map<string, FieldSetChild>()
  for (const [name, below] of Object.entries(value)) {
    const set = setOfValue(below, schema.getChildSchema(name))
    const empty = below === null || (isJsonObject(below) && Object.keys(below).length === 0)
    addChild(
      children,
      name,
      empty || !schema.hasField(name) ? { owned: true, children: set.children } : set,
    )
  }
  return { owned: false, children }
}

function setOfList(list: readonly Json[], schema: FieldSchema): FieldSet {
  if (schema.listType === 'atomic' || schema.kind !== 'list') return LEAF
  const children = new Map<string, FieldSetChild>()
  for (const item of list) {
    const step = stepOfItem(item, schema)
    if (step === undefined) return LEAF
    const below = step.kind === 'item' ? setOfValue(item, schema.getItemSchema()) : LEAF
    children.set(stepKey(step), { step, set: { owned: true, children: below.children } })
  }
  return { owned: false, children }
}

export function stepOfItem(item: Json, schema: FieldSchema): PathStep | undefined {
  if (schema.listType === 'set') return { kind: 'member', value: item }
  if (schema.listType !== 'map' || !isJsonObject(item)) return undefined
  const keys: { [key: string]: Json } = {}
  for (const key of schema.keys) {
    const value = getKey(item, key) ?? schema.getItemSchema().findDefault(key)
    if (value !== undefined) keys[key] = value
  }
  return Object.keys(keys).length === 0 ? undefined : { kind: 'item', keys }
}

export function ownsPath(set: FieldSet, path: FieldPath): boolean {
  return findSubset(set, path)?.owned ?? false
}

export function findSubset(set: FieldSet, path: FieldPath): FieldSet | undefined {
  let current: FieldSet | undefined = set
  for (const step of path) {
    current = current.children.get(stepKey(step))?.set
    if (current === undefined) return undefined
  }
  return current
}

/** Atomic parents own everything below. */
export function touchesPath(set: FieldSet, path: FieldPath): boolean {
  let current: FieldSet = set
  for (const step of path) {
    const next: FieldSetChild | undefined = current.children.get(stepKey(step))
    // A leaf above the location owns the whole subtree (an atomic list or map).
    if (next === undefined) return current.owned && current.children.size === 0
    current = next.set
  }
  return true
}

export function findLeafDepthAbove(set: FieldSet, path: FieldPath): number | undefined {
  let current: FieldSet = set
  for (const [depth, step] of path.entries()) {
    const next = current.children.get(stepKey(step))
    if (next === undefined) return current.owned && current.children.size === 0 ? depth : undefined
    current = next.set
  }
  return undefined
}

export function listLeaves(set: FieldSet): FieldPath[] {
  const leaves: FieldPath[] = []
  visit(set, [])
  return leaves

  function visit(current: FieldSet, path: FieldPath): void {
    if (current.children.size === 0 && path.length > 0) leaves.push(path)
    for (const { step, set: below } of current.children.values()) visit(below, [...path, step])
  }
}

export function hasSameLeaves(left: FieldSet, right: FieldSet): boolean {
  if (left.children.size !== right.children.size) return false
  for (const [key, child] of left.children) {
    const other = right.children.get(key)
    if (other === undefined || !hasSameLeaves(child.set, other.set)) return false
  }
  return true
}

export function countCovered(wanted: FieldSet, by: FieldSet): number {
  return listLeaves(wanted).filter((path) => touchesPath(by, path)).length
}
