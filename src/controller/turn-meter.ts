import type { Failure } from '@backporch/kyaml/failure'
import type { TracedRequest } from '@backporch/system/trace'
import type { Metrics, TurnNumbers } from '../ports/metrics.ts'
import type { TurnResult } from '../reconcile/turn/run-turn.ts'
import type { ReadinessState } from './readiness.ts'
import { countBy, TurnCounter } from './turn-numbers.ts'

/** By the first word. Comparing and planning are part of `observe`. */
const PHASES: Readonly<Record<string, string>> = {
  reading: 'read',
  observing: 'observe',
  looking: 'observe',
  writing: 'write',
}

export function findPhase(step: string): string | undefined {
  return PHASES[step.split(' ', 1)[0] ?? '']
}

interface MeterParts {
  /** Empty if there is only one. */
  readonly repository: string
  readonly metrics: Metrics
  readonly readiness: ReadinessState
  /** Monotonic milliseconds. */
  readonly elapsed: () => number
}

export class TurnMeter {
  private readonly parts: MeterParts
  private readonly counter = new TurnCounter()
  private began = 0
  private phase: { readonly name: string; readonly began: number } | undefined
  /** Seconds. */
  private phases = new Map<string, number>()

  constructor(parts: MeterParts) {
    this.parts = parts
  }

  begin(): void {
    this.began = this.parts.elapsed()
    this.phase = undefined
    this.phases = new Map()
  }

  step(step: string): void {
    const name = findPhase(step)
    if (name === undefined || name === this.phase?.name) return
    this.endPhase()
    this.phase = { name, began: this.parts.elapsed() }
  }

  reportFailures(lasting: readonly Failure[]): void {
    const { repository, metrics, readiness } = this.parts
    readiness.setFailing(lasting)
    metrics.setFailures(
      repository,
      countBy(lasting, ({ code }) => code),
    )
  }

  /**
   * @param result undefined for a turn without one @param whole it covered every package of its
   * clusters
   */
  finishTurn(outcome: TurnNumbers['outcome'], result?: TurnResult, whole = true): void {
    const { repository, metrics, readiness, elapsed } = this.parts
    this.endPhase()
    const duration = elapsed() - this.began
    const phases = new Map([...this.phases, ['total', duration / 1_000]])
    const observed = result === undefined ? undefined : this.counter.computeNumbers(result, whole)
    metrics.turn({ repository, outcome, phases, observed })
    readiness.turnEnded(observed, duration)
  }

  request(request: TracedRequest): void {
    this.parts.metrics.request(request)
  }

  private endPhase(): void {
    if (this.phase === undefined) return
    const { name, began } = this.phase
    this.phases.set(name, (this.phases.get(name) ?? 0) + (this.parts.elapsed() - began) / 1_000)
    this.phase = undefined
  }
}
