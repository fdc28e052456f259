/** What the daemon reports of itself: events, never values. Field names and events are in docs/guides/controller.md. */
import type { Failure } from '@backporch/kyaml/failure'
import type { Note } from '@backporch/kyaml/note'
import type { Loggable } from '@backporch/kyaml/redaction'
import type { TracedRequest } from '@backporch/system/trace'

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export const LOG_FORMATS = ['json', 'text'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]

/**
 * What happened to a unit. `settled`: live agrees with the decision; `not-settled`: it does not in time; `applied`: approved changes were
 * written to the cluster; `status`: nothing but the status changed.
 */
export type TransitionOutcome =
  | 'recorded'
  | 'proposed'
  | 'updated'
  | 'withdrawn'
  | 'merged'
  | 'declined'
  | 'healed'
  | 'resolved-by-git'
  | 'published'
  | 'settled'
  | 'not-settled'
  | 'applied'
  | 'status'

export interface Transition {
  readonly outcome: TransitionOutcome
  readonly cluster: Loggable
  readonly package: Loggable
  /** `Drifted`, `InSync`, …: the state of the unit after the turn. */
  readonly state?: Loggable
  /** `drift-9f2c1a7b`. */
  readonly episode?: Loggable
  readonly branch?: Loggable
  /** What the forge calls it: `#418`. */
  readonly proposal?: Loggable
  readonly url?: Loggable
  /** The outcome as text, where the fields do not cover it. */
  readonly detail?: Loggable
}

export interface TurnEvent {
  /** `partial`: some packages or clusters failed, and the others did not. `aborted`: it was stopped. */
  readonly outcome: 'succeeded' | 'partial' | 'failed' | 'aborted'
  readonly milliseconds: number
  readonly units: number
  readonly failedUnits: number
  /** Of which nothing could be observed. */
  readonly failedClusters: number
  /** Requests to clusters, git and the forge. */
  readonly requests: number
  /** Writes to git, the forge and clusters; of a dry run those that a real run would make. */
  readonly writes: number
  readonly transitions: readonly Transition[]
  /** Every write that a real run would make, in order; undefined in a real run, and where the list is that of the turn before. */
  readonly plan?: readonly Loggable[] | undefined
}

/** A failure and, where it is of one, the cluster and the package. */
export interface ReportedFailure {
  readonly failure: Failure
  readonly cluster?: Loggable
  readonly package?: Loggable
}

/** What the process does besides turns. */
export type ProcessEvent =
  | {
      readonly event: 'started'
      readonly version: Loggable
      readonly intervalSeconds: number
      readonly dryRun: boolean
    }
  | {
      readonly event: 'listening'
      readonly for: 'webhooks' | 'audit events' | 'requests for metrics'
      readonly url: Loggable
    }
  | {
      readonly event: 'refused'
      readonly what: 'a webhook' | 'audit events' | 'a connection'
      readonly why: Loggable
    }
  | {
      readonly event: 'answered'
      readonly outcome: 'done' | 'refused' | 'waiting'
      readonly proposal: Loggable
      /** The request, in one line. */
      readonly command: Loggable
      /** Login; undefined where the forge does not report it. */
      readonly by?: Loggable
      /** Why it waits. */
      readonly failure?: Failure
    }
  /** A comment with a preview was written on a pull request, or not: it has another head by now. */
  | {
      readonly event: 'previewed'
      readonly proposal: Loggable
      readonly outcome: 'written' | 'moved'
    }
  | { readonly event: 'step'; readonly step: Loggable }
  /** A turn has run for that many milliseconds, and goes on; other repositories do not wait for it. */
  | { readonly event: 'slow'; readonly step: Loggable; readonly milliseconds: number }
  /** A change of a cluster, that many whole milliseconds after it was read. */
  | {
      readonly event: 'judged'
      readonly cluster: Loggable
      readonly verdict: Loggable
      readonly milliseconds: number
    }
  /** Changes of a cluster are not watched; or are again, where there is no reason. */
  | { readonly event: 'watch'; readonly cluster: Loggable; readonly why?: Loggable }
  /** The configuration was read again: numbers of repositories. */
  | {
      readonly event: 'configured'
      readonly added: number
      readonly changed: number
      readonly removed: number
    }
  /** Somebody asked to read configuration and credentials again. */
  | { readonly event: 'reloading' }
  | { readonly event: 'stopping' }
  | { readonly event: 'stopped' }

/** Writes at once, and never throws. */
export interface Log {
  /** A log whose events are about one of several repositories. */
  of(repository: Loggable): Log
  /** A turn that ended: one event for each transition, one for the plan of a dry run, then one for the turn. */
  turn(turn: TurnEvent): void
  /** One event each, at level `error` where they begin and `warn` where they end: who reads of the one reads of the other. */
  failures(failures: readonly ReportedFailure[], state: 'new' | 'gone'): void
  /** One event for each cause. */
  notes(notes: readonly Note[]): void
  process(event: ProcessEvent): void
  request(request: TracedRequest): void
}
