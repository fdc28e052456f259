/** What Kptfiles say, for texts that are read again and again: every turn asks it of each package, and Adopt of one package for each edit it tries. */
import { LRUCache } from 'lru-cache'
import { type Kptfile, type KptfileReading, readKptfile } from '../../package/kptfile.ts'

/** Characters of text in all. */
const KEPT_CHARACTERS = 4 * 1024 * 1024

/** The least recently read go first, and a text of more than a quarter of the limit is not kept. */
export class KnownKptfiles {
  readonly #kptfiles: LRUCache<string, Kptfile>

  constructor(limit: number) {
    this.#kptfiles = new LRUCache({ maxSize: limit, maxEntrySize: limit / 4, sizeCalculation: (_, text) => Math.max(1, text.length) })
  }

  get characters(): number {
    return this.#kptfiles.calculatedSize
  }

  /** As `readKptfile`. Failures are not kept: they name `where`. */
  read(text: string, where: string): KptfileReading {
    const known = this.#kptfiles.get(text)
    if (known !== undefined) return { kptfile: known }
    const reading = readKptfile(text, where)
    if (!('failures' in reading)) this.#kptfiles.set(text, reading.kptfile)
    return reading
  }
}

const known = new KnownKptfiles(KEPT_CHARACTERS)

/** As `KnownKptfiles.read`, with what this process knows. */
export function readKnownKptfile(text: string, where: string): KptfileReading {
  return known.read(text, where)
}
