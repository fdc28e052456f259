/** They do not affect a turn, and nothing reads them again. */
import type { Note } from '@backporch/kyaml/note'
import type { ResourceId } from '@backporch/kyaml/resource'

export interface DriftEvent {
  readonly reason: 'DriftDetected' | 'DriftGone'
  readonly regarding: ResourceId
  /** Undefined if the turn did not observe the object. */
  readonly apiVersion: string | undefined
  /** Null if no such object is live; undefined if the turn did not read it. */
  readonly uid: string | null | undefined
  readonly resourceVersion: string | undefined
  /** Shown values, at most 1,024 bytes. */
  readonly note: string
}

/** Can only create Events and count their repeats. */
export interface DriftEvents {
  /** Never throws. @returns why an Event was not written */
  write(events: readonly DriftEvent[], signal: AbortSignal): Promise<readonly Note[]>
}

export interface OpenedDriftEvents {
  readonly events: DriftEvents
  close(): void
}
