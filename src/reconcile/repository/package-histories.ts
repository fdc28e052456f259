/** Histories of packages, kept over turns: of a base branch that moved only the commits since are read. */
import { LRUCache } from 'lru-cache'
import type { PackageHistory } from '../../drift/behind/sync-evidence.ts'
import type { DesiredSet } from '../../render/desired-set.ts'
import { type HistoryGround, type HistoryOf, type KnownHistory, readPackageHistory } from './package-history.ts'

/** Objects of all histories together, one more for each history. */
const MOST_OBJECTS = 20_000

export class PackageHistories {
  private readonly known = new LRUCache<string, KnownHistory>({ maxSize: MOST_OBJECTS, sizeCalculation: sizeOf })
  private readonly reading = new Map<string, Promise<KnownHistory>>()

  /** As `readPackageHistory`. */
  async read(ground: HistoryGround, of: HistoryOf, namespace: string, desired: DesiredSet, signal: AbortSignal): Promise<PackageHistory> {
    const key = JSON.stringify([ground.view.repository.remote, ground.view.baseBranch, of.packagePath, ground.choice, namespace])
    const known = this.known.get(key)
    if (known?.base === ground.view.base) return known.history
    // The same package of several clusters, in one turn.
    const asked = `${key} ${ground.view.base}`
    const reading = this.reading.get(asked) ?? readPackageHistory(ground, { ...of, known }, namespace, desired, signal)
    this.reading.set(asked, reading)
    try {
      const read = await reading
      if (read.lasting) this.known.set(key, read)
      else this.known.delete(key)
      return read.history
    } finally {
      this.reading.delete(asked)
    }
  }
}

function sizeOf({ history }: KnownHistory): number {
  return history.versions.reduce((sum, { objects }) => sum + objects.size, 1)
}
