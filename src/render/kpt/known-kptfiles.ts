/** What Kptfiles say, for texts that are read again and again: every turn asks it of each package, and Adopt of one package for each edit it tries. */
import { type Kptfile, type KptfileReading, readKptfile } from '../../package/kptfile.ts'

/** Characters of text in all. */
const KEPT_CHARACTERS = 4 * 1024 * 1024

/** The least recently read go first. */
export class KnownKptfiles {
  readonly #kptfiles = new Map<string, Kptfile>()
  readonly #limit: number
  #characters = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get characters(): number {
    return this.#characters
  }

  /** As `readKptfile`. Failures are not kept: they name `where`. */
  read(text: string, where: string): KptfileReading {
    const known = this.#kptfiles.get(text)
    const reading = known === undefined ? readKptfile(text, where) : { kptfile: known }
    if ('failures' in reading || text.length > this.#limit / 4) return reading
    if (known === undefined) this.#characters += text.length
    else this.#kptfiles.delete(text)
    this.#kptfiles.set(text, reading.kptfile)
    for (const oldest of this.#kptfiles.keys()) {
      if (this.#characters <= this.#limit) break
      this.#kptfiles.delete(oldest)
      this.#characters -= oldest.length
    }
    return reading
  }
}

const known = new KnownKptfiles(KEPT_CHARACTERS)

/** As `KnownKptfiles.read`, with what this process knows. */
export function readKnownKptfile(text: string, where: string): KptfileReading {
  return known.read(text, where)
}
