/**
 * Names are constant words; attributes are names of clusters and packages, never a value, an object
 * or a path.
 */
import type { Loggable } from '@backporch/kyaml/redaction'

/** Milliseconds since 1970, with fractions. */
interface Period {
  readonly began: number
  readonly ended: number
}

type TracedPhase = Period & {
  readonly name: string
  readonly requests: readonly TracedCall[]
}

export type TracedCall = Period & {
  readonly system: 'cluster' | 'git' | 'forge'
  readonly peer: Loggable
  readonly method: string | undefined
  readonly status: number | undefined
  readonly failed: boolean
}

export interface TracedUnit {
  readonly cluster: Loggable
  readonly package: Loggable
  /** `Failed` for an unobservable unit. */
  readonly state: string
}

export type TurnTrace = Period & {
  readonly scope: 'everything' | 'units'
  readonly outcome: 'succeeded' | 'partial' | 'failed' | 'aborted'
  readonly units: number
  readonly writes: number
  readonly observed: readonly TracedUnit[]
  readonly phases: readonly TracedPhase[]
  readonly requests: readonly TracedCall[]
  readonly moreRequests: number
}

/** Never throws, and waits only in `close`. */
export interface TurnTraces {
  turn(trace: TurnTrace): void
  /** Sends the rest, for at most two seconds. */
  close(): Promise<void>
}
