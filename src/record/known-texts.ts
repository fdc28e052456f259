/** Each turn reads the whole ledger, and most of it is unchanged since the previous turn. */
import { createHash } from 'node:crypto'
import type { Json } from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { LRUCache } from 'lru-cache'

/**
 * Characters. The values of a text take about three bytes per character. 10,000 changes have 15
 * million.
 */
const KEPT_CHARACTERS = 32 * 1024 * 1024

/** Frozen, because all readers of the text share the values. */
interface KnownText {
  readonly value: Json | undefined
  readonly checked: Map<object, unknown>
  written: object | undefined
}

/** Least recently read first; no text of more than a quarter of the limit is cached. */
export class KnownTexts {
  readonly #texts: LRUCache<string, KnownText>

  constructor(limit: number) {
    this.#texts = new LRUCache({ maxSize: limit, maxEntrySize: limit / 4 })
  }

  get characters(): number {
    return this.#texts.calculatedSize
  }

  /** @throws Failure BP1110 or BP1111, which is not cached: it names `where` */
  read(text: string, where: string): KnownText {
    const digest = computeDigest(text)
    const before = this.#texts.get(digest)
    if (before !== undefined) return before
    const known = {
      value: freezeDeep(parseGoYaml(text, where).documents[0]?.value),
      checked: new Map(),
      written: undefined,
    }
    this.#keep(digest, known, text.length)
    return known
  }

  findKnown(text: string): KnownText | undefined {
    return this.#texts.get(computeDigest(text))
  }

  /** The document is frozen, and must be plain data without undefined. */
  remember(text: string, document: object): void {
    this.#keep(
      computeDigest(text),
      { value: freezeDeep(document as Json), checked: new Map(), written: document },
      text.length,
    )
  }

  forget(): void {
    this.#texts.clear()
  }

  #keep(digest: string, known: KnownText, characters: number): void {
    this.#texts.set(digest, known, { size: Math.max(1, characters) })
  }
}

function computeDigest(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}

export const knownTexts = new KnownTexts(KEPT_CHARACTERS)

/** The parts of a frozen object must be frozen too. */
export function freezeDeep<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const below of Object.values(value)) freezeDeep(below)
  return Object.freeze(value)
}
