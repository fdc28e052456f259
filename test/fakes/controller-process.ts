/** A controller process with repositories whose turns only take time, on a virtual clock. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { Failure, type FailureCode, type Retry } from '@backporch/kyaml/failure'
import { formatLoggableName } from '@backporch/kyaml/redaction'
import { JsonLog } from '../../src/adapters/log/json-log.ts'
import { PrometheusMetrics } from '../../src/adapters/metrics/prometheus-metrics.ts'
import type { RepositoryEntry } from '../../src/controller/repository-set.ts'
import {
  type ControllerPorts,
  type MonitoringHooks,
  runController,
  type WebhookHooks,
} from '../../src/controller/run-controller.ts'
import { logEvents } from './log-events.ts'
import { TurnWorld } from './turn-world.ts'
import { VirtualClock } from './virtual-clock.ts'

export const MINUTE = 60_000
const RESULT = await new TurnWorld().scan()
const { key } = new TurnWorld()

export function failure(code: FailureCode, retry: Retry = 'backoff'): Failure {
  return new Failure({ code, what: 'no', why: 'no', remedy: 'no', retry })
}

export type Reload = (isAsked: boolean) => readonly RepositoryEntry[] | undefined

export class ControllerProcess {
  readonly clock = new VirtualClock()
  private text = ''
  readonly log = new JsonLog({
    level: 'info',
    clock: this.clock,
    stream: { write: (text) => (this.text += text) },
  })
  private readonly stopping = new AbortController()
  /** Milliseconds at which turns began, by repository. */
  readonly turns = new Map<string, number[]>()
  /** Why the next turns of a repository fail; `hang` for one that does not end. */
  readonly trouble = new Map<string, Failure | 'hang'>()
  /** Milliseconds that each turn of a repository takes. */
  readonly lasts = new Map<string, number>()
  private now = 0
  /** Turns that ran at the same time. */
  most = 0
  readonly closed: string[] = []
  hooks: (WebhookHooks & { readonly remotes: () => readonly string[] }) | undefined
  monitoring: MonitoringHooks | undefined
  askToReload = (): void => assert.fail('nobody listens yet')
  readonly metrics = new PrometheusMetrics({ version: '1', clock: this.clock })
  ended: Promise<string> = Promise.resolve('not started')

  /** @param text another one makes it start again */
  entry(name: string, text = '', interval = MINUTE): RepositoryEntry {
    const own: number[] = this.turns.get(name) ?? []
    this.turns.set(name, own)
    const meet = async (signal: AbortSignal): Promise<void> => {
      own.push(this.clock.elapsed)
      this.now += 1
      this.most = Math.max(this.most, this.now)
      await this.clock.sleep(this.lasts.get(name) ?? 0, signal).finally(() => {
        this.now -= 1
      })
      const trouble = this.trouble.get(name)
      if (trouble === 'hang') await this.clock.sleep(1e12, signal)
      else if (trouble !== undefined) throw trouble
    }
    return {
      name,
      remote: `https://${name}`,
      text,
      interval,
      options: { sessionAge: 600_000, dryRun: false, intake: { interval, resync: 3_600_000 } },
      ports: {
        clock: this.clock,
        log: this.log.bindRepository(formatLoggableName(name)),
        openSession: async (_hooks, signal) => {
          await meet(signal)
          let opening = true
          return {
            clusters: ['prod'],
            key,
            vouch: async () => ({ waiting: 0, notes: [] }),
            poll: () => assert.fail('a cluster that is not watched needs no poll'),
            turn: async (_inputs, turnSignal) => {
              if (!opening) await meet(turnSignal)
              opening = false
              return RESULT
            },
            close: async () => void this.closed.push(name),
          }
        },
        intake: {
          now: () => this.clock.now().getTime(),
          random: () => 0,
          openWatch: async () => undefined,
          loadVerdicts: async () => undefined,
          saveVerdicts: async () => undefined,
          onVerdict: () => undefined,
          onSight: () => undefined,
        },
      },
    }
  }

  start(
    t: TestContext,
    repositories: readonly RepositoryEntry[],
    reload?: Reload,
    concurrent = 4,
  ): void {
    const ports: ControllerPorts = {
      clock: this.clock,
      log: this.log,
      random: () => 1,
      sleep: (milliseconds, signal) => this.clock.sleep(milliseconds, signal),
      signal: this.stopping.signal,
      repositories,
      reload: reload === undefined ? undefined : async (isAsked) => reload(isAsked),
      onReloadRequest: (listener) => {
        this.askToReload = listener
        return () => (this.askToReload = () => assert.fail('nobody listens any more'))
      },
      openWebhooks: async (hooks) => {
        this.hooks = hooks
        return { url: 'http://127.0.0.1:8080/webhook', close: async () => undefined }
      },
      openMonitoring: async (hooks) => {
        this.monitoring = hooks
        return {
          url: 'http://127.0.0.1:9090/metrics',
          close: async () => undefined,
          metrics: this.metrics,
        }
      },
    }
    this.ended = runController(ports, { interval: MINUTE, version: '1', dryRun: false, concurrent })
    this.ended.catch(() => undefined)
    t.after(() => this.stop().catch(() => undefined))
  }

  async stop(): Promise<string> {
    this.stopping.abort()
    await this.clock.pass(30_000)
    return this.ended
  }

  events(event?: string) {
    return logEvents(this.text, event)
  }

  /** Minutes in which turns began. */
  minutes(name: string): readonly number[] {
    return (this.turns.get(name) ?? []).map((at) => Math.round((at / MINUTE) * 10) / 10)
  }
}

/** The time at which the turn of each repository began, in milliseconds. */
export const begun = (running: ControllerProcess, ...names: readonly string[]) =>
  names.map((name) => running.turns.get(name))
