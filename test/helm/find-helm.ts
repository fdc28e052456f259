import { symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildOnce, type Environment, findProgram, goBuild, isExecutable } from '../controlplane/go-build.ts'

/** How to run Helm. */
export interface HelmBinaries {
  readonly state: 'ready'
  /** Each is named `helm`. */
  readonly helm3: string
  readonly helm4: string
}

/** Helm cannot run on this machine. A statement about the machine, never about the code under test. */
export interface HelmUnavailable {
  readonly state: 'unavailable'
  /** One sentence or more, for a person: what is missing and what to do. */
  readonly why: string
}

const ARGUMENTS = ['build', '-mod=readonly', '-buildvcs=false', '-trimpath', '-ldflags', '-s -w']

/** The programs to run: cached builds, else new ones with `go`. `go.mod` says which versions. */
export async function findHelm(
  environment: Environment = process.env,
  report: (message: string) => void = (message) => void process.stderr.write(`${message}\n`),
): Promise<HelmBinaries | HelmUnavailable> {
  const module = fileURLToPath(new URL('.', import.meta.url))
  const found: string[] = []
  for (const version of ['3', '4']) {
    const build = await goBuild(`helm${version}`, module, environment, false, () => ARGUMENTS)
    const go = await findProgram('go', environment)
    if (!(await isExecutable(build.binary))) {
      if (go === undefined)
        return { state: 'unavailable', why: 'there is no go on the PATH, and no build of Helm in the cache. Install Go.' }
      const what = `the ${build.name} of the tests once, about 2 minutes on 2 cores`
      const outcome = await buildOnce(build, go, environment, { report, what, target: `helm.sh/helm/v${version}/cmd/helm` })
      if (outcome.state === 'failed') return { state: 'unavailable', why: `cannot build Helm here: ${outcome.why}` }
    }
    // Backporch knows the program by its name.
    const named = join(dirname(build.binary), 'helm')
    await symlink(build.binary, named).catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code !== 'EEXIST') throw thrown
    })
    found.push(named)
  }
  const [helm3 = '', helm4 = ''] = found
  return { state: 'ready', helm3, helm4 }
}

/** @throws Error that says what is missing */
export async function helmOrThrow(): Promise<HelmBinaries> {
  const found = await findHelm()
  if (found.state === 'unavailable') throw new Error(found.why)
  return found
}
