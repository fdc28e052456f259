/** The process of the GitHub Action: signals and exit code, as `main.ts` has them for the command line. */
import process from 'node:process'
import { Interrupted } from '@backporch/kyaml/failure'
import { runAction } from './cli/action/run-action.ts'
import { runCli } from './cli/run-cli.ts'
import { wire } from './wire.ts'

const interrupted = new AbortController()
// The runner sends SIGINT when a workflow is cancelled, SIGTERM seven and a half seconds later.
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.on(name, () => interrupted.abort(new Interrupted(name)))

process.exitCode = await runAction(wire(process, interrupted.signal), runCli)
