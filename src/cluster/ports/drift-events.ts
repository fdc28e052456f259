/** Kubernetes Events about the drift of an object. They are no part of what a turn decides, and nothing reads them again. */
import type { Note } from '@backporch/kyaml/note'
import type { ResourceId } from '@backporch/kyaml/resource'

export interface DriftEvent {
  readonly reason: 'DriftDetected' | 'DriftGone'
  readonly regarding: ResourceId
  /** Of the object; empty where the turn did not observe it. */
  readonly apiVersion: string
  /** Empty where no such object is live; undefined where the turn did not read it. */
  readonly uid: string | undefined
  readonly resourceVersion: string
  /** One line of shown values, at most 1,024 bytes. */
  readonly note: string
}

/** Events of one cluster. A holder can create Events and count repeats of them, and nothing else. */
export interface DriftEvents {
  /** Never throws. @returns why an Event was not written, for people */
  write(events: readonly DriftEvent[], signal: AbortSignal): Promise<readonly Note[]>
}

export interface OpenedDriftEvents {
  readonly events: DriftEvents
  close(): void
}
