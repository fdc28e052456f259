import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../controlplane/free-port.ts'
import { startGuard } from '../controlplane/start-guard.ts'
import { onFreePort, whileRunning } from '../controlplane/while-running.ts'
import { untilAnswers } from '../waiting/until-answers.ts'
import type { PrometheusBinaries } from './find-prometheus.ts'

export interface Target {
  readonly health: string
  readonly lastError: string
}

export interface QueryAnswer {
  /** Label sets with a value. */
  readonly result: readonly {
    readonly metric: Readonly<Record<string, string>>
    readonly value?: readonly [number, string]
  }[]
  /** What Prometheus has to say about the query; empty where it is fine. */
  readonly warnings: readonly string[]
}

/** A Prometheus that scrapes one target every second. */
export interface Prometheus {
  /** @throws what Prometheus says where it is no query */
  query(expression: string): Promise<QueryAnswer>
  /** Undefined before its configuration is read. */
  target(): Promise<Target | undefined>
  /** Lines of its log that are warnings or errors. */
  complaints(): Promise<readonly string[]>
  /** Safe to call again. */
  stop(): Promise<void>
}

export interface PrometheusOrder {
  /** `127.0.0.1:8080`. */
  readonly scrapes: string
  readonly job: string
  /** Paths of rule files. */
  readonly rules: readonly string[]
}

/** Starts a Prometheus on a free port of 127.0.0.1. It ends with `stop`, or with this process however this process ends. */
export function startPrometheus(
  { prometheus }: PrometheusBinaries,
  order: PrometheusOrder,
): Promise<Prometheus> {
  return onFreePort(async () => {
    const guard = await startGuard('prometheus')
    try {
      const url = `http://127.0.0.1:${await freePort()}`
      const config = join(guard.directory, 'prometheus.json')
      await writeFile(config, configOf(order))
      const server = await guard.start({
        name: 'prometheus',
        command: [
          prometheus,
          `--config.file=${config}`,
          `--storage.tsdb.path=${join(guard.directory, 'data')}`,
          `--web.listen-address=${new URL(url).host}`,
        ],
        directory: guard.directory,
        environment: { PATH: process.env['PATH'] ?? '', HOME: guard.directory },
      })
      await whileRunning('Prometheus', [server], (signal) => untilAnswers(`${url}/-/ready`, signal))
      guard.unref()
      return {
        query: (expression) => query(url, expression),
        target: () => target(url),
        complaints: async () =>
          (await readFile(server.log, 'utf8'))
            .split('\n')
            .filter((line) => /level=(WARN|ERROR)/i.test(line)),
        stop: () => guard.stop(),
      }
    } catch (error) {
      await guard.stop()
      throw error
    }
  })
}

/** JSON is YAML. */
function configOf({ scrapes, job, rules }: PrometheusOrder): string {
  return JSON.stringify({
    // A scrape takes some milliseconds. The limit, which cannot be above the interval, is for a loaded machine.
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '500ms' },
    rule_files: rules,
    scrape_configs: [{ job_name: job, static_configs: [{ targets: [scrapes] }] }],
  })
}

interface ApiAnswer<Data> {
  readonly status: string
  readonly data: Data
  readonly error?: string
  readonly warnings?: readonly string[]
  readonly infos?: readonly string[]
}

async function ask<Data>(url: string, path: string): Promise<ApiAnswer<Data>> {
  const answer = (await (await fetch(`${url}/api/v1/${path}`)).json()) as ApiAnswer<Data>
  if (answer.status !== 'success') throw new Error(`${path}: ${answer.error ?? answer.status}`)
  return answer
}

async function query(url: string, expression: string): Promise<QueryAnswer> {
  const {
    data,
    warnings = [],
    infos = [],
  } = await ask<QueryAnswer>(url, `query?query=${encodeURIComponent(expression)}`)
  return { result: data.result, warnings: [...warnings, ...infos] }
}

async function target(url: string): Promise<Target | undefined> {
  const { data } = await ask<{ readonly activeTargets: readonly Target[] }>(url, 'targets')
  const [only, ...more] = data.activeTargets
  if (more.length > 0) throw new Error('Prometheus has more than one target')
  return only
}
