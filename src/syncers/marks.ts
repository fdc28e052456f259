/** Marks that the syncer itself wrote are not differences. */
import {
  createFieldStep,
  type FieldPath,
  type FieldSet,
  type FieldSetChild,
  findValueAt,
  getManagedFields,
  ownsLocation,
} from '@backporch/kyaml/field'
import { isJsonObject, type Json, type JsonObject } from '@backporch/kyaml/json'
import { canMarkAs, SYNCERS } from './registry.ts'
import type { Syncer } from './syncer.ts'

/** @param value live, undefined if not read */
export function listSyncersOfMark(path: FieldPath, value: Json | undefined): Syncer[] {
  const [metadata, map, key, below] = path
  if (
    metadata?.kind !== 'field' ||
    metadata.name !== 'metadata' ||
    map?.kind !== 'field' ||
    key?.kind !== 'field' ||
    below !== undefined
  ) {
    return []
  }
  const { name } = key
  const has = (marks: RegExp | 'none'): boolean => marks !== 'none' && marks.test(name)
  if (map.name === 'annotations') return SYNCERS.filter(({ marks }) => has(marks.annotations))
  if (map.name !== 'labels') return []
  const isShared = (shared: Syncer['marks']['shared']): boolean =>
    shared.some((one) => one.label === name && (one.value === undefined || one.value === value))
  return SYNCERS.filter(({ marks }) => has(marks.labels) || isShared(marks.shared))
}

/** A manual apply under a CI job's name leaves no Flux marks. */
export function isMarkOf(manager: string, path: FieldPath, value: Json | undefined): boolean {
  return listSyncersOfMark(path, value).some((syncer) => canMarkAs(syncer, manager))
}

/** It declared the rest for the package. */
export function removeMarks(
  manager: string,
  owned: FieldSet,
  wanted: FieldSet,
  liveAt: (path: FieldPath) => Json | undefined,
): FieldSet {
  const without = (all: FieldSet, declared: FieldSet, path: FieldPath): FieldSet => {
    if (path.length > 2) return all
    const children = new Map<string, FieldSetChild>()
    for (const [key, child] of all.children) {
      const here = [...path, child.step]
      const other = declared.children.get(key)
      if (other === undefined && isMarkOf(manager, here, liveAt(here))) continue
      const isMap =
        child.step.kind === 'field' &&
        MAPS.has(here.map((step) => (step.kind === 'field' ? step.name : '')).join('.'))
      const set = isMap ? without(child.set, other?.set ?? NOTHING, here) : child.set
      // A map with only marks was not declared either.
      if (isMap && set.children.size === 0 && child.set.children.size > 0 && other === undefined)
        continue
      children.set(key, { step: child.step, set })
    }
    return { owned: all.owned, children }
  }
  return without(owned, wanted, [])
}

const MAPS: ReadonlySet<string> = new Set(['metadata', 'metadata.labels', 'metadata.annotations'])
const NOTHING: FieldSet = { owned: false, children: new Map() }

/** A controller that copies an object with its marks owns the copy's. */
export function listWritersOfMarks(object: JsonObject): ReadonlySet<string> {
  const managed = getManagedFields(object)
  const marks = [...MAPS].slice(1).flatMap((map) => {
    const path = map.split('.').map(createFieldStep)
    const entries = findValueAt(object, path)
    return Object.entries(isJsonObject(entries) ? entries : {}).flatMap(([key, value]) =>
      listSyncersOfMark([...path, createFieldStep(key)], value).length > 0
        ? [[...path, createFieldStep(key)]]
        : [],
    )
  })
  return new Set(
    marks.flatMap((path) =>
      managed.entries
        .filter((entry) => ownsLocation(entry, path, managed))
        .map(({ manager }) => manager),
    ),
  )
}
