/** Answers that may be given again where the forge says that nothing changed: a 304 is not counted against the rate limit. */
import { LRUCache } from 'lru-cache'

interface CachedAnswer {
  readonly etag: string
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

export type AnswerCache = LRUCache<string, CachedAnswer>

/** An answer larger than a quarter of everything is not kept: it would push out all others. */
export function answerCache(entries: number, characters: number): AnswerCache {
  return new LRUCache({ max: entries, maxSize: characters, maxEntrySize: characters / 4, sizeCalculation: ({ body }) => body.length + 1 })
}
