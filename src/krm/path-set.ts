/** Places of one object, to ask in one step whether a place overlaps with one of them. */
import type { FieldPath } from './field-path.ts'
import { stepKey } from './field-set.ts'

interface PathNode {
  member: boolean
  readonly below: Map<string, PathNode>
}

export class PathSet {
  private readonly root: PathNode = { member: false, below: new Map() }

  constructor(paths: Iterable<FieldPath> = []) {
    for (const path of paths) this.add(path)
  }

  add(path: FieldPath): void {
    let node = this.root
    for (const step of path) {
      const key = stepKey(step)
      const next = node.below.get(key) ?? { member: false, below: new Map() }
      node.below.set(key, next)
      node = next
    }
    node.member = true
  }

  /** Whether the place or one above it is a member. */
  covers(path: FieldPath): boolean {
    return this.reach(path) === 'covered'
  }

  /** Whether the place, one above it or one below it is a member. */
  overlaps(path: FieldPath): boolean {
    return this.reach(path) !== 'outside'
  }

  private reach(path: FieldPath): 'covered' | 'above' | 'outside' {
    let node = this.root
    for (const step of path) {
      if (node.member) return 'covered'
      const next = node.below.get(stepKey(step))
      if (next === undefined) return 'outside'
      node = next
    }
    // Only the root of an empty set has neither.
    return node.member ? 'covered' : node.below.size > 0 ? 'above' : 'outside'
  }
}
