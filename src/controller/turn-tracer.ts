/** A turn without work has no trace. */
import { formatLoggableName } from '@backporch/kyaml/redaction'
import type { TracedRequest } from '@backporch/system/trace'
import type { TracedCall, TracedUnit, TurnTrace, TurnTraces } from '../ports/turn-traces.ts'
import type { TurnResult } from '../reconcile/turn/run-turn.ts'
import { findPhase } from './turn-meter.ts'

/** Per turn; further ones are only counted. */
const MOST_REQUESTS = 500
const MOST_UNITS = 100

interface Phase {
  readonly name: string
  readonly began: number
  ended: number
  readonly requests: TracedCall[]
}

export class TurnTracer {
  private readonly traces: TurnTraces
  /** Milliseconds since 1970, monotonic. */
  private readonly now: () => number
  private began = 0
  private phases: Phase[] = []
  private requests: TracedCall[] = []
  private count = 0

  constructor(
    traces: TurnTraces,
    now: () => number = () => performance.timeOrigin + performance.now(),
  ) {
    this.traces = traces
    this.now = now
  }

  begin(): void {
    this.began = this.now()
    this.phases = []
    this.requests = []
    this.count = 0
  }

  step(step: string): void {
    const name = findPhase(step)
    const last = this.phases.at(-1)
    if (name === undefined || name === last?.name) return
    const began = this.now()
    if (last !== undefined) last.ended = began
    this.phases.push({ name, began, ended: began, requests: [] })
  }

  request({ to, what, outcome, milliseconds }: TracedRequest): void {
    this.count += 1
    if (this.count > MOST_REQUESTS) return
    const ended = this.now()
    const status = /^[1-5]\d\d\b/.exec(outcome)?.[0]
    const method = to.system === 'git' ? undefined : /^[A-Z]{3,7}\b/.exec(what)?.[0]
    const call: TracedCall = {
      began: ended - milliseconds,
      ended,
      system: to.system,
      peer: formatLoggableName(to.name),
      method,
      status: status === undefined ? undefined : Number(status),
      failed:
        to.system === 'git' ? outcome === 'failed' : status === undefined || Number(status) >= 400,
    }
    ;(this.phases.at(-1)?.requests ?? this.requests).push(call)
  }

  finishTrace(scope: TurnTrace['scope'], outcome: TurnTrace['outcome'], result?: TurnResult): void {
    const ended = this.now()
    const last = this.phases.at(-1)
    if (last !== undefined) last.ended = ended
    this.traces.turn({
      began: this.began,
      ended,
      scope,
      outcome,
      units: result?.units.length ?? 0,
      writes: result?.written.length ?? 0,
      observed: result === undefined ? [] : createTracedUnits(result),
      phases: this.phases,
      requests: this.requests,
      moreRequests: Math.max(0, this.count - MOST_REQUESTS),
    })
  }
}

function createTracedUnits({ units }: TurnResult): readonly TracedUnit[] {
  return units.slice(0, MOST_UNITS).map((unit) => {
    if (unit.state === 'failed')
      return {
        cluster: formatLoggableName(unit.cluster),
        package: formatLoggableName(unit.packagePath || '.'),
        state: 'Failed',
      }
    const { cluster, packageName } = unit.unit
    return {
      cluster: formatLoggableName(cluster),
      package: formatLoggableName(packageName),
      state: unit.plan.report.status.state,
    }
  })
}
