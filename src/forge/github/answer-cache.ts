/** Answers for conditional requests: a 304 does not count against the rate limit. */
import { LRUCache } from 'lru-cache'

interface CachedAnswer {
  readonly etag: string
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

export type AnswerCache = LRUCache<string, CachedAnswer>

/** An answer larger than a quarter of the cache is not cached: it would evict all others. */
export function answerCache(entries: number, characters: number): AnswerCache {
  return new LRUCache({
    max: entries,
    maxSize: characters,
    maxEntrySize: characters / 4,
    sizeCalculation: ({ body }) => body.length + 1,
  })
}
