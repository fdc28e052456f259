/** How many bytes of files a turn takes into memory, and the message about the rest. */
import type { PackageRepository, TreeFile } from '@backporch/git-store/package-repository'
import { Failure } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'

/** Of one package. */
export const MOST_PACKAGE_BYTES = 32 * 1024 * 1024
/** Of all packages of a turn. */
const MOST_TURN_BYTES = 128 * 1024 * 1024

export class ReadBudget {
  private readonly most: number
  private readonly bytes = new Map<string, number>()
  private taken = 0

  /** @param most bytes of the files of all packages together */
  constructor(most = MOST_TURN_BYTES) {
    this.most = most
  }

  /** Counts each package once. A package without room gets none in the same turn. */
  take(packagePath: string, bytes: number): void {
    if (this.bytes.has(packagePath)) return
    const fits = this.taken + bytes <= this.most
    this.bytes.set(packagePath, fits ? bytes : Number.POSITIVE_INFINITY)
    if (fits) this.taken += bytes
  }

  /** @throws Failure BP1111 where the package found no room */
  assertRoom(packagePath: string): void {
    if (this.bytes.get(packagePath) !== Number.POSITIVE_INFINITY) return
    throw new Failure({
      code: 'BP1111',
      what: 'the package is not read in this turn',
      where: packagePath || '.',
      why: `with it, the files of all packages would be larger than ${this.most / 1024 / 1024} MiB, which is what one turn reads`,
      remedy: 'look at fewer packages at once: name them on the command line, or divide them among controllers',
      retry: 'on-change',
    })
  }
}

/** A quarter of the files, at least one. */
export async function largestOf(
  repository: PackageRepository,
  files: readonly TreeFile[],
  signal: AbortSignal,
): Promise<ReadonlySet<ObjectId>> {
  const sizes = await repository.prepare(
    files.map(({ id }) => id),
    signal,
  )
  const ids = [...new Set(files.map(({ id }) => id))].sort((left, right) => (sizes.get(right) ?? Infinity) - (sizes.get(left) ?? Infinity))
  return new Set(ids.slice(0, Math.ceil(ids.length / 4)))
}
