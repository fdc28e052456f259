import process from 'node:process'
import { convertToFailure, Interrupted } from '@backporch/kyaml/failure'
import { getWorstExitStatus } from './cli/flags/exit-status.ts'
import { printFailures } from './cli/print/print-failures.ts'
import { runCli } from './cli/run-cli.ts'
import { wire } from './wire.ts'

const interrupted = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => {
    // The second signal ends the process at once.
    if (interrupted.signal.aborted) process.exit(130)
    interrupted.abort(new Interrupted(name))
  })
}
// `backporch … | head` ends without an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 141 : 2)
})
const context = wire(process, interrupted.signal)
// With an explanation, and without arbitrary error content.
process.on('uncaughtException', (thrown) => {
  // The interrupted command reports it.
  if (thrown instanceof Interrupted) return
  const failure = convertToFailure(thrown)
  printFailures([failure], context)
  process.exit(getWorstExitStatus([failure]))
})

process.exitCode = await runCli(process.argv.slice(2), context)
