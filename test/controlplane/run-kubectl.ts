import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { boundCommand } from '../processes/bound-command.ts'
import { hangLimit } from '../waiting/wait-until.ts'
import type { Identity } from './test-authority.ts'

export interface KubectlOptions {
  readonly stdin?: string
  /** Defaults to `ADMIN`. */
  readonly as?: Identity
  /** Exit codes that are an answer. Defaults to 0 alone; `kubectl diff` answers 1 for a difference. */
  readonly exitCodes?: readonly number[]
  /** Defaults to `hangLimit`. */
  readonly signal?: AbortSignal
}

export interface KubectlResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs the `kubectl` on the `PATH` with this kubeconfig and no other, and with a discovery cache of the plane's own.
 * Rejects when there is no `kubectl`, when `signal` aborts, and for an unexpected exit code, with standard error.
 */
export async function runKubectl(
  kubeconfig: string,
  cache: string,
  args: readonly string[],
  options: KubectlOptions,
): Promise<KubectlResult> {
  const { KUBECONFIG: _developersOwn, ...environment } = process.env
  const child = spawn(
    ...boundCommand('kubectl', [`--kubeconfig=${kubeconfig}`, `--cache-dir=${cache}`, ...args]),
    {
      env: environment,
      signal: options.signal ?? hangLimit(`kubectl ${args.join(' ')}`),
      killSignal: 'SIGKILL',
    },
  )
  child.stdin.on('error', () => {}) // it ended without reading; its exit code says why
  child.stdin.end(options.stdin ?? '')
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', (error) =>
      reject(new Error(`cannot run kubectl ${args.join(' ')}`, { cause: error })),
    )
    child.on('close', (code) => resolve(code ?? -1))
  })
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  if (!(options.exitCodes ?? [0]).includes(code)) {
    throw new Error(`kubectl ${args.join(' ')} ended with ${code}: ${stderr || stdout}`)
  }
  return { code, stdout, stderr }
}
