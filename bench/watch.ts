/** What the watching controller asks an API server while nothing changes, and how long a change takes to its verdict. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { ControlPlane } from '../test/controlplane/control-plane.ts'
import { startControlPlane } from '../test/controlplane/start-control-plane.ts'
import type { BenchObject } from './generate.ts'
import { serverState } from './measure.ts'
import { type BenchOptions, pathOf, prepareBench } from './prepare.ts'
import { percentile, spread } from './table.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** Seconds. */
const IDLE = 60
const STATUS_WRITES = 1_000
const PATIENCE = 120_000

interface WatchOptions extends BenchOptions {
  /** Changes that are timed. */
  readonly rounds: number
}

interface Line {
  /** As `performance.now`: when the bench read it. */
  readonly at: number
  readonly [field: string]: unknown
}

/** A controller as a process, with the events of its log. */
class WatchingController {
  readonly lines: Line[] = []
  private readonly child: ChildProcess
  private readonly closed: Promise<void>
  private stderr = ''

  constructor(program: string, home: string, args: readonly string[], env: NodeJS.ProcessEnv) {
    mkdirSync(home, { recursive: true })
    this.child = spawn(process.execPath, [program, 'controller', '--log-format', 'json', '--log-level', 'trace', ...args], {
      cwd: home,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { PATH: process.env['PATH'], HOME: home, XDG_CACHE_HOME: join(home, 'cache'), BACKPORCH_KEY: 'bench'.repeat(8), ...env },
    })
    let rest = ''
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      const at = performance.now()
      const whole = (rest + text).split('\n')
      rest = whole.pop() ?? ''
      for (const line of whole) {
        this.stderr = `${this.stderr}${line}\n`.slice(-5_000)
        if (line.startsWith('{')) this.lines.push({ ...(JSON.parse(line) as object), at })
      }
    })
    this.closed = new Promise((resolve) => this.child.once('close', () => resolve()))
  }

  async until(what: string, from: number, isIt: (line: Line) => boolean): Promise<Line> {
    const end = performance.now() + PATIENCE
    for (;;) {
      const found = this.lines.slice(from).find(isIt)
      if (found !== undefined) return found
      if (performance.now() > end || this.child.exitCode !== null)
        throw new Error(
          `never: ${what}\n${this.lines
            .filter(({ event }) => event !== 'request' && event !== 'step' && event !== 'judged')
            .slice(-30)
            .map((line) => JSON.stringify(line))
            .join('\n')}`,
        )
      await sleep(1)
    }
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill(signal)
    await this.closed
  }
}

/** @returns a section of Markdown, without its heading. Rejects where no API server can be run. */
export async function benchWatch(options: WatchOptions, report: (line: string) => void): Promise<string> {
  const plane = await startControlPlane()
  if (plane.state === 'unavailable') throw new Error(plane.why)
  let folder = ''
  let controller: WatchingController | undefined
  try {
    report(`applying ${options.objects} objects`)
    const bench = await prepareBench(plane, options)
    folder = bench.folder
    execFileSync(process.execPath, [join(ROOT, '.ci', 'bundle.ts'), join(folder, 'dist')], { stdio: 'pipe' })
    const bare = join(folder, 'fleet.git')
    execFileSync('git', ['clone', '--quiet', '--bare', bench.repository, bare], { stdio: 'pipe' })
    controller = new WatchingController(
      join(folder, 'dist', 'backporch.mjs'),
      join(folder, 'home'),
      ['--repo', bare, '--cluster', 'bench', '--interval', '10s'],
      { KUBECONFIG: plane.kubeconfig },
    )
    const first = await controller.until('a first turn', 0, ({ event }) => event === 'turn')
    report(`first turn: ${String(first['durationSeconds'])} s, ${String(first['requests'])} requests`)
    await controller.until('changes are watched', 0, ({ event, why }) => event === 'watch' && why === undefined)
    await sleep(5_000)

    const idle = await between(plane, () => sleep(IDLE * 1_000))
    report(`idle for ${IDLE} s: ${idle.requests} requests, ${idle.dryRuns} dry runs, ${idle.cpu.toFixed(2)} s of the server's CPU`)

    const objects = bench.packages.flatMap((one) => one.objects)
    const deployments = objects.filter(({ kind }) => kind === 'Deployment')
    const status = await between(plane, async () => {
      for (let write = 0; write < STATUS_WRITES; write += 1)
        await writeStatus(plane, deployments[write % deployments.length] as BenchObject, write)
      await sleep(2_000)
    })
    report(`${STATUS_WRITES} status writes: ${status.requests - STATUS_WRITES} other requests, ${status.dryRuns} dry runs`)

    const configMaps = objects.filter(({ kind }) => kind === 'ConfigMap')
    const [fromSent, fromAnswer, own]: [number[], number[], number[]] = [[], [], []]
    for (let round = 0; round <= options.rounds; round += 1) {
      const object = configMaps[(round * 7) % configMaps.length] as BenchObject
      const from = controller.lines.length
      const sent = performance.now()
      const { status: code } = await plane.request('PATCH', `${pathOf(object)}?fieldManager=kubectl-edit`, {
        body: { data: { key0: `edited-${round}` } },
        contentType: 'application/merge-patch+json',
      })
      const answered = performance.now()
      if (code !== 200) throw new Error(`the edit was answered with ${code}`)
      const judged = await controller.until('a verdict', from, ({ event }) => event === 'judged')
      if (judged['verdict'] !== 'drifted') throw new Error(`the edit was judged ${String(judged['verdict'])}`)
      if (round > 0) {
        fromSent.push(judged.at - sent)
        fromAnswer.push(judged.at - answered)
        own.push(Number(judged['milliseconds']))
      }
      await sleep(round % 10 === 9 ? 1_500 : 50)
    }
    const times = (values: readonly number[]): string =>
      `p50 ${percentile(values, 50).toFixed(1)} ms, p95 ${percentile(values, 95).toFixed(1)} ms, p99 ${percentile(values, 99).toFixed(1)} ms`
    report(`edit sent → verdict: ${times(fromSent)}`)
    report(`edit answered → verdict: ${times(fromAnswer)}`)
    report(`event read → verdict: ${times(own)}`)
    return [
      `load ${spread([loadavg()[0] ?? Number.NaN], 1)}, ${cpus().length} CPUs`,
      `idle ${JSON.stringify(idle)}, status ${JSON.stringify(status)}, sent ${times(fromSent)}, answered ${times(fromAnswer)}, own ${times(own)}`,
    ].join('\n')
  } finally {
    await controller?.stop()
    await plane.stop()
    if (folder !== '') rmSync(folder, { recursive: true, force: true })
  }
}

async function between(plane: ControlPlane, work: () => Promise<void>): Promise<{ requests: number; dryRuns: number; cpu: number }> {
  const before = await serverState(plane)
  await work()
  const after = await serverState(plane)
  return { requests: after.requests - before.requests, dryRuns: after.dryRuns - before.dryRuns, cpu: after.cpu - before.cpu }
}

async function writeStatus(plane: ControlPlane, object: BenchObject, write: number): Promise<void> {
  const condition = {
    type: 'Available',
    status: 'True',
    reason: 'MinimumReplicasAvailable',
    message: `write ${write}`,
    lastUpdateTime: new Date().toISOString(),
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }
  const { status } = await plane.request('PATCH', `${pathOf(object)}/status?fieldManager=bench-status`, {
    body: { status: { conditions: [condition] } },
    contentType: 'application/strategic-merge-patch+json',
  })
  if (status !== 200) throw new Error(`the status of ${object.metadata.name} was answered with ${status}`)
}
