/** Memory limits, independent of bytes (ADR 74). */
import { Failure } from '@backporch/kyaml/failure'
import { isJsonObject, type Json } from '@backporch/kyaml/json'
import { describeMost } from '@backporch/kyaml/read-yaml'

/** Each key and value takes up to 70 bytes during the comparison. */
const MOST_NODES = 1_000_000
/** The largest published schemas have half as many. */
const MOST_OBJECT_NODES = 150_000
/** Same limit as for a function's output. */
const MOST_OBJECTS = 50_000

export class PackageMeter {
  private nodes = 0
  private objects = 0

  /** Undefined within the limits. */
  count(object: Json): { readonly why: string; readonly remedy: string } | undefined {
    this.objects += 1
    if (this.objects > MOST_OBJECTS)
      return { why: `the package has ${describeMost(MOST_OBJECTS)} objects`, remedy: SPLIT }
    const nodes = countNodes(object, MOST_OBJECT_NODES)
    if (nodes > MOST_OBJECT_NODES)
      return {
        why: `the object has ${describeMost(MOST_OBJECT_NODES)} keys and values`,
        remedy: 'split the object, or keep it out of the package',
      }
    this.nodes += nodes
    if (this.nodes > MOST_NODES)
      return {
        why: `the objects of the package have ${describeMost(MOST_NODES)} keys and values`,
        remedy: SPLIT,
      }
    return undefined
  }
}

const SPLIT = 'split the package, or keep large files outside of it'

export function createTooLargePackageFailure(
  where: string,
  { why, remedy }: { readonly why: string; readonly remedy: string },
): Failure {
  return new Failure({
    code: 'BP1111',
    what: 'the package is not read',
    where,
    why,
    remedy,
    retry: 'on-change',
  })
}

/** Aliases count at each occurrence. */
function countNodes(value: Json, most: number): number {
  let nodes = 0
  const waiting: Json[] = [value]
  for (let next = waiting.pop(); next !== undefined && nodes <= most; next = waiting.pop()) {
    nodes += 1
    if (typeof next !== 'object' || next === null) continue
    const below = Object.values(next) as readonly Json[]
    if (isJsonObject(next)) nodes += below.length
    for (const each of below) waiting.push(each)
  }
  return nodes
}
