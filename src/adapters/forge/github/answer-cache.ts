/** Answers that may be given again where the forge says that nothing changed: a 304 is not counted against the rate limit. */

export interface KeptAnswer {
  readonly etag: string
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** The least recently used go first when there are more than `entries`, or more than `characters` in all. */
export class AnswerCache {
  readonly #kept = new Map<string, KeptAnswer>()
  readonly #entries: number
  readonly #characters: number
  #size = 0

  constructor(entries: number, characters: number) {
    this.#entries = entries
    this.#characters = characters
  }

  get size(): { readonly entries: number; readonly characters: number } {
    return { entries: this.#kept.size, characters: this.#size }
  }

  get(key: string): KeptAnswer | undefined {
    const found = this.#kept.get(key)
    if (found !== undefined) {
      this.#kept.delete(key)
      this.#kept.set(key, found)
    }
    return found
  }

  /** An answer larger than a quarter of everything is not kept: it would push out all others. */
  put(key: string, answer: KeptAnswer): void {
    this.delete(key)
    if (answer.body.length > this.#characters / 4) return
    this.#kept.set(key, answer)
    this.#size += answer.body.length
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#entries && this.#size <= this.#characters) break
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    this.#size -= this.#kept.get(key)?.body.length ?? 0
    this.#kept.delete(key)
  }
}
