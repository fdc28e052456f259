/** A cache of parsed texts that are read again and again: each turn reads the whole ledger, and most of it is unchanged since the turn before. */
import { createHash } from 'node:crypto'
import type { Json } from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { LRUCache } from 'lru-cache'

/** Characters of all texts. The texts themselves are not stored; their values take about three bytes for each character. 10,000 changes have 15 million. */
const KEPT_CHARACTERS = 32 * 1024 * 1024

/** One text. Values are frozen, because everybody who reads the text is given the same one. */
interface KnownText {
  /** Of the first document; undefined for a text without any. */
  readonly value: Json | undefined
  /** What schemas made of the value, by schema. */
  readonly checked: Map<object, unknown>
  /** The document that is known to be written as this text; undefined until it is parsed. */
  written: object | undefined
}

/** The least recently read are dropped first, and a text of more than a quarter of the limit is not cached. */
export class KnownTexts {
  readonly #texts: LRUCache<string, KnownText>

  /** @param limit characters */
  constructor(limit: number) {
    this.#texts = new LRUCache({ maxSize: limit, maxEntrySize: limit / 4 })
  }

  get characters(): number {
    return this.#texts.calculatedSize
  }

  /** @throws Failure BP1110 or BP1111, which is not cached: it names `where` */
  read(text: string, where: string): KnownText {
    const digest = digestOf(text)
    const before = this.#texts.get(digest)
    if (before !== undefined) return before
    const known = {
      value: frozen(parseGoYaml(text, where).documents[0]?.value),
      checked: new Map(),
      written: undefined,
    }
    this.#keep(digest, known, text.length)
    return known
  }

  /** What is known of a text that was read or written before. */
  known(text: string): KnownText | undefined {
    return this.#texts.get(digestOf(text))
  }

  /** Caches the document that a text was written from. It is frozen, and must be plain data without undefined. */
  remember(text: string, document: object): void {
    this.#keep(
      digestOf(text),
      { value: frozen(document as Json), checked: new Map(), written: document },
      text.length,
    )
  }

  /** As a new process begins. */
  forget(): void {
    this.#texts.clear()
  }

  #keep(digest: string, known: KnownText, characters: number): void {
    this.#texts.set(digest, known, { size: Math.max(1, characters) })
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}

/** What this process knows. */
export const knownTexts = new KnownTexts(KEPT_CHARACTERS)

/** A frozen object is taken for one whose parts are frozen too. */
export function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const below of Object.values(value)) frozen(below)
  return Object.freeze(value)
}
