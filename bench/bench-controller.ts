/** Runs the controller as a process and records the time of each of its requests. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds of the steps of a turn, in order. */
export interface Phases {
  /** From the request for a turn to its first request. */
  readonly waited: number
  /** Refs, comments and proposals. */
  readonly read: number
  readonly observed: number
  /** From the last answer of the cluster to the push. */
  readonly planned: number
  readonly pushed: number
  /** From the end of the push to the answer that there is a pull request. */
  readonly opened: number
  /** All of them. */
  readonly end: number
  /** To the API server. */
  readonly requests: number
}

export interface Line {
  /** The time at which it was printed, when the request was answered. */
  readonly at: number
  readonly took: number
  readonly what: string
}

const PATIENCE = 60_000
/** Milliseconds without a request, after which a turn is over. */
const QUIET = 400

export class BenchController {
  private readonly child: ChildProcess
  private readonly lines: Line[] = []
  private stderr = ''
  private readonly closed: Promise<void>

  /** @param program the bundled one, because that is what people run @param home of its own, and its clones below it */
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
      this.stderr += text
      const whole = (rest + text).split('\n')
      rest = whole.pop() ?? ''
      for (const line of whole) {
        const event = line.startsWith('{')
          ? (JSON.parse(line) as { event?: string; durationSeconds?: number; msg?: string })
          : {}
        if (event.event === 'request')
          this.lines.push({ at, took: (event.durationSeconds ?? 0) * 1_000, what: event.msg ?? '' })
      }
    })
    this.closed = new Promise((resolve) => this.child.once('close', () => resolve()))
  }

  /** The index of the next request in the list. */
  mark(): number {
    return this.lines.length
  }

  /** Waits until a first turn is over. */
  async ready(): Promise<void> {
    await this.until((lines) => lines.some(({ what }) => isCluster(what)) && this.isQuiet())
  }

  /** Waits until a turn after the mark has made a pull request and is over. */
  async done(mark: number): Promise<void> {
    await this.until(
      (lines) => lines.slice(mark).some(({ what }) => isProposal(what)) && this.isQuiet(),
    )
  }

  /** Of the first turn after the mark. @param requested when the turn was requested; as `performance.now` */
  phases(mark: number, requested: number): Phases {
    return phasesOf(this.lines.slice(mark), requested)
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill('SIGTERM')
    await this.closed
  }

  private async until(isSo: (lines: readonly Line[]) => boolean): Promise<void> {
    const from = performance.now()
    while (!isSo(this.lines)) {
      this.assertRunning(from, 'no turn ends')
      await sleep(20)
    }
  }

  private isQuiet(): boolean {
    return performance.now() - (this.lines.at(-1)?.at ?? 0) > QUIET
  }

  private assertRunning(from: number, why: string): void {
    if (performance.now() - from < PATIENCE && this.child.exitCode === null) return
    throw new Error(`${why}:\n${this.stderr.slice(-3000)}`)
  }
}

/** @param turn in the order in which they were answered @throws for a turn that made no pull request */
export function phasesOf(turn: readonly Line[], requested: number): Phases {
  const push = turn.find(({ what }) => isPush(what))
  const created = turn.find(({ what }) => isProposal(what))
  // A change is judged before its turn begins.
  const begin = turn.find(({ what }) => !isCluster(what))
  const cluster = turn.filter(
    ({ what, at }) => isCluster(what) && at > (begin?.at ?? 0) && at < (push?.at ?? 0),
  )
  const last = cluster.at(-1)
  if (begin === undefined || last === undefined || push === undefined || created === undefined)
    throw new Error(
      `a turn of ${turn.length} requests:\n${turn.map(({ what }) => what).join('\n')}`,
    )
  const began = begin.at - begin.took
  const first = Math.min(...cluster.map(({ at, took }) => at - took))
  return {
    waited: began - requested,
    read: first - began,
    observed: last.at - first,
    planned: push.at - push.took - last.at,
    pushed: push.took,
    opened: created.at - push.at,
    end: created.at - requested,
    requests: cluster.length,
  }
}

/** The API server, not the forge, whose paths begin in the same way. */
function isCluster(what: string): boolean {
  return /\/apis?\/(?!v1\/(repos|user)\b)|\/openapi|\/version/.test(what)
}

function isPush(what: string): boolean {
  return /git-receive-pack .*: send /.test(what)
}

function isProposal(what: string): boolean {
  return /POST .*\/pulls\b/.test(what)
}
