import { join } from 'node:path'
import type { DriftReportList } from '../../record/documents/drift-report-list.ts'
import type { CliContext } from '../context/cli-context.ts'
import type { ActionInputs, ActionTarget } from './action-inputs.ts'
import type { RunnerCommands } from './runner-commands.ts'

export interface Question {
  readonly command: 'scan' | 'diff'
  readonly packages: readonly string[]
  readonly target: ActionTarget
  readonly branch?: string
}

export interface Answered {
  readonly code: number
  readonly list: DriftReportList
}

export interface Printed {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface ActionRun {
  readonly inputs: ActionInputs
  readonly runner: RunnerCommands
  readonly cli: CliContext
  ask(question: Question): Promise<Answered>
  run(argv: readonly string[]): Promise<Printed>
}

/** Undefined if the runner has no folder for temporary files. */
export function chooseReportPath({
  env,
  clock,
}: Pick<CliContext, 'env' | 'clock'>): string | undefined {
  const folder = env['RUNNER_TEMP'] || undefined
  return folder === undefined
    ? undefined
    : join(folder, `backporch-${clock.now().getTime()}-${process.pid}.json`)
}

export function findWorstCode(codes: readonly number[]): number {
  return [2, 4, 3].find((code) => codes.includes(code)) ?? codes.find((code) => code !== 0) ?? 0
}
