/**
 * Follows a list item through patches: a JSON patch counts indexes, and every patch may move them.
 */
import { type FieldPath, findValueAt, indexOfStep, type PathStep } from '@backporch/kyaml/field'
import {
  findNonEmptyText,
  getPartAt,
  isJsonArray,
  isJsonEqual,
  type Json,
} from '@backporch/kyaml/json'
import type { SourceDocument } from '../../build/adopt/source-document.ts'

export class ListLocations {
  private readonly path: FieldPath
  /** By the number of the step into the list. Only item keys are updated. */
  private readonly lists: Map<number, readonly Json[]>
  private sure = true

  constructor(path: FieldPath, declared: Json | undefined) {
    this.path = path
    this.lists = new Map(
      path.flatMap((step, at) =>
        step.kind === 'item' || step.kind === 'member'
          ? [[at, getItems(findValueAt(declared, path.slice(0, at)))] as const]
          : [],
      ),
    )
  }

  /** A patch that may not apply may have moved something. */
  markUnsure(): void {
    this.sure = false
  }

  isSure(parts: number): boolean {
    return this.sure || ![...this.lists.keys()].some((at) => at < parts)
  }

  meets(pointer: readonly string[], does: string, value: Json | undefined): boolean {
    const last = pointer.length - 1
    const step = this.path[last]
    if (step === undefined || !this.isOn(pointer.slice(0, last))) return false
    if (does === 'add' && this.lists.has(last))
      return value !== undefined && indexOfStep([value], step) === 0
    return pointer[last] === this.getPartAt(last)
  }

  /**
   * As kustomize: the patch's items first, in its order (kyaml
   * `yaml/walk/associative_sequence.go`).
   */
  merge(document: SourceDocument): void {
    for (const [at, items] of this.lists) {
      const patched = document.getValueAt(this.path.slice(0, at))
      if (!isJsonArray(patched)) continue
      const step = this.path[at] as PathStep
      const retained = patched.filter((item) => getDirective(item) === undefined)
      const isReplaced = patched.some((item) => getDirective(item) === 'replace')
      const others = isReplaced
        ? []
        : items.filter((item) => !patched.some((each) => isSameItem(each, item, step)))
      this.lists.set(at, [...retained, ...others])
    }
  }

  operate(pointer: readonly string[], does: string, value: Json | undefined): void {
    const last = pointer.length - 1
    const isAbove = this.meets(pointer, does, value)
    const isBeside = this.isOn(pointer.slice(0, last)) && this.lists.has(last)
    if (does === 'test' || !(isAbove || isBeside)) return
    if (does === 'move' || does === 'copy') this.markUnsure()
    if (isBeside)
      this.lists.set(
        last,
        applyListChange(this.lists.get(last) ?? [], pointer[last] ?? '', does, value),
      )
    if (isAbove)
      for (const at of this.lists.keys())
        if (at > last)
          this.lists.set(
            at,
            does === 'remove'
              ? []
              : getItems(findValueAt(value, this.path.slice(pointer.length, at))),
          )
  }

  private isOn(pointer: readonly string[]): boolean {
    return (
      pointer.length <= this.path.length && pointer.every((part, at) => part === this.getPartAt(at))
    )
  }

  private getPartAt(at: number): string | undefined {
    const step = this.path[at]
    if (step === undefined) return undefined
    if (step.kind === 'field') return step.name
    return String(
      step.kind === 'index' ? step.index : indexOfStep([...(this.lists.get(at) ?? [])], step),
    )
  }
}

function getItems(value: Json | undefined): readonly Json[] {
  return isJsonArray(value) ? value : []
}

function applyListChange(
  items: readonly Json[],
  part: string,
  does: string,
  value: Json | undefined,
): readonly Json[] {
  const index = part === '-' ? items.length : Number(part)
  if (!Number.isInteger(index) || index < 0 || index > items.length) return items
  if (does === 'remove') return items.toSpliced(index, 1)
  if (value === undefined) return items
  return items.toSpliced(index, does === 'add' ? 0 : 1, value)
}

function getDirective(item: Json): string | undefined {
  const directive = findNonEmptyText(item, '$patch')
  return directive === 'merge' ? undefined : directive
}

/** A key that one of them lacks is a default. */
function isSameItem(one: Json, other: Json, step: PathStep): boolean {
  if (step.kind !== 'item') return isJsonEqual(one, other)
  return Object.keys(step.keys).every((key) => {
    const [left, right] = [one, other].map((each) => getPartAt(each, key))
    return left === undefined || right === undefined || isJsonEqual(left, right)
  })
}
