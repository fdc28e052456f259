/** Concurrent callers with the same input share one rendering. */
import { createHash } from 'node:crypto'
import type { PackageFiles } from '@backporch/kyaml/files'
import { LRUCache } from 'lru-cache'
import type { TurnRendering } from '../../sources/kpt/render/package-renderer.ts'
import type { SizedRendering } from './render-workers.ts'

interface RenderingInProgress {
  readonly result: Promise<TurnRendering>
  readonly stop: AbortController
  waiters: number
}

/** Approximate. */
const GROWTH = 4
const SMALLEST = 4096

export class RenderingCache {
  private readonly retained: LRUCache<string, TurnRendering>
  private readonly inProgress = new Map<string, RenderingInProgress>()

  /** @param most bytes */
  constructor(most: number) {
    this.retained = new LRUCache({ maxSize: most })
  }

  /**
   * Aborts `make` when no caller waits for it.
   * @throws as `make`, or the signal's reason
   */
  async get(
    key: string,
    make: (signal: AbortSignal) => Promise<SizedRendering>,
    signal: AbortSignal,
  ): Promise<TurnRendering> {
    signal.throwIfAborted()
    const retained = this.retained.get(key)
    if (retained !== undefined) return retained
    const shared = this.inProgress.get(key) ?? this.start(key, make)
    shared.waiters += 1
    let abort = (): void => undefined
    const aborted = new Promise<never>((_resolve, reject) => {
      abort = () => reject(signal.reason)
      signal.addEventListener('abort', abort, { once: true })
    })
    try {
      return await Promise.race([shared.result, aborted])
    } finally {
      signal.removeEventListener('abort', abort)
      shared.waiters -= 1
      if (shared.waiters === 0 && this.inProgress.get(key) === shared) {
        this.inProgress.delete(key)
        shared.stop.abort(new Error('no caller waits for the rendering'))
      }
    }
  }

  private start(
    key: string,
    make: (signal: AbortSignal) => Promise<SizedRendering>,
  ): RenderingInProgress {
    const stop = new AbortController()
    const result = make(stop.signal).then(
      ({ rendering, bytes }) => {
        if (this.inProgress.get(key) === shared) this.inProgress.delete(key)
        if (isRetained(rendering))
          this.retained.set(key, rendering, { size: GROWTH * bytes + SMALLEST })
        return rendering
      },
      (thrown) => {
        if (this.inProgress.get(key) === shared) this.inProgress.delete(key)
        throw thrown
      },
    )
    // All callers may have left before it fails.
    result.catch(() => undefined)
    const shared: RenderingInProgress = { result, stop, waiters: 0 }
    this.inProgress.set(key, shared)
    return shared
  }
}

/** A broken limit or a missing runtime may not recur. */
function isRetained(rendering: TurnRendering): boolean {
  return (
    !('failures' in rendering) ||
    rendering.failures.every(({ code }) => !['BP1201', 'BP1203', 'BP9001'].includes(code))
  )
}

export function computeContentKey(packagePath: string, files: PackageFiles): string {
  const hash = createHash('sha256').update(JSON.stringify(packagePath))
  for (const { path, mode, content } of files)
    hash.update(JSON.stringify([path, mode, content.length])).update(content)
  return hash.digest('base64')
}
