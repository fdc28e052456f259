/** The process of the command line: signals and exit code. */
import process from 'node:process'
import { asFailure, Interrupted } from '@backporch/kyaml/failure'
import { worstExit } from './cli/flags/exit-status.ts'
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
// `backporch … | head` ends quietly.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 141 : 2)
})
const context = wire(process, interrupted.signal)
// What nobody caught or waited for ends the process as any fault does: with lines that say why, and not with whatever an error carries.
process.on('uncaughtException', (thrown) => {
  // The command that was interrupted tells it.
  if (thrown instanceof Interrupted) return
  const failure = asFailure(thrown)
  printFailures([failure], context)
  process.exit(worstExit([failure]))
})

process.exitCode = await runCli(process.argv.slice(2), context)
