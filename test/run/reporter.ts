/** Given to `node --test-reporter` in a worker: tells the runner how each test ended. Prints nothing. */
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'
import { READING, type WorkerMessage } from './messages.ts'

/** The test that stands for a whole file has this nesting; see `worker.ts`. */
const FILE = 0

// biome-ignore lint/style/noDefaultExport: Node takes the default export.
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  /** Names of the tests that the current one is in, by nesting. */
  const names: string[] = []
  for await (const event of source) {
    if (event.type === 'test:start') {
      names.length = event.data.nesting
      names.push(event.data.name)
    }
    if (event.type === 'test:diagnostic') tell({ event: 'diagnostic', text: event.data.message })
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue
    const { nesting, details } = event.data
    if (nesting === FILE + 1 && event.data.name === READING) continue
    const name = nesting === FILE ? 'the file as a whole' : names.slice(1, nesting + 1).join(' > ')
    const isTest = nesting !== FILE && details.type !== 'suite'
    if (event.type === 'test:fail') {
      const error = event.data.details.error as Error & { readonly failureType?: string }
      const isAround = error.failureType === 'subtestsFailed'
      if (isTest || !isAround) {
        const text = isAround
          ? 'A test inside it failed.'
          : inspect(error.cause ?? error, { depth: 8 })
        tell({ event: 'test', outcome: 'failed', name, text })
      }
    } else if (isTest) {
      const skipped = event.data.skip ?? event.data.todo
      tell({
        event: 'test',
        outcome: skipped === undefined ? 'passed' : 'skipped',
        name,
        text: String(skipped ?? ''),
      })
    }
    if (nesting === FILE) tell({ event: 'reported' })
  }
  yield ''
}

function tell(message: WorkerMessage): void {
  process.send?.(message)
}
