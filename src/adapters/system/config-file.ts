import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Failure } from '@backporch/kyaml/failure'

/** Bytes. */
const LIMIT = 1_048_576

/** @throws Failure BP1001 */
export async function readConfigFile(path: string, workingDirectory: string): Promise<string> {
  let why: string
  try {
    const file = await open(resolve(workingDirectory, path))
    try {
      const stat = await file.stat()
      if (stat.isFile() && stat.size <= LIMIT) return await file.readFile('utf8')
      why = stat.isFile() ? 'it has more than 1 MiB' : 'it is not a file'
    } finally {
      await file.close()
    }
  } catch (thrown) {
    why = thrown instanceof Error ? thrown.message : String(thrown)
  }
  throw new Failure({
    code: 'BP1001',
    what: 'the configuration of the controller cannot be read',
    where: path,
    why,
    remedy: 'give --config a file with a ControllerConfig',
    retry: 'on-change',
  })
}
