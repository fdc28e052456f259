/**
 * Preloaded into a process (`NODE_OPTIONS=--import=…`): one character is added to the file `BACKPORCH_TEST_READS` each time that the process has
 * opened the file `BACKPORCH_TEST_READ_FILE`, or tried to.
 */
import { appendFileSync } from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import process from 'node:process'

const { open } = promises
const counted = process.env['BACKPORCH_TEST_READ_FILE']
const reads = process.env['BACKPORCH_TEST_READS'] ?? ''

promises.open = async (path, ...rest) => {
  try {
    return await open(path, ...rest)
  } finally {
    if (path === counted) appendFileSync(reads, '.')
  }
}
syncBuiltinESMExports()
