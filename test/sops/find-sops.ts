import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildOnce, type Environment, findProgram, goBuild, isExecutable } from '../controlplane/go-build.ts'

/** How to run SOPS and age. */
export interface SopsBinaries {
  readonly state: 'ready'
  /** Named `sops`. */
  readonly sops: string
  readonly ageKeygen: string
}

/** SOPS cannot run on this machine. A statement about the machine, never about the code under test. */
export interface SopsUnavailable {
  readonly state: 'unavailable'
  /** One sentence or more, for a person: what is missing and what to do. */
  readonly why: string
}

const ARGUMENTS = ['build', '-mod=readonly', '-buildvcs=false', '-trimpath', '-ldflags', '-s -w']
const TARGETS = { sops: 'github.com/getsops/sops/v3/cmd/sops', 'age-keygen': 'filippo.io/age/cmd/age-keygen' } as const

/** The programs to run: cached builds, else new ones with `go`. `go.mod` says which versions. */
export async function findSops(
  environment: Environment = process.env,
  report: (message: string) => void = (message) => void process.stderr.write(`${message}\n`),
): Promise<SopsBinaries | SopsUnavailable> {
  const module = fileURLToPath(new URL('.', import.meta.url))
  const found: string[] = []
  for (const [name, target] of Object.entries(TARGETS)) {
    const build = await goBuild(name, module, environment, false, () => ARGUMENTS)
    if (!(await isExecutable(build.binary))) {
      const go = await findProgram('go', environment)
      if (go === undefined)
        return { state: 'unavailable', why: `there is no go on the PATH, and no build of ${name} in the cache. Install Go.` }
      const what = `the ${name} of the tests once, about 2 minutes on 2 cores`
      const outcome = await buildOnce(build, go, environment, { report, what, target })
      if (outcome.state === 'failed') return { state: 'unavailable', why: `cannot build ${name} here: ${outcome.why}` }
    }
    found.push(join(dirname(build.binary), name))
  }
  const [sops = '', ageKeygen = ''] = found
  return { state: 'ready', sops, ageKeygen }
}

/** @throws Error that says what is missing */
export async function sopsOrThrow(): Promise<SopsBinaries> {
  const found = await findSops()
  if (found.state === 'unavailable') throw new Error(found.why)
  return found
}
