import type { Unavailable } from './build-programs.ts'
import { type Environment, findProgram } from './go-build.ts'

/** Programs of a package of Debian. */
export interface PackagedPrograms<Name extends string> {
  readonly state: 'ready'
  readonly paths: Readonly<Record<Name, string>>
}

/** Programs on the `PATH`, from any version of a package that Debian has. */
export async function findPackaged<Name extends string>(
  debianPackage: string,
  names: readonly Name[],
  environment: Environment = process.env,
): Promise<PackagedPrograms<Name> | Unavailable> {
  const paths: Partial<Record<Name, string>> = {}
  for (const name of names) {
    const path = await findProgram(name, environment)
    if (path === undefined) {
      const why = `there is no ${name} on the PATH. Install it: apt-get install --no-install-recommends ${debianPackage}`
      return { state: 'unavailable', why: `cannot run ${debianPackage} here: ${why}` }
    }
    paths[name] = path
  }
  return { state: 'ready', paths: paths as Record<Name, string> }
}
