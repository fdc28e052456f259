/** Histories of packages, kept over turns: of a base branch that moved only the commits since are read. */
import type { PackageHistory } from '../../drift/behind/sync-evidence.ts'
import type { DesiredSet } from '../../render/desired-set.ts'
import { type HistoryGround, type HistoryOf, type KnownHistory, readPackageHistory } from './package-history.ts'

/** Objects of all histories together, the least lately asked of which go first. */
const MOST_OBJECTS = 20_000

export class PackageHistories {
  private readonly known = new Map<string, KnownHistory>()
  private objects = 0
  private readonly reading = new Map<string, Promise<KnownHistory>>()

  /** As `readPackageHistory`. */
  async read(ground: HistoryGround, of: HistoryOf, namespace: string, desired: DesiredSet, signal: AbortSignal): Promise<PackageHistory> {
    const key = JSON.stringify([ground.view.repository.remote, ground.view.baseBranch, of.packagePath, ground.choice, namespace])
    const known = this.known.get(key)
    if (known?.base === ground.view.base) {
      this.keep(key, known)
      return known.history
    }
    // The same package of several clusters, in one turn.
    const asked = `${key} ${ground.view.base}`
    const reading = this.reading.get(asked) ?? readPackageHistory(ground, { ...of, known }, namespace, desired, signal)
    this.reading.set(asked, reading)
    try {
      const read = await reading
      this.keep(key, read)
      return read.history
    } finally {
      this.reading.delete(asked)
    }
  }

  private keep(key: string, known: KnownHistory): void {
    this.drop(key)
    if (!known.lasting) return
    this.known.set(key, known)
    this.objects += sizeOf(known)
    for (const oldest of this.known.keys()) {
      if (this.objects <= MOST_OBJECTS) break
      this.drop(oldest)
    }
  }

  private drop(key: string): void {
    const known = this.known.get(key)
    if (known === undefined) return
    this.known.delete(key)
    this.objects -= sizeOf(known)
  }
}

function sizeOf({ history }: KnownHistory): number {
  return history.versions.reduce((sum, { objects }) => sum + objects.size, 0)
}
