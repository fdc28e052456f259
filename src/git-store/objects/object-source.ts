/** Reads the objects of a repository: in place in a clone on this machine, or from a remote through a cache. */
import type { ObjectId } from '@backporch/kyaml/files'
import type { Advertisement } from '../protocol/advertisement.ts'
import type { GitObject, ObjectType } from './object-format.ts'

export interface ObjectSource {
  /** The last advertisement for reading. */
  readonly known: Advertisement | undefined
  /** Reads the refs of the repository. @throws Failure BP40xx or BP1002 */
  advertise(signal: AbortSignal): Promise<Advertisement>
  /**
   * One object for each id, its content checked against the id. Missing ones are fetched in one request, not in one for each.
   * @param type of the ids, which the caller checks
   * @param most bytes of all of them together; a file has a limit besides
   * @throws OversizedRead, Failure BP1003 where the repository is empty, BP4006 where an object cannot be had, BP4011 for a commit beyond a
   * shallow clone, BP40xx otherwise
   */
  read(
    ids: readonly ObjectId[],
    type: ObjectType,
    signal: AbortSignal,
    most?: number,
  ): Promise<ReadonlyMap<ObjectId, GitObject>>
  /** As of `PackageRepository`. */
  prepare(blobs: readonly ObjectId[], signal: AbortSignal): Promise<ReadonlyMap<ObjectId, number>>
}
