import { text } from 'node:stream/consumers'
import { formatFunctionOutput, type KrmFunction, readFunctionInput } from '@backporch/kpt/function'
import { formatFailure, listFailures } from '@backporch/kyaml/failure'

/**
 * Exits with 1 if the input is not a ResourceList. If a function fails, prints the input resources,
 * because kpt needs them to read the results.
 */
export async function runFunction(krmFunction: KrmFunction): Promise<void> {
  try {
    const given = await text(process.stdin)
    const input = readFunctionInput(given, 'standard input')
    const output = krmFunction(input)
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
