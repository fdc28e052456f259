/**
 * docs.github.com "Workflow commands for GitHub Actions"; escapes as in actions/toolkit,
 * packages/core/src/command.ts.
 */
import { randomUUID } from 'node:crypto'
import { Failure } from '@backporch/kyaml/failure'
import type { CliContext } from '../context/cli-context.ts'
import { formatWorkflowCommand } from '../report/report-annotations.ts'

/** Per level and step; the runner drops the rest. */
const MOST_ANNOTATIONS = 10
/** Bytes. The runner accepts 1 MiB per step. */
const SUMMARY_LIMIT = 1024 * 1024 - 4096

type Level = 'error' | 'warning' | 'notice'

/** The worst annotations must come first. */
export class RunnerCommands {
  readonly #cli: Pick<CliContext, 'appendText' | 'env' | 'stdout'>
  readonly #said = new Map<string, number>()

  constructor(cli: Pick<CliContext, 'appendText' | 'env' | 'stdout'>) {
    this.#cli = cli
  }

  annotate(level: Level, message: string, location: Readonly<Record<string, string>> = {}): void {
    this.printLines(formatWorkflowCommand(level, location, message))
  }

  printLines(text: string): void {
    for (const line of text.split('\n').filter((one) => one !== '')) {
      const level = /^::(error|warning|notice) /.exec(line)?.[1]
      const before = this.#said.get(level ?? '') ?? 0
      if (level !== undefined && before >= MOST_ANNOTATIONS) continue
      this.#said.set(level ?? '', before + 1)
      this.#cli.stdout.write(`${line}\n`)
    }
  }

  /** The runner executes no commands in it. */
  log(text: string): void {
    if (text === '') return
    const end = randomUUID()
    this.#cli.stdout.write(
      `::stop-commands::${end}\n${text.endsWith('\n') ? text : `${text}\n`}::${end}::\n`,
    )
  }

  /** @throws Failure BP4008: a workflow that depends on the outputs would decide wrongly */
  writeOutputs(values: Readonly<Record<string, string>>): void {
    const path = this.#cli.env['GITHUB_OUTPUT'] || undefined
    if (path === undefined) return
    const blocks = Object.entries(values).map(([name, value]) => {
      const delimiter = `ghadelimiter_${randomUUID()}`
      return `${name}<<${delimiter}\n${value}\n${delimiter}\n`
    })
    try {
      this.#cli.appendText(path, blocks.join(''))
    } catch (thrown) {
      throw new Failure({
        code: 'BP4008',
        what: 'cannot write the outputs of the step',
        where: 'GITHUB_OUTPUT',
        why: getRefusal(thrown),
        remedy: 'check the runner: its temporary folder must be writable',
        cause: thrown,
      })
    }
  }

  /** Only a warning: the result does not depend on it. */
  writeSummary(markdown: string): void {
    const path = this.#cli.env['GITHUB_STEP_SUMMARY'] || undefined
    if (path === undefined) return
    try {
      this.#cli.appendText(path, cutToBytes(markdown, SUMMARY_LIMIT))
    } catch (thrown) {
      this.annotate(
        'warning',
        `the summary of the step could not be written (${getRefusal(thrown)})`,
      )
    }
  }
}

function getRefusal(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown
    ? String(thrown.code)
    : 'the file system refused it'
}

export function cutToBytes(text: string, limit: number): string {
  if (Buffer.byteLength(text) <= limit) return text
  let used = 0
  const retained: string[] = []
  for (const line of text.split('\n')) {
    used += Buffer.byteLength(line) + 1
    if (used > limit) break
    retained.push(line)
  }
  return `${retained.join('\n')}\n\n**This summary is cut: the runner accepts at most 1 MiB.** The output \`report-json\` names a file with the whole report.\n`
}
