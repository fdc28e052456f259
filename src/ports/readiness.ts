export interface ReadinessCheck {
  readonly ok: boolean
  /** One line without a full stop: `cluster prod: stale for 3m12s`. */
  readonly text: string
}

export interface Readiness {
  readonly ready: boolean
  readonly checks: readonly ReadinessCheck[]
}
