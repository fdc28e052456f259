import type { AuditSource } from '@backporch/cluster/audit'
import type { RequestedAction } from '@backporch/forge/check-run'
import type { Note } from '@backporch/kyaml/note'
import { formatLoggableName } from '@backporch/kyaml/redaction'
import type { Clock } from '@backporch/system/clock'
import type { Log } from '../ports/log.ts'
import type { Metrics } from '../ports/metrics.ts'
import type { Readiness } from '../ports/readiness.ts'
import type { TurnTraces } from '../ports/turn-traces.ts'
import { Refusals } from './refusals.ts'
import { type RepositoryEntry, RepositorySet } from './repository-set.ts'
import type { Sleep } from './turn-places.ts'

/** Milliseconds. */
const RELOAD = 5_000

/** The caller closes it. */
export interface Listener {
  readonly url: string
  close(): Promise<void>
}

export interface ControllerPorts {
  readonly clock: Clock
  readonly log: Log
  /** From 0 up to 1. */
  readonly random: () => number
  /** Real time. */
  readonly sleep?: Sleep
  readonly signal: AbortSignal
  readonly repositories: readonly RepositoryEntry[]
  /**
   * Undefined if they never change; resolves to undefined if unchanged. Never rejects.
   * @param isAsked a reload was requested
   */
  readonly reload?:
    | ((isAsked: boolean) => Promise<readonly RepositoryEntry[] | undefined>)
    | undefined
  /** @returns a function that unsubscribes */
  readonly onReloadRequest?: ((listener: () => void) => () => void) | undefined
  readonly openWebhooks?: ((hooks: WebhookHooks & Remotes) => Promise<Listener>) | undefined
  readonly openMonitoring?:
    | ((hooks: MonitoringHooks) => Promise<Listener & { readonly metrics: Metrics }>)
    | undefined
  /**
   * Undefined if traces are off.
   * @param onNote called when a trace is not sent
   */
  readonly openTraces?:
    | ((onNote: (note: Note) => void) => Promise<TurnTraces | undefined>)
    | undefined
  readonly openAuditHook?:
    | ((onRefused: (why: string) => void) => Promise<Listener & { readonly source: AuditSource }>)
    | undefined
}

interface Remotes {
  readonly remotes: () => readonly string[]
}

export interface WebhookHooks {
  /**
   * @param requestedAction a person clicked a button
   * @param remotes undefined: all
   */
  readonly onUpdate: (requestedAction?: RequestedAction, remotes?: readonly string[]) => void
  /** The reason contains nothing of the delivery. */
  readonly onRefused: (why: string) => void
}

export interface MonitoringHooks {
  readonly readiness: () => Readiness
  readonly onRefused: (why: string) => void
}

interface ControllerSettings {
  /** Milliseconds. */
  readonly interval: number
  readonly version: string
  readonly dryRun: boolean
  readonly concurrent: number
}

/**
 * @returns `aborted` if a turn had to be stopped: the next one repairs what it left
 * @throws Failure if no turn of any repository can ever succeed
 */
export async function runController(
  ports: ControllerPorts,
  settings: ControllerSettings,
): Promise<'stopped' | 'aborted'> {
  const { clock, log, random, signal } = ports
  const { interval, version, dryRun, concurrent } = settings
  const unusable = new AbortController()
  let thrown: unknown
  const set = new RepositorySet({
    clock,
    random,
    sleep: ports.sleep,
    signal: AbortSignal.any([signal, unusable.signal]),
    concurrent,
    onUnusable: (why) => {
      thrown = why
      unusable.abort()
    },
  })
  const refusals = new Refusals(log, clock)
  const reloads = new ReloadRequest()
  const ignoreRequests = ports.onReloadRequest?.(() => {
    log.process({ event: 'reloading' })
    set.refresh()
    reloads.ask()
  })
  const listeners: Listener[] = []
  const listen = (
    to: 'webhooks' | 'audit events' | 'requests for metrics',
    listener: Listener | undefined,
  ): void => {
    if (listener === undefined) return
    listeners.push(listener)
    log.process({ event: 'listening', for: to, url: formatLoggableName(listener.url) })
  }
  let traces: TurnTraces | undefined
  try {
    const monitoring = await ports.openMonitoring?.({
      readiness: () => set.getReadiness(),
      onRefused: refusals.refuseConnection,
    })
    set.metrics = monitoring?.metrics
    monitoring?.metrics.provide(set.source)
    listen('requests for metrics', monitoring)
    traces = await ports.openTraces?.((note) => log.logNotes([note]))
    set.traces = traces
    const onUpdate: WebhookHooks['onUpdate'] = (requestedAction, remotes) =>
      set.update(requestedAction, remotes)
    listen(
      'webhooks',
      await ports.openWebhooks?.({
        onUpdate,
        onRefused: refusals.refuseWebhook,
        remotes: () => set.listRemotes(),
      }),
    )
    const auditHook = await ports.openAuditHook?.(refusals.audit)
    set.audit = auditHook?.source
    listen('audit events', auditHook)
    log.process({
      event: 'started',
      version: formatLoggableName(version),
      intervalSeconds: interval / 1000,
      dryRun,
    })
    signal.addEventListener('abort', set.announceStopping, { once: true })
    await set.apply(ports.repositories)
    await reloadUntil(AbortSignal.any([signal, unusable.signal]), { ports, set, reloads })
    const end = await set.awaitEnd()
    if (thrown !== undefined) throw thrown
    log.process({ event: 'stopped' })
    return end
  } finally {
    ignoreRequests?.()
    signal.removeEventListener('abort', set.announceStopping)
    await Promise.all([
      set.close(),
      traces?.close(),
      ...listeners.map((listener) => listener.close()),
    ])
  }
}

class ReloadRequest {
  private asked = new AbortController()

  get signal(): AbortSignal {
    return this.asked.signal
  }

  ask(): void {
    this.asked.abort()
  }

  take(): boolean {
    const isAsked = this.signal.aborted
    if (isAsked) this.asked = new AbortController()
    return isAsked
  }
}

interface Reloading {
  readonly ports: ControllerPorts
  readonly set: RepositorySet
  readonly reloads: ReloadRequest
}

async function reloadUntil(
  stop: AbortSignal,
  { ports: { clock, log, reload }, set, reloads }: Reloading,
): Promise<void> {
  if (reload === undefined) return
  for (;;) {
    try {
      await clock.sleep(RELOAD, AbortSignal.any([stop, reloads.signal]))
    } catch (thrown) {
      if (stop.aborted) return
      if (!reloads.signal.aborted) throw thrown
    }
    const entries = await reload(reloads.take())
    if (entries === undefined || stop.aborted) continue
    const counts = await set.apply(entries)
    if (Object.values(counts).some((count) => count > 0))
      log.process({ event: 'configured', ...counts })
  }
}
