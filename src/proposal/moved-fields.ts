/** The fields of the rendered package that an edit of the sources moves. */
import { type FieldPath, field, valueAt } from '../krm/field-path.ts'
import { shownPathOnly } from '../krm/redaction/shown-path.ts'
import { describeResourceId, resourceKey } from '../krm/resource-id.ts'
import type { DesiredResource } from '../render/desired-set.ts'
import { getKey, isJsonArray, isJsonObject, type Json, jsonEquals } from '../text/json.ts'
import { otherDifferences, type Rendered } from './prove-edit.ts'
import { isEdited, type ResolvedChange } from './resolution-edits.ts'

/** A field, or an object that appeared or disappeared. */
export interface MovedField {
  readonly resource: DesiredResource
  /** Empty for an object that appeared or disappeared. */
  readonly path: FieldPath
}

export function describeMoved({ resource, path }: MovedField): string {
  const name = describeResourceId(resource.id)
  return path.length === 0 ? name : `${shownPathOnly(path)} of ${name}`
}

/** `a`, `a and b`, or `a, b and 3 more`. */
export function listMoved(moved: readonly MovedField[]): string {
  const names = moved.slice(0, 2).map(describeMoved)
  if (moved.length <= 2) return names.join(' and ')
  return `${names.join(', ')} and ${moved.length - 2} more`
}

/** The value of the field after the edit; undefined where the field is removed. */
export function wantedBy({ drift, resolution }: ResolvedChange): Json | undefined {
  return resolution === 'Adopt' && drift.change !== 'removed' ? drift.live : undefined
}

/** Whether two resources are one declaration. An id in a report may have the namespace that the cluster adds. */
export function isSameDeclaration(one: DesiredResource, other: DesiredResource): boolean {
  const [left, right] = [one.location, other.location]
  return (
    left.path === right.path &&
    left.document === right.document &&
    left.item === right.item &&
    left.step === right.step &&
    one.id.group === other.id.group &&
    one.id.kind === other.id.kind &&
    one.id.name === other.id.name &&
    (one.id.namespace === other.id.namespace || one.id.namespace === '' || other.id.namespace === '')
  )
}

/** The rendered package before an edit, to compare with the one after it. */
export class RenderedBefore {
  readonly rendered: Rendered
  private readonly chosen = new Map<string, ResolvedChange[]>()

  constructor(rendered: Rendered, changes: readonly ResolvedChange[]) {
    this.rendered = rendered
    const all = [...rendered.values()]
    for (const change of changes) {
      if (!isEdited(change)) continue
      const own = all.find((resource) => isSameDeclaration(resource, change.desired as DesiredResource))
      if (own === undefined) continue
      const key = resourceKey(own.id)
      this.chosen.set(key, [...(this.chosen.get(key) ?? []), change])
    }
  }

  /** Key of the resource of the change; undefined where the package does not render it. */
  keyOf(change: ResolvedChange): string | undefined {
    for (const [key, changes] of this.chosen) if (changes.includes(change)) return key
    return undefined
  }

  /** Whether the rendered package has the result of the change. */
  landed(change: ResolvedChange, after: Rendered): boolean {
    const key = this.keyOf(change)
    const is = key === undefined ? undefined : after.get(key)
    if (change.drift.change === 'missing') return is === undefined
    return is !== undefined && jsonEquals(valueAt(is.object, change.drift.path), wantedBy(change))
  }

  /** Everything that moved without being part of a change. */
  otherMoves(after: Rendered): readonly MovedField[] {
    const moved: MovedField[] = []
    for (const [key, was] of this.rendered) {
      const changes = this.chosen.get(key) ?? []
      const is = after.get(key)
      if (is === undefined) {
        if (!changes.some(({ drift }) => drift.change === 'missing')) moved.push({ resource: was, path: [] })
        continue
      }
      const asChosen = changes.filter((change) => this.landed(change, after)).map(({ drift }) => drift.path)
      for (const location of otherDifferences(was.object, is.object, [], asChosen))
        for (const path of leaves(valueAt(was.object, location), valueAt(is.object, location), location))
          moved.push({ resource: was, path })
    }
    for (const [key, resource] of after) if (!this.rendered.has(key)) moved.push({ resource, path: [] })
    return moved
  }
}

/** The deepest paths that differ. */
export function* leaves(was: Json | undefined, is: Json | undefined, path: FieldPath): Generator<FieldPath> {
  if (jsonEquals(was, is)) return
  if (isJsonObject(was) && isJsonObject(is)) {
    for (const key of new Set([...Object.keys(was), ...Object.keys(is)]))
      yield* leaves(getKey(was, key), getKey(is, key), [...path, field(key)])
  } else if (isJsonArray(was) && isJsonArray(is) && was.length === is.length) {
    for (const [index, item] of was.entries()) yield* leaves(item, is[index], [...path, { kind: 'index', index }])
  } else yield path
}
