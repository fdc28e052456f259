/** Adopt reads a Kptfile for each edit that it tries. */
import { LRUCache } from 'lru-cache'
import { type KptfileReading, readKptfile } from './kptfile.ts'
import type { Kptfile } from './kptfile-value.ts'

const KEPT_CHARACTERS = 4 * 1024 * 1024

/** A text over a quarter of the limit is not cached. */
export class KnownKptfiles {
  readonly #kptfiles: LRUCache<string, Kptfile>

  constructor(limit: number) {
    this.#kptfiles = new LRUCache({
      maxSize: limit,
      maxEntrySize: limit / 4,
      sizeCalculation: (_, text) => Math.max(1, text.length),
    })
  }

  get characters(): number {
    return this.#kptfiles.calculatedSize
  }

  /** Failures are not cached, because they name `where`. */
  read(text: string, where: string): KptfileReading {
    const known = this.#kptfiles.get(text)
    if (known !== undefined) return { kptfile: known }
    const reading = readKptfile(text, where)
    if (!('failures' in reading)) this.#kptfiles.set(text, reading.kptfile)
    return reading
  }
}

const known = new KnownKptfiles(KEPT_CHARACTERS)

export function readKnownKptfile(text: string, where: string): KptfileReading {
  return known.read(text, where)
}
