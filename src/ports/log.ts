/** Events, never values. Names are in docs/guides/controller.md. */
import type { Failure } from '@backporch/kyaml/failure'
import type { Note } from '@backporch/kyaml/note'
import type { Loggable } from '@backporch/kyaml/redaction'
import type { TracedRequest } from '@backporch/system/trace'

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export const LOG_FORMATS = ['json', 'text'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]

/**
 * `settled`: live matches the decision; `not-settled`: it does not in time; `applied`: approved
 * changes were written to the cluster; `status`: only the status changed.
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
  readonly state?: Loggable
  readonly episode?: Loggable
  readonly branch?: Loggable
  readonly proposal?: Loggable
  readonly url?: Loggable
  readonly detail?: Loggable
}

export interface TurnEvent {
  /** `partial`: only some packages or clusters failed. `aborted`: it was stopped. */
  readonly outcome: 'succeeded' | 'partial' | 'failed' | 'aborted'
  readonly milliseconds: number
  readonly units: number
  readonly failedUnits: number
  readonly failedClusters: number
  readonly requests: number
  /** In a dry run those that a real run would make. */
  readonly writes: number
  readonly transitions: readonly Transition[]
  /**
   * Writes of a real run, in order; undefined in a real run, and if unchanged since the previous
   * turn.
   */
  readonly plan?: readonly Loggable[] | undefined
}

export interface ReportedFailure {
  readonly failure: Failure
  readonly cluster?: Loggable
  readonly package?: Loggable
}

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
      readonly command: Loggable
      /** Undefined if the forge does not report it. */
      readonly by?: Loggable
      readonly failure?: Failure
    }
  /** Skipped if the head has changed. */
  | {
      readonly event: 'previewed'
      readonly proposal: Loggable
      readonly outcome: 'written' | 'moved'
    }
  | { readonly event: 'step'; readonly step: Loggable }
  /** The turn continues; other repositories do not wait for it. */
  | { readonly event: 'slow'; readonly step: Loggable; readonly milliseconds: number }
  /** Whole milliseconds since the change was read. */
  | {
      readonly event: 'judged'
      readonly cluster: Loggable
      readonly verdict: Loggable
      readonly milliseconds: number
    }
  /** Without a reason, changes are watched again. */
  | { readonly event: 'watch'; readonly cluster: Loggable; readonly why?: Loggable }
  | {
      readonly event: 'configured'
      readonly added: number
      readonly changed: number
      readonly removed: number
    }
  | { readonly event: 'reloading' }
  | { readonly event: 'stopping' }
  | { readonly event: 'stopped' }

/** Writes immediately, and never throws. */
export interface Log {
  bindRepository(repository: Loggable): Log
  /** One event for each transition, one for the plan of a dry run, then one for the turn. */
  turn(turn: TurnEvent): void
  /**
   * `error` at the start, `warn` at the end, so that a reader of the first also sees the second.
   */
  logFailures(failures: readonly ReportedFailure[], state: 'new' | 'gone'): void
  /** One event for each cause. */
  logNotes(notes: readonly Note[]): void
  process(event: ProcessEvent): void
  request(request: TracedRequest): void
}
