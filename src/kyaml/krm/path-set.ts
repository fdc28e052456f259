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

  covers(path: FieldPath): boolean {
    return this.reach(path) === 'covered'
  }

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
    // Only an empty set has a root without members below.
    return node.member ? 'covered' : node.below.size > 0 ? 'above' : 'outside'
  }
}
