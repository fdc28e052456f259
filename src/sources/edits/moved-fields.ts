import type { DesiredResource, SourceLocation } from '@backporch/kpt/desired-set'
import { type FieldPath, findValueAt } from '@backporch/kyaml/field'
import { isJsonObject } from '@backporch/kyaml/json'
import { formatRedactedPath } from '@backporch/kyaml/redaction'
import { describeResourceId, getResourceKey } from '@backporch/kyaml/resource'
import { leaves, listOtherDifferences, type Rendered } from './prove-edit.ts'
import { isEdited, isWanted, type ResolvedChange } from './resolution-edits.ts'

export interface MovedField {
  readonly resource: DesiredResource
  /** Empty for an object that appeared or disappeared. */
  readonly path: FieldPath
}

export function describeMoved({ resource, path }: MovedField): string {
  const name = describeResourceId(resource.id)
  return path.length === 0 ? name : `${formatRedactedPath(path, resource.id)} of ${name}`
}

export function listMoved(moved: readonly MovedField[]): string {
  return listSome(moved, describeMoved)
}

export function listSome<T>(all: readonly T[], describe: (each: T) => string): string {
  const names = all.slice(0, 2).map(describe)
  return all.length <= 2 ? names.join(' and ') : `${names.join(', ')} and ${all.length - 2} more`
}

/** An id in a report may have the namespace that the cluster adds. */
export function isSameDeclaration(one: DesiredResource, other: DesiredResource): boolean {
  const [left, right] = [one.location, other.location]
  return (
    isSamePlace(left, right) &&
    one.id.group === other.id.group &&
    one.id.kind === other.id.kind &&
    one.id.name === other.id.name &&
    (one.id.namespace === other.id.namespace ||
      one.id.namespace === '' ||
      other.id.namespace === '')
  )
}

function isSamePlace(left: SourceLocation, right: SourceLocation): boolean {
  return (
    left.path === right.path &&
    left.document === right.document &&
    left.item === right.item &&
    left.step === right.step
  )
}

export class RenderedBefore {
  readonly rendered: Rendered
  private readonly chosen = new Map<string, ResolvedChange[]>()

  constructor(rendered: Rendered, changes: readonly ResolvedChange[]) {
    this.rendered = rendered
    const all = [...rendered.values()]
    for (const change of changes) {
      if (!isEdited(change)) continue
      const own = all.find((resource) =>
        isSameDeclaration(resource, change.desired as DesiredResource),
      )
      if (own === undefined) continue
      const key = getResourceKey(own.id)
      this.chosen.set(key, [...(this.chosen.get(key) ?? []), change])
    }
  }

  findKey(change: ResolvedChange): string | undefined {
    for (const [key, changes] of this.chosen) if (changes.includes(change)) return key
    return undefined
  }

  /** The object may have another name or namespace after the edit. */
  hasLanded(change: ResolvedChange, after: Rendered): boolean {
    const key = this.findKey(change)
    const was = key === undefined ? undefined : this.rendered.get(key)
    if (key === undefined || was === undefined) return change.drift.change === 'missing'
    if (change.drift.change === 'missing') return !after.has(key)
    const is = after.get(key) ?? takeRenamed(was, this.listAppeared(after))
    return is !== undefined && hasWanted(is, change)
  }

  /** A later render may have moved an object to another namespace. */
  renderAgain(rendered: Rendered): RenderedBefore {
    const other = new RenderedBefore(rendered, [])
    const appeared = this.listAppeared(rendered)
    for (const [key, changes] of this.chosen) {
      const was = rendered.has(key) ? undefined : this.rendered.get(key)
      const renamed = was === undefined ? undefined : takeRenamed(was, appeared)
      other.chosen.set(renamed === undefined ? key : getResourceKey(renamed.id), changes)
    }
    return other
  }

  private listAppeared(after: Rendered): Map<string, DesiredResource> {
    return new Map([...after].filter(([key]) => !this.rendered.has(key)))
  }

  /** @param pending changes whose fields may still have any value */
  listOtherMoves(after: Rendered, pending: readonly ResolvedChange[] = []): readonly MovedField[] {
    const moved: MovedField[] = []
    const appeared = this.listAppeared(after)
    for (const [key, was] of this.rendered) {
      const changes = this.chosen.get(key) ?? []
      const removed = changes.some(({ drift }) => drift.change === 'missing')
      const is = after.get(key) ?? (removed ? undefined : takeRenamed(was, appeared))
      if (is !== undefined) moved.push(...listMovedWithin({ was, is }, changes, pending))
      else if (!removed) moved.push({ resource: was, path: [] })
    }
    for (const resource of appeared.values()) moved.push({ resource, path: [] })
    return moved
  }
}

function takeRenamed(
  was: DesiredResource,
  appeared: Map<string, DesiredResource>,
): DesiredResource | undefined {
  const alike = [...appeared].filter(
    ([, { id }]) => id.group === was.id.group && id.kind === was.id.kind,
  )
  const [key, is] =
    alike.find(([, { id }]) => id.name === was.id.name) ??
    alike.find(
      ([, { location }]) => location.step === undefined && isSamePlace(location, was.location),
    ) ??
    []
  if (key !== undefined) appeared.delete(key)
  return is
}

/** Another name or namespace means another object, not a field change. */
function isIdentity([first, second]: FieldPath): boolean {
  if (first?.kind !== 'field' || first.name !== 'metadata') return false
  return (
    second === undefined ||
    (second.kind === 'field' && (second.name === 'name' || second.name === 'namespace'))
  )
}

/** A list item may lack identifying keys: the server adds them. */
function hasWanted({ object }: DesiredResource, change: ResolvedChange): boolean {
  const value = findValueAt(object, change.drift.path)
  if (isWanted(change, value)) return true
  const step = change.drift.path.at(-1)
  return (
    step?.kind === 'item' && isJsonObject(value) && isWanted(change, { ...step.keys, ...value })
  )
}

function listMovedWithin(
  { was, is }: { readonly was: DesiredResource; readonly is: DesiredResource },
  changes: readonly ResolvedChange[],
  pending: readonly ResolvedChange[],
): readonly MovedField[] {
  const asChosen = changes
    .filter(
      (change) =>
        !isIdentity(change.drift.path) && (pending.includes(change) || hasWanted(is, change)),
    )
    .map(({ drift }) => drift.path)
  return [...listOtherDifferences(was.object, is.object, [], asChosen)].flatMap((location) =>
    [...leaves(findValueAt(was.object, location), findValueAt(is.object, location), location)].map(
      (path) => ({ resource: was, path }),
    ),
  )
}
