import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { ensureProgram, type FindOptions, type Unavailable } from '../programs/build-programs.ts'

/** How to run Helm. */
export interface HelmBinaries {
  readonly state: 'ready'
  /** Each is named `helm`. */
  readonly helm3: string
  readonly helm4: string
}

/** Both versions that `go.mod` names, built where they are not there (`ensureProgram`). */
export async function findHelm(options: FindOptions = {}): Promise<HelmBinaries | Unavailable> {
  const paths: string[] = []
  for (const name of ['helm3', 'helm4'] as const) {
    const found = await ensureProgram(name, options)
    if (found.state === 'unavailable') return found
    // Backporch knows the program by its name.
    const named = join(found.folder, 'helm')
    await symlink(found.path, named).catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code !== 'EEXIST') throw thrown
    })
    paths.push(named)
  }
  const [helm3 = '', helm4 = ''] = paths
  return { state: 'ready', helm3, helm4 }
}

/** @throws Error that says what is missing */
export async function helmOrThrow(): Promise<HelmBinaries> {
  const found = await findHelm()
  if (found.state === 'unavailable') throw new Error(found.why)
  return found
}
