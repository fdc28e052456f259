/** Like kpt (kpt `internal/fnruntime/container.go`), with fewer rights. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { basename, parse } from 'node:path'
import { buildChildEnvironment } from '@backporch/system/child-environment'
import { findProgram } from '@backporch/system/find-program'
import type { FunctionLimits } from './function-limits.ts'
import { type ProgramEnd, runProgram } from './run-program.ts'

export type EngineName = 'docker' | 'podman'

interface EngineOptions {
  /** Undefined: the first engine found. */
  readonly engine: EngineName | undefined
  readonly environment: { readonly [name: string]: string | undefined }
  readonly limits: FunctionLimits
  /** Milliseconds. */
  readonly pullTime: number
}

/** docker's and podman's code for their own failures. */
const ENGINE_FAILED = 125
const SMALL_OUTPUT = 1024 * 1024

export class ContainerEngine {
  private readonly options: EngineOptions
  private readonly present = new Set<string>()

  constructor(options: EngineOptions) {
    this.options = { ...options, environment: buildChildEnvironment(options.environment, 'engine') }
  }

  find(): string | undefined {
    const { engine, environment } = this.options
    const names: readonly EngineName[] = engine === undefined ? ['docker', 'podman'] : [engine]
    return names
      .map((name) => findProgram(name, environment['PATH'] ?? ''))
      .find((path) => path !== undefined)
  }

  /**
   * Removes the container on abort.
   * @throws the signal's reason
   */
  async run(image: string, input: string, signal: AbortSignal): Promise<ProgramEnd> {
    const program = this.find()
    if (program === undefined) return createNoEngineEnd(this.options.engine)
    const missing = await this.fetchImage(program, image, signal)
    if (missing !== undefined)
      return this.explainNotStarted(
        program,
        missing,
        'correct the name of the image, or let this machine pull it',
        signal,
      )
    const { environment, limits } = this.options
    const name = `backporch-${randomBytes(8).toString('hex')}`
    const remove = (): void => removeContainer(program, name, environment)
    process.on('exit', remove)
    let clean = false
    try {
      const end = await runProgram(
        {
          program,
          words: buildContainerArgs(name, image, limits),
          input,
          environment,
          limits: { ...limits, memory: Number.POSITIVE_INFINITY },
        },
        signal,
      )
      clean = end.is === 'ended'
      if (end.is !== 'ended' || end.exitCode !== ENGINE_FAILED) return end
      return await this.explainNotStarted(
        program,
        describeEngineFailure(program, 'run', end.stderr),
        'correct the reported error',
        signal,
      )
    } finally {
      process.off('exit', remove)
      // Killing the engine's client does not end the container.
      if (!clean) remove()
    }
  }

  /** A separate pull takes no time from the function. */
  private async fetchImage(
    program: string,
    image: string,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (this.present.has(image)) return undefined
    const { limits, pullTime } = this.options
    const found = await this.ask(
      program,
      ['image', 'inspect', '--format', '{{.Id}}', image],
      limits.milliseconds,
      signal,
    )
    if (found.is !== 'ended' || found.exitCode !== 0) {
      const pulled = await this.ask(program, ['pull', '--quiet', image], pullTime, signal)
      if (pulled.is !== 'ended') return `${basename(program)} pull: ${pulled.why}`
      if (pulled.exitCode !== 0) return describeEngineFailure(program, 'pull', pulled.stderr)
    }
    this.present.add(image)
    return undefined
  }

  /** By behaviour, not by message: an engine that cannot list containers has to be started. */
  private async explainNotStarted(
    program: string,
    why: string,
    remedy: string,
    signal: AbortSignal,
  ): Promise<ProgramEnd> {
    const listed = await this.ask(
      program,
      ['ps', '--quiet'],
      this.options.limits.milliseconds,
      signal,
    )
    if (listed.is === 'ended' && listed.exitCode === 0) return { is: 'not-started', why, remedy }
    return { is: 'not-started', why, remedy: `start it: ${basename(program)} does not answer` }
  }

  private ask(
    program: string,
    words: readonly string[],
    milliseconds: number,
    signal: AbortSignal,
  ): Promise<ProgramEnd> {
    const { environment, limits } = this.options
    return runProgram(
      {
        program,
        words,
        input: '',
        environment,
        limits: { ...limits, milliseconds, memory: Number.POSITIVE_INFINITY, output: SMALL_OUTPUT },
      },
      signal,
    )
  }
}

function createNoEngineEnd(engine: EngineName | undefined): ProgramEnd {
  return engine === undefined
    ? {
        is: 'not-started',
        why: 'neither docker nor podman is on the PATH',
        remedy: 'install one of them',
      }
    : {
        is: 'not-started',
        why: `${engine} is not on the PATH`,
        remedy: 'install it, or name the other one with --container-engine',
      }
}

/** Common to docker 20.10 and podman 4. */
export function buildContainerArgs(
  name: string,
  image: string,
  { memory }: Pick<FunctionLimits, 'memory'>,
): readonly string[] {
  return [
    ...['run', '--rm', '-i', '--name', name, '--pull', 'never'],
    ...[
      '--network',
      'none',
      '--user',
      '65534:65534',
      '--security-opt=no-new-privileges',
      '--cap-drop',
      'ALL',
    ],
    ...['--read-only', '--tmpfs', '/tmp:rw,size=64m,mode=1777'],
    ...['--memory', String(memory), '--memory-swap', String(memory), '--pids-limit', '128'],
    // Otherwise the engine stores the output, including Secrets, in its files.
    ...['--log-driver', 'none'],
    image,
  ]
}

function removeContainer(
  program: string,
  name: string,
  environment: EngineOptions['environment'],
): void {
  const child = spawn(program, ['rm', '--force', name], {
    cwd: parse(process.cwd()).root,
    env: { ...environment },
    stdio: 'ignore',
    detached: true,
    windowsHide: true,
  })
  child.on('error', () => undefined)
  child.unref()
}

function describeEngineFailure(program: string, command: string, stderr: string): string {
  const first = stderr.trim().split('\n')[0]?.trim() || undefined
  return `${basename(program)} ${command} failed${first === undefined ? '' : `: ${first.slice(0, 300)}`}`
}
