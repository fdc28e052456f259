/** What the commands of the GitHub Action share. */
import type { DriftReportList } from '../../record/schema.ts'
import type { World } from '../world.ts'
import type { ActionInputs, ActionTarget } from './action-inputs.ts'
import type { RunnerCommands } from './runner-commands.ts'

/** What one command line answered. */
export interface Answered {
  readonly code: number
  readonly list: DriftReportList
}

export interface ActionRun {
  readonly inputs: ActionInputs
  readonly runner: RunnerCommands
  readonly world: World
  /** Runs `scan` or `diff` for a cluster; what it says to people goes to the log. */
  ask(command: 'scan' | 'diff', packages: readonly string[], target: ActionTarget, branch?: string): Promise<Answered>
}

/** An error beats rights, and those beat what was not observed. */
export function worstOf(codes: readonly number[]): number {
  return [2, 4, 3].find((code) => codes.includes(code)) ?? codes.find((code) => code !== 0) ?? 0
}
