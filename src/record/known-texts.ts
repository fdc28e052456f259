/** What texts say, for texts that are read again and again: each turn reads the whole ledger, and most of it as the turn before left it. */
import { parseGoYaml } from '../krm/go-yaml.ts'
import type { Json } from '../krm/json.ts'

/** Characters of text in all. */
const KEPT_CHARACTERS = 8 * 1024 * 1024

/** The least recently read go first. Values are frozen, because everybody who reads the text is given the same one. */
export class KnownTexts {
  readonly #values = new Map<string, Json | undefined>()
  readonly #limit: number
  #characters = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get characters(): number {
    return this.#characters
  }

  /**
   * @returns the first document's value; undefined for a text without any
   * @throws Failure BP1110 or BP1111, which is not kept: it names `where`
   */
  read(text: string, where: string): Json | undefined {
    const known = this.#values.has(text)
    const value = known ? this.#values.get(text) : frozen(parseGoYaml(text, where).documents[0]?.value)
    if (known) this.#values.delete(text)
    else if (text.length > this.#limit / 4) return value
    else this.#characters += text.length
    this.#values.set(text, value)
    for (const oldest of this.#values.keys()) {
      if (this.#characters <= this.#limit) break
      this.#values.delete(oldest)
      this.#characters -= oldest.length
    }
    return value
  }
}

const known = new KnownTexts(KEPT_CHARACTERS)

/** As `KnownTexts.read`, with what this process knows. */
export function readKnownText(text: string, where: string): Json | undefined {
  return known.read(text, where)
}

function frozen<Value extends Json | undefined>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  for (const below of Object.values(value)) frozen(below)
  return Object.freeze(value)
}
