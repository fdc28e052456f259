/** Messages between a benchmark and its child processes: one request at a time, over the channel of the child. */
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export interface Memory {
  /** Bytes. */
  readonly rss: number
  readonly heap: number
  readonly external: number
}

/** After two collections, because finalizers free more. */
export async function settledMemory(): Promise<Memory> {
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc?.()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const { rss, heapUsed, external } = process.memoryUsage()
  return { rss, heap: heapUsed, external }
}

/** Seconds of CPU of this process so far. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

export class BenchChild {
  private readonly child: ChildProcess

  /** @param program beside this file; it calls `answerQuestions` */
  constructor(program: string, args: readonly string[]) {
    const path = fileURLToPath(new URL(program, import.meta.url))
    this.child = fork(path, args, {
      execArgv: ['--expose-gc'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
  }

  ask<Answer>(question: string, argument?: unknown): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const gone = (code: number | null): void =>
        reject(new Error(`${question}: the process ended with ${code}`))
      this.child.once('exit', gone)
      this.child.once(
        'message',
        (message: { readonly answer?: unknown; readonly problem?: string }) => {
          this.child.off('exit', gone)
          if (message.problem === undefined) resolve(message.answer as Answer)
          else reject(new Error(message.problem))
        },
      )
      this.child.send({ question, argument })
    })
  }

  stop(): void {
    this.child.kill('SIGKILL')
  }
}

/** In a child: answers requests by their name until its parent ends. */
export function answerQuestions(
  answers: Readonly<Record<string, (argument: never) => unknown>>,
): void {
  process.on(
    'message',
    async ({ question, argument }: { readonly question: string; readonly argument: unknown }) => {
      try {
        process.send?.({ answer: await answers[question]?.(argument as never) })
      } catch (thrown) {
        process.send?.({ problem: thrown instanceof Error ? thrown.stack : String(thrown) })
      }
    },
  )
  process.on('disconnect', () => process.exit(0))
}
