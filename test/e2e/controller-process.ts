/** The daemon as a process, with what it prints. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createHmac, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type LogEvent, logEvents } from '../fakes/log-events.ts'
import { boundCommand } from '../processes/bound-command.ts'
import { PROGRAM } from '../program.ts'
import { waitUntil } from '../waiting/wait-until.ts'
import type { World } from './world.ts'

interface ControllerEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export class Controller {
  stdout = ''
  stderr = ''
  private readonly child: ChildProcess
  private end: ControllerEnd | undefined

  /** @param args with `--repo` or `--config`, where it shall be about other repositories than the world's own */
  constructor(t: TestContext, world: World, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
    const home = join(world.folder, 'home')
    const repository =
      args.includes('--repo') || args.includes('--config') ? [] : ['--repo', world.repository]
    this.child = spawn(
      ...boundCommand(process.execPath, [PROGRAM, 'controller', ...repository, ...args]),
      {
        cwd: world.checkout,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          PATH: process.env['PATH'],
          HOME: home,
          XDG_CONFIG_HOME: join(home, 'config'),
          XDG_CACHE_HOME: join(home, 'cache'),
          GIT_CONFIG_NOSYSTEM: '1',
          KUBECONFIG: world.plane.kubeconfig,
          BACKPORCH_KEY: 'e2e0'.repeat(16),
          ...env,
        },
      },
    )
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text
    })
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text
    })
    this.child.on('close', (code, signal) => {
      this.end = { code, signal }
    })
    t.after(() => this.child.kill('SIGKILL'))
  }

  /** Resolves when it has ended, and all that it printed is here. */
  get exited(): Promise<ControllerEnd> {
    return waitUntil('the controller ends', () => this.end, { describe: () => this.printed() })
  }

  /** Calls back whenever it ends, however long it runs. */
  onEnd(tell: (end: ControllerEnd) => void): void {
    this.child.on('close', (code, signal) => tell({ code, signal }))
  }

  send(signal: NodeJS.Signals): void {
    this.child.kill(signal)
  }

  /** Asked again and again until it is so. */
  async until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
    await waitUntil(what, isSo, { describe: () => this.printed() })
  }

  private printed(): string {
    return `--- stdout\n${this.stdout}\n--- stderr\n${this.stderr}`
  }

  /** Changes of units that it has told so far, of this outcome. */
  did(outcome: string): LogEvent[] {
    const whole = this.stderr.slice(0, this.stderr.lastIndexOf('\n') + 1)
    return logEvents(whole, 'transition').filter((one) => one['outcome'] === outcome)
  }

  /** Where it listens for this. */
  async url(path: 'webhook' | 'audit' | 'metrics' = 'webhook'): Promise<string> {
    const url = (): string | undefined =>
      new RegExp(`http://127\\.0\\.0\\.1:\\d+/${path}`).exec(this.stderr)?.[0]
    await this.until('it listens', () => url() !== undefined)
    return url() ?? ''
  }
}

/** A delivery of a forge. @returns the status of the answer */
export async function deliver(url: string, secret: string): Promise<number> {
  const body = JSON.stringify({ repository: { full_name: 'acme/deploy' }, id: randomUUID() })
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'push',
    'x-github-delivery': randomUUID(),
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  }
  const answer = await fetch(url, { method: 'POST', body, headers })
  await answer.arrayBuffer()
  return answer.status
}
