/** Images through docker or podman, as kpt runs them (kpt `internal/fnruntime/container.go`), with less that they may do. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { basename } from 'node:path'
import type { FunctionLimits } from './function-limits.ts'
import { findProgram, type ProgramEnd, runProgram } from './run-program.ts'

export type EngineName = 'docker' | 'podman'

export interface EngineOptions {
  /** Undefined: the first that is there. */
  readonly engine: EngineName | undefined
  readonly environment: { readonly [name: string]: string | undefined }
  readonly limits: FunctionLimits
  /** Milliseconds that an image may take to be fetched. */
  readonly pullTime: number
}

/** With this code docker and podman say that they themselves failed, and not what they ran. */
const ENGINE_FAILED = 125
const SMALL_OUTPUT = 1024 * 1024

export class ContainerEngine {
  private readonly options: EngineOptions
  /** Images that are there, as far as this process has seen. */
  private readonly present = new Set<string>()

  constructor(options: EngineOptions) {
    this.options = options
  }

  /** Path of the engine, or undefined where none is installed. */
  find(): string | undefined {
    const { engine, environment } = this.options
    const names: readonly EngineName[] = engine === undefined ? ['docker', 'podman'] : [engine]
    return names.map((name) => findProgram(name, environment['PATH'] ?? '')).find((path) => path !== undefined)
  }

  /** @throws the signal's reason when it is aborted; the container is then removed */
  async run(image: string, input: string, signal: AbortSignal): Promise<ProgramEnd> {
    const program = this.find()
    if (program === undefined) return { is: 'not-started', why: `${this.options.engine ?? 'neither docker nor podman'} is not on the PATH` }
    const missing = await this.fetchImage(program, image, signal)
    if (missing !== undefined) return { is: 'not-started', why: missing }
    const { environment, limits } = this.options
    const name = `backporch-${randomBytes(8).toString('hex')}`
    const remove = (): void => removeContainer(program, name, environment)
    process.on('exit', remove)
    let clean = false
    try {
      const end = await runProgram(
        {
          program,
          words: containerWords(name, image, limits),
          input,
          environment,
          limits: { ...limits, memory: Number.POSITIVE_INFINITY },
        },
        signal,
      )
      clean = end.is === 'ended'
      if (end.is !== 'ended' || end.exitCode !== ENGINE_FAILED) return end
      return { is: 'not-started', why: failedEngine(program, 'run', end.stderr) }
    } finally {
      process.off('exit', remove)
      // The engine's own client was killed, which does not end what it started.
      if (!clean) remove()
    }
  }

  /** Apart from the run, so that fetching an image takes nothing of the function's time. */
  private async fetchImage(program: string, image: string, signal: AbortSignal): Promise<string | undefined> {
    if (this.present.has(image)) return undefined
    const { environment, limits, pullTime } = this.options
    const ask = (words: readonly string[], milliseconds: number): Promise<ProgramEnd> =>
      runProgram(
        {
          program,
          words,
          input: '',
          environment,
          limits: { ...limits, milliseconds, memory: Number.POSITIVE_INFINITY, output: SMALL_OUTPUT },
        },
        signal,
      )
    const found = await ask(['image', 'inspect', '--format', '{{.Id}}', image], limits.milliseconds)
    if (found.is !== 'ended' || found.exitCode !== 0) {
      const pulled = await ask(['pull', '--quiet', image], pullTime)
      if (pulled.is !== 'ended') return `${basename(program)} pull: ${pulled.why}`
      if (pulled.exitCode !== 0) return failedEngine(program, 'pull', pulled.stderr)
    }
    this.present.add(image)
    return undefined
  }
}

/** Arguments that docker 20.10 and podman 4 have in common. */
export function containerWords(name: string, image: string, { memory }: Pick<FunctionLimits, 'memory'>): readonly string[] {
  return [
    ...['run', '--rm', '-i', '--name', name, '--pull', 'never'],
    ...['--network', 'none', '--user', '65534:65534', '--security-opt=no-new-privileges', '--cap-drop', 'ALL'],
    ...['--read-only', '--tmpfs', '/tmp:rw,size=64m,mode=1777'],
    ...['--memory', String(memory), '--memory-swap', String(memory), '--pids-limit', '128'],
    // Otherwise the engine keeps what the function prints, Secrets among it, in files of its own.
    ...['--log-driver', 'none'],
    image,
  ]
}

function removeContainer(program: string, name: string, environment: EngineOptions['environment']): void {
  const child = spawn(program, ['rm', '--force', name], { env: { ...environment }, stdio: 'ignore', detached: true, windowsHide: true })
  child.on('error', () => undefined)
  child.unref()
}

function failedEngine(program: string, command: string, stderr: string): string {
  const first = stderr.trim().split('\n')[0]?.trim() ?? ''
  return `${basename(program)} ${command} failed${first === '' ? '' : `: ${first.slice(0, 300)}`}`
}
