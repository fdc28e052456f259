/** Signals and exit code are the same as in `main.ts`. */
import process from 'node:process'
import { Interrupted } from '@backporch/kyaml/failure'
import { runAction } from './cli/action/run-action.ts'
import { runCli } from './cli/run-cli.ts'
import { wire } from './wire.ts'

const interrupted = new AbortController()
// A cancelled workflow sends SIGINT, and SIGTERM 7.5 seconds later.
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.on(name, () => interrupted.abort(new Interrupted(name)))

process.exitCode = await runAction(wire(process, interrupted.signal), runCli)
