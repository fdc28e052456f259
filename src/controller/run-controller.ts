/** The daemon: runs the turn of `scan` until it is stopped. */
import { loggableName } from '../krm/redaction/loggable.ts'
import type { Note } from '../note.ts'
import type { AuditSource } from '../ports/audit-source.ts'
import type { RequestedAction } from '../ports/check-run.ts'
import type { Metrics } from '../ports/metrics.ts'
import type { Readiness } from '../ports/readiness.ts'
import type { TurnTraces } from '../ports/turn-traces.ts'
import { ControllerTurns, type TurnsOptions, type TurnsPorts } from './controller-turns.ts'
import { ReadinessState } from './readiness.ts'
import { TurnLoop } from './turn-loop.ts'
import { TurnMeter } from './turn-meter.ts'
import { TurnTracer } from './turn-tracer.ts'

/** Milliseconds. */
const COALESCE = 500
/** Shorter than the 30 s after which Kubernetes kills. */
const GRACE = 20_000

/** A started server; the caller that started it closes it. */
export interface Listener {
  readonly url: string
  close(): Promise<void>
}

export interface ControllerPorts extends TurnsPorts {
  /** From 0 up to 1. */
  readonly random: () => number
  /** Aborted when the controller is stopped. */
  readonly signal: AbortSignal
  /** Undefined without a listener. */
  readonly openWebhooks?: ((hooks: WebhookHooks) => Promise<Listener>) | undefined
  /** Serves metrics and probes. */
  readonly openMonitoring?: ((hooks: MonitoringHooks) => Promise<Listener & { readonly metrics: Metrics }>) | undefined
  /** Undefined where nobody asked for traces. @param onNote called when one is not sent */
  readonly openTraces?: ((onNote: (note: Note) => void) => Promise<TurnTraces | undefined>) | undefined
  readonly openAuditHook?: ((onRefused: (why: string) => void) => Promise<Listener & { readonly source: AuditSource }>) | undefined
}

export interface WebhookHooks {
  /** Requests a turn. `requestedAction`: a person clicked a button. */
  readonly onUpdate: (requestedAction?: RequestedAction) => void
  /** Called with the reason why a delivery was refused; nothing of the delivery is in it. */
  readonly onRefused: (why: string) => void
}

export interface MonitoringHooks {
  readonly readiness: () => Readiness
  /** Called with the reason why a connection was not accepted. */
  readonly onRefused: (why: string) => void
}

interface ControllerSettings extends TurnsOptions {
  /** Milliseconds from the end of a turn to the next one. */
  readonly interval: number
  readonly version: string
}

/**
 * @returns `stopped` between or after turns; `aborted` when a turn had to be stopped: the next one repairs what it left
 * @throws Failure when no turn can ever be
 */
export async function runController(ports: ControllerPorts, settings: ControllerSettings): Promise<'stopped' | 'aborted'> {
  const { clock, log, random, signal } = ports
  const { interval, version, dryRun } = settings
  const unusable = new AbortController()
  const turns: ControllerTurns = new ControllerTurns(ports, settings, {
    onUnusable: () => unusable.abort(),
    request: () => loop.request(),
  })
  const wake = (): number => turns.intake.wake()
  const loop = new TurnLoop({ clock, random, interval, wake, coalesce: COALESCE, grace: GRACE, turn: turns.one })
  const onUpdate = (requestedAction?: RequestedAction): void => {
    if (requestedAction !== undefined) turns.requestedActions.add(requestedAction)
    turns.intake.requestPoll()
  }
  const listeners: Listener[] = []
  const listen = (to: 'webhooks' | 'audit events' | 'requests for metrics', listener: Listener | undefined): void => {
    if (listener === undefined) return
    listeners.push(listener)
    log.process({ event: 'listening', for: to, url: loggableName(listener.url) })
  }
  const readiness = new ReadinessState(interval)
  let traces: TurnTraces | undefined
  try {
    traces = await ports.openTraces?.(turns.sessionNote)
    if (traces !== undefined) turns.tracer = new TurnTracer(traces)
    const onRefused = turns.connectionRefused
    const monitoring = await ports.openMonitoring?.({ readiness: () => readiness.at(clock.now().getTime()), onRefused })
    if (monitoring !== undefined)
      turns.measure(new TurnMeter({ metrics: monitoring.metrics, readiness, elapsed: () => performance.now() }), monitoring.metrics)
    listen('requests for metrics', monitoring)
    listen('webhooks', await ports.openWebhooks?.({ onUpdate, onRefused: turns.webhookRefused }))
    const auditHook = await ports.openAuditHook?.(turns.auditRefused)
    turns.audit = auditHook?.source
    listen('audit events', auditHook)
    log.process({ event: 'started', version: loggableName(version), intervalSeconds: interval / 1000, dryRun })
    signal.addEventListener('abort', turns.stopping, { once: true })
    const end = await loop.run(AbortSignal.any([signal, unusable.signal]))
    if (turns.unusable !== undefined) throw turns.unusable
    log.process({ event: 'stopped' })
    return end === 'aborted' ? 'aborted' : 'stopped'
  } finally {
    signal.removeEventListener('abort', turns.stopping)
    await Promise.all([turns.close(), traces?.close(), ...listeners.map((listener) => listener.close())])
  }
}
