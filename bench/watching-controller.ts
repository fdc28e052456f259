/** Runs the controller as a process and reads the events of its log. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Bench } from './prepare.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** Milliseconds. */
const PATIENCE = 240_000

export interface Line {
  /** As `performance.now`: when the benchmark read it. */
  readonly at: number
  readonly [field: string]: unknown
}

export class WatchingController {
  readonly lines: Line[] = []
  private readonly child: ChildProcess
  private readonly closed: Promise<void>
  private stderr = ''

  constructor(program: string, home: string, args: readonly string[], env: NodeJS.ProcessEnv) {
    mkdirSync(home, { recursive: true })
    this.child = spawn(
      process.execPath,
      [program, 'controller', '--log-format', 'json', '--log-level', 'trace', ...args],
      {
        cwd: home,
        stdio: ['ignore', 'ignore', 'pipe'],
        env: {
          PATH: process.env['PATH'],
          HOME: home,
          XDG_CACHE_HOME: join(home, 'cache'),
          BACKPORCH_KEY: 'bench'.repeat(8),
          ...env,
        },
      },
    )
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

/** Packs the released program, and makes a bare clone of the repository. @returns how to start a controller on them */
export function prepareController(
  bench: Bench,
): (...flags: readonly string[]) => WatchingController {
  execFileSync(process.execPath, [join(ROOT, '.ci', 'bundle.ts'), join(bench.folder, 'dist')], {
    stdio: 'pipe',
  })
  const bare = join(bench.folder, 'fleet.git')
  execFileSync('git', ['clone', '--quiet', '--bare', bench.repository, bare], { stdio: 'pipe' })
  const program = join(bench.folder, 'dist', 'backporch.mjs')
  return (...flags) =>
    new WatchingController(
      program,
      join(bench.folder, 'home'),
      ['--repo', bare, '--cluster', 'bench', '--interval', '10s', ...flags],
      {
        KUBECONFIG: bench.plane.kubeconfig,
      },
    )
}
