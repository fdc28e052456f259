/** Runs a function of the npm package `kpt-functions` as a program. */
import { text } from 'node:stream/consumers'
import { formatFunctionOutput, readFunctionInput } from '@backporch/kpt/function'
import { formatFailure, listFailures } from '@backporch/kyaml/failure'
import type { KptFunc } from 'kpt-functions'
import { fromKptFunc } from './kpt-func.ts'

/**
 * Reads a ResourceList from standard input and writes one to standard output, as `runFunction` does
 * for functions of Backporch. The config in it stays unchanged.
 */
export async function runKptFunc(fn: KptFunc): Promise<void> {
  try {
    const given = await text(process.stdin)
    const input = readFunctionInput(given, 'standard input')
    const output = await fromKptFunc(fn)(input)
    const items =
      output.exitCode === 0 ? output.items : readFunctionInput(given, 'standard input').items
    process.stdout.write(formatFunctionOutput({ ...output, items }, input.config))
    if (output.stderr !== '') process.stderr.write(`${output.stderr}\n`)
    process.exitCode = output.exitCode
  } catch (thrown) {
    process.stderr.write(`${listFailures(thrown).map(formatFailure).join('\n')}\n`)
    process.exitCode = 1
  }
}
