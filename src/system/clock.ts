export interface Clock {
  /** UTC. */
  now(): Date
  /** Milliseconds. Rejects with the signal's reason when it is aborted. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>
}
