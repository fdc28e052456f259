/** Turns as traces of OpenTelemetry. Names are words of our own; attributes are names of clusters and packages: never a value, an object or a path. */
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

/** A request that ended. */
export type TracedCall = Period & {
  readonly system: 'cluster' | 'git' | 'forge'
  /** Name of the cluster, kind of the forge; `fetch` or `push` of git. */
  readonly peer: Loggable
  /** Of HTTP, or empty. */
  readonly method: string
  /** HTTP status; undefined without one. */
  readonly status: number | undefined
  readonly failed: boolean
}

export interface TracedUnit {
  readonly cluster: Loggable
  readonly package: Loggable
  /** `Drifted`, …; `Failed` of one that could not be observed. */
  readonly state: string
}

export type TurnTrace = Period & {
  readonly scope: 'everything' | 'units'
  readonly outcome: 'succeeded' | 'partial' | 'failed' | 'aborted'
  readonly units: number
  readonly writes: number
  /** The first ones. */
  readonly observed: readonly TracedUnit[]
  readonly phases: readonly TracedPhase[]
  /** Outside of every phase. */
  readonly requests: readonly TracedCall[]
  /** Requests that have no span of their own. */
  readonly moreRequests: number
}

/** Never throws, and never waits but in `close`. */
export interface TurnTraces {
  turn(trace: TurnTrace): void
  /** Sends what is left, for two seconds at most. */
  close(): Promise<void>
}
