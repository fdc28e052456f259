/** Types that the commands of the GitHub Action share. */
import type { DriftReportList } from '../../record/documents/drift-report-list.ts'
import type { CliContext } from '../context/cli-context.ts'
import type { ActionInputs, ActionTarget } from './action-inputs.ts'
import type { RunnerCommands } from './runner-commands.ts'

export interface Question {
  readonly command: 'scan' | 'diff'
  readonly packages: readonly string[]
  readonly target: ActionTarget
  /** The base branch; that of the inputs unless given. */
  readonly branch?: string
}

/** The result of one command line. */
export interface Answered {
  readonly code: number
  readonly list: DriftReportList
}

/** What a command line printed. */
export interface Printed {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface ActionRun {
  readonly inputs: ActionInputs
  readonly runner: RunnerCommands
  readonly cli: CliContext
  /** Runs `scan` or `diff` for a cluster; its text for people goes to the log. */
  ask(question: Question): Promise<Answered>
  /** Runs a command line with the token of the inputs. */
  run(argv: readonly string[]): Promise<Printed>
}

/** An error beats missing rights, and those beat unobserved objects. */
export function worstOf(codes: readonly number[]): number {
  return [2, 4, 3].find((code) => codes.includes(code)) ?? codes.find((code) => code !== 0) ?? 0
}
