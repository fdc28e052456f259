/** Milliseconds and bytes. */
export interface WatchOptions {
  readonly streamLasts?: readonly [number, number]
  /** For HTTP/1.1, where the end of a stream is the proof (docs/facts/watch.md). */
  readonly unprovenStreamLasts?: readonly [number, number]
  /** Half of it over HTTP/1.1. */
  readonly endsWithin?: number
  readonly longestListSilence?: number
  /** Each further one doubles. */
  readonly firstWait?: number
  readonly longestWait?: number
  readonly unreadableWait?: number
  /** Bytes. */
  readonly largestEvent?: number
  /** Bytes of all unfinished events of a cluster. */
  readonly memory?: number
  readonly parallelLists?: number
  readonly streamedLists?: boolean
  /** From 0 to 1. */
  readonly random?: () => number
}

export type WatchSettings = Required<WatchOptions>

export const WATCH_DEFAULTS: WatchSettings = {
  streamLasts: [300_000, 600_000],
  unprovenStreamLasts: [25_000, 35_000],
  endsWithin: 30_000,
  longestListSilence: 30_000,
  firstWait: 500,
  longestWait: 30_000,
  unreadableWait: 180_000,
  largestEvent: 8 * 1024 * 1024,
  memory: 32 * 1024 * 1024,
  parallelLists: 4,
  streamedLists: true,
  random: Math.random,
}
