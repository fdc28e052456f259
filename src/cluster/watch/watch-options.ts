/** Times and sizes of watches. Times are milliseconds. */
export interface WatchOptions {
  /** The server ends each stream after a random time between these. */
  readonly streamLasts?: readonly [number, number]
  /** The same where the connection itself proves nothing (HTTP/1.1): the end of a stream is the proof then (docs/facts/watch.md). */
  readonly unprovenStreamLasts?: readonly [number, number]
  /** How much longer than that a stream may last; half of it over HTTP/1.1. */
  readonly endsWithin?: number
  /** Without an object for so long a streamed list is given up. */
  readonly longestListSilence?: number
  /** Before the first new attempt; each further one waits twice as long. */
  readonly firstWait?: number
  readonly longestWait?: number
  /** Before a kind is tried again that cannot be read. */
  readonly unreadableWait?: number
  /** Bytes of one event, at most. */
  readonly largestEvent?: number
  /** Bytes of all unfinished events of a cluster, at most. */
  readonly memory?: number
  /** Lists of one cluster at a time. */
  readonly parallelLists?: number
  /** False: lists are always read in pages. */
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
