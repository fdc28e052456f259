/** Follows syncer resources, because a changed one may name other units. */
import type { JsonObject } from '@backporch/kyaml/json'
import type { ResourceId } from '@backporch/kyaml/resource'
import { LRUCache } from 'lru-cache'
import type { SourceKind } from '../../../sources/build/unit-source.ts'
import { DISCOVERIES } from '../../../sources/registry.ts'
import type { ClusterVerdicts } from './cluster-verdicts.ts'

const MOST_SOURCES = 5_000

const SOURCE_KINDS: readonly SourceKind[] = DISCOVERIES.flatMap(({ kinds }) => kinds)
const NAMES: ReadonlySet<string> = new Set(
  SOURCE_KINDS.map(({ group, kind }) => `${group}/${kind}`),
)

export function listOtherSourceKinds(followed: ReadonlySet<string>): readonly SourceKind[] {
  return DISCOVERIES.flatMap(({ kinds }) =>
    kinds.some(({ group, kind }) => followed.has(`${group}/${kind}`))
      ? kinds.filter(({ use }) => use === undefined)
      : [],
  )
}

/** Each method returns whether the units may have changed. Kinds are `group/Kind`. */
export class FollowedSources {
  private readonly verdicts: ClusterVerdicts
  private readonly sources = new LRUCache<string, { readonly kind: string; readonly mark: string }>(
    {
      maxSize: MOST_SOURCES,
      sizeCalculation: () => 1,
    },
  )
  /** Objects that a later list adds are new. */
  private readonly listedOnce = new Set<string>()

  constructor(verdicts: ClusterVerdicts) {
    this.verdicts = verdicts
  }

  handleChange(kind: string, id: ResourceId, object: JsonObject, isListed: boolean): boolean {
    if (!NAMES.has(kind)) return false
    const key = this.verdicts.computeHash(id).join(' ')
    const mark = this.verdicts.createMark(object).join(' ')
    const before = this.sources.get(key)
    this.sources.set(key, { kind, mark })
    return before === undefined ? !isListed || this.listedOnce.has(kind) : before.mark !== mark
  }

  handleDeletion(kind: string, id: ResourceId): boolean {
    return NAMES.has(kind) && this.sources.delete(this.verdicts.computeHash(id).join(' '))
  }

  /** @param seen hashes of the complete list's ids */
  finishList(kind: string, seen: ReadonlySet<string>): boolean {
    if (!NAMES.has(kind)) return false
    this.listedOnce.add(kind)
    const gone = [...this.sources].filter(([key, source]) => source.kind === kind && !seen.has(key))
    for (const [key] of gone) this.sources.delete(key)
    return gone.length > 0
  }
}
