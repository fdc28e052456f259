/** Histories of packages, cached over turns: of a base branch that moved only the commits since are read. */
import { LRUCache } from 'lru-cache'
import type { PackageHistory } from '../../drift/behind/sync-evidence.ts'
import { type HistoryContext, type HistoryOf, type KnownHistory, readPackageHistory } from './package-history.ts'

/** Objects of all histories together, one more for each history. */
const MOST_OBJECTS = 20_000

export class PackageHistories {
  private readonly known = new LRUCache<string, KnownHistory>({ maxSize: MOST_OBJECTS, sizeCalculation: sizeOf })
  private readonly reading = new Map<string, Promise<KnownHistory>>()

  /** As `readPackageHistory`. */
  async read(context: HistoryContext, of: HistoryOf, signal: AbortSignal): Promise<PackageHistory> {
    const { view, choice, namespace } = context
    const key = JSON.stringify([view.repository.remote, view.baseBranch, of.packagePath, choice, namespace])
    const known = this.known.get(key)
    if (known?.base === view.base) return known.history
    // The same package of several clusters, in one turn.
    const requested = `${key} ${view.base}`
    const reading = this.reading.get(requested) ?? readPackageHistory(context, { ...of, known }, signal)
    this.reading.set(requested, reading)
    try {
      const read = await reading
      if (read.lasting) this.known.set(key, read)
      else this.known.delete(key)
      return read.history
    } finally {
      this.reading.delete(requested)
    }
  }
}

function sizeOf({ history }: KnownHistory): number {
  return history.versions.reduce((sum, { objects }) => sum + objects.size, 1)
}
