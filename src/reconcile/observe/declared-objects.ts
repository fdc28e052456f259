/**
 * The objects that other packages declare. They are read only if an inventory lists an object that
 * its own package does not declare.
 */
import type { ResourceId } from '@backporch/kyaml/resource'
import { DeclaredIds, isWithinFolder } from '../../drift/compare/unexpected.ts'
import { mapConcurrent } from '../repository/each-of.ts'

const WIDTH = 4

interface DeclaringPackage {
  readonly path: string
  readonly ids: DeclaredIds
}

export interface DeclaredElsewhere {
  readonly packages: readonly DeclaringPackage[]
  readonly unread: readonly string[]
}

export class DeclaredObjects {
  private readonly paths: readonly string[]
  private readonly load: (path: string) => Promise<readonly ResourceId[]>
  readonly namespace: string
  private readonly known = new Map<string, Promise<DeclaredIds | undefined>>()

  /**
   * @param paths of all packages that may run in the cluster
   * @param load throws if the package cannot be read
   */
  constructor(
    paths: readonly string[],
    load: (path: string) => Promise<readonly ResourceId[]>,
    namespace: string,
  ) {
    this.paths = paths
    this.load = load
    this.namespace = namespace
  }

  remember(path: string, ids: readonly ResourceId[]): void {
    this.known.set(path, Promise.resolve(new DeclaredIds(ids, this.namespace)))
  }

  /**
   * Within a folder, except one package.
   * @throws the reason of `signal`
   */
  readElsewhere(
    packagePath: string,
    folder: string | undefined,
    signal: AbortSignal,
  ): Promise<DeclaredElsewhere> {
    return this.read(
      this.paths.filter((path) => path !== packagePath && isWithinFolder(path, folder)),
      signal,
    )
  }

  /** @throws the reason of `signal` */
  readEverywhere(signal: AbortSignal): Promise<DeclaredElsewhere> {
    return this.read(this.paths, signal)
  }

  private async read(paths: readonly string[], signal: AbortSignal): Promise<DeclaredElsewhere> {
    const read = await mapConcurrent(paths, WIDTH, async (path) => {
      const ids = await this.getDeclaredIds(path)
      signal.throwIfAborted()
      return { path, ids }
    })
    return {
      packages: read.flatMap(({ path, ids }) => (ids === undefined ? [] : [{ path, ids }])),
      unread: read.flatMap(({ path, ids }) => (ids === undefined ? [path] : [])).sort(),
    }
  }

  private getDeclaredIds(path: string): Promise<DeclaredIds | undefined> {
    const known = this.known.get(path)
    if (known !== undefined) return known
    const read = this.load(path).then(
      (ids) => new DeclaredIds(ids, this.namespace),
      () => undefined,
    )
    this.known.set(path, read)
    return read
  }
}
