/** What the runner and its workers tell each other, as JSON. */

/** To a worker: test this file, with these variables in the environment. Without a file: end. */
export interface WorkerOrder {
  /** An absolute path. */
  readonly file?: string
  readonly environment: Readonly<Record<string, string>>
}

/** The first test of each file: the reading of the file. */
export const READING = 'reading the file'

export type WorkerMessage =
  /** One test ended; suites are no tests. */
  | {
      readonly event: 'test'
      readonly outcome: 'passed' | 'failed' | 'skipped'
      readonly name: string
      readonly text: string
    }
  /** What a test says beside its result, such as a seed. */
  | { readonly event: 'diagnostic'; readonly text: string }
  /** The reporter has told every test of the file. */
  | { readonly event: 'reported' }
  /** The file ended. `memory`: bytes of the process. */
  | {
      readonly event: 'ended'
      readonly seconds: number
      readonly cpuSeconds: number
      readonly memory: number
    }
