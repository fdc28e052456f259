/**
 * Takes hold of one running server of a test: kills it, starts it again as it was, on the same port and data, stops and resumes its process.
 * How it was started is read from the process, so that servers of any kind can be held.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readlinkSync } from 'node:fs'
import { boundCommand } from '../processes/bound-command.ts'
import { waitUntil } from '../waiting/wait-until.ts'
import { type ApiResponse, apiClient } from './api-request.ts'
import type { ControlPlane } from './control-plane.ts'
import type { ServerName } from './find-control-plane.ts'
import { freePort } from './free-port.ts'
import { ADMIN } from './test-authority.ts'

/** The part of a test's context that is needed: what it runs at the end. */
interface Ending {
  after(work: () => Promise<void> | void): void
}

/** Milliseconds; who does not answer in time is asked again. */
const ANSWER_WITHIN = 5_000

export class ServerHands {
  pid: number
  private readonly command: readonly string[]
  private readonly folder: string
  private readonly environment: NodeJS.ProcessEnv
  private readonly isReady: () => Promise<boolean>
  private child: ChildProcess | undefined

  /** @param flags in place of those of the same names that the process was started with */
  constructor(
    t: Ending,
    pid: number,
    isReady: () => Promise<boolean>,
    flags: readonly string[] = [],
  ) {
    this.pid = pid
    this.isReady = isReady
    const named = new Set(flags.map(nameOf))
    this.command = [
      ...wordsOf(`/proc/${pid}/cmdline`).filter((word) => !named.has(nameOf(word))),
      ...flags,
    ]
    this.folder = readlinkSync(`/proc/${pid}/cwd`)
    this.environment = Object.fromEntries(
      wordsOf(`/proc/${pid}/environ`).map((line) => line.split(/=(.*)/s).slice(0, 2)),
    )
    t.after(() => this.end())
  }

  /** `kill -9`; resolves when the process is gone. */
  async kill(): Promise<void> {
    process.kill(this.pid, 'SIGKILL')
    await waitUntil('the process is gone', () => !isRunning(this.pid))
  }

  /** Starts it as it was. It ends with this process. */
  launch(): void {
    const [program = '', ...args] = this.command
    // Its standard input stays open: such a server ends with it.
    this.child = spawn(...boundCommand(program, args), {
      cwd: this.folder,
      env: this.environment,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    this.child.unref()
    assert.ok(this.child.pid !== undefined, `${program} cannot be started`)
    this.pid = this.child.pid
  }

  /** Starts it as it was, and waits until it is ready. The threads of a killed process may hold its port a moment longer: it is tried again. */
  async start(): Promise<void> {
    this.launch()
    await waitUntil('the server is ready', () => {
      if (this.child?.exitCode !== null) this.launch()
      return this.isReady()
    })
  }

  async ready(): Promise<void> {
    await waitUntil('the server is ready', this.isReady)
  }

  /** The process stands still: connections stay open, and nobody answers. */
  pause(): void {
    process.kill(this.pid, 'SIGSTOP')
  }

  resume(): void {
    if (isRunning(this.pid)) process.kill(this.pid, 'SIGCONT')
  }

  private async end(): Promise<void> {
    const { child } = this
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    child.ref()
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}

export function handsOf(t: Ending, plane: ControlPlane, name: ServerName): ServerHands {
  const server = plane.servers.find((one) => one.name === name)
  assert.ok(server !== undefined, `the plane has no ${name}`)
  return new ServerHands(t, server.pid, () => isReady(plane))
}

/** A further kube-apiserver on the store of a plane, with the flags of the first but for `flags`. It ends with the test. */
export async function secondApiServer(
  t: Ending,
  plane: ControlPlane,
  flags: readonly string[],
): Promise<string> {
  const port = await freePort()
  const url = `https://127.0.0.1:${port}`
  const client = apiClient(
    url,
    Buffer.from(plane.caData, 'base64').toString(),
    plane.credentialFor(ADMIN.user, ADMIN.groups),
  )
  const first = plane.servers.find(({ name }) => name === 'kube-apiserver')
  assert.ok(first !== undefined)
  const answers = () =>
    readiness(client('GET', '/readyz', { signal: AbortSignal.timeout(ANSWER_WITHIN) }))
  await new ServerHands(t, first.pid, answers, [...flags, `--secure-port=${port}`]).start()
  return url
}

export async function isReady(plane: ControlPlane): Promise<boolean> {
  return readiness(plane.request('GET', '/readyz', { signal: AbortSignal.timeout(ANSWER_WITHIN) }))
}

function readiness(answer: Promise<ApiResponse<unknown>>): Promise<boolean> {
  return answer.then(
    ({ status }) => status === 200,
    () => false,
  )
}

/** A zombie runs no more; the file may go while it is read. */
function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

function nameOf(flag: string): string {
  return flag.replace(/=.*/s, '')
}

function wordsOf(path: string): string[] {
  return readFileSync(path, 'utf8').split('\0').slice(0, -1)
}
