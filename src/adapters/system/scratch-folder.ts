import { mkdtemp, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure } from '@backporch/kyaml/failure'

/**
 * The caller removes the folder.
 * @returns the path with links resolved
 * @throws Failure BP4008
 */
export async function makeScratchFolder(prefix: string): Promise<string> {
  try {
    return await realpath(await mkdtemp(join(tmpdir(), prefix)))
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'an error'
    throw new Failure({
      code: 'BP4008',
      what: 'cannot make a scratch folder',
      where: tmpdir(),
      why: `the file system answered ${code}`,
      remedy: 'free space, or name a folder that can be written in TMPDIR',
      retry: 'backoff',
      cause: thrown,
    })
  }
}
