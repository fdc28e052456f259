/** Whether the daemon does its work, for probes and for people. */
export interface ReadinessCheck {
  readonly ok: boolean
  /** One line without a full stop: `cluster prod ok`, `cluster prod: stale for 3m12s`. */
  readonly text: string
}

export interface Readiness {
  readonly ready: boolean
  /** A check that is not ok does not always make the daemon unready. */
  readonly checks: readonly ReadinessCheck[]
}
