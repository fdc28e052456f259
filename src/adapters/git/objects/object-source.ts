/** Where the objects of a repository are read from: a clone on this machine, in place, or a remote through a cache. */
import type { ObjectId } from '../../../package/object-id.ts'
import type { Advertisement } from '../protocol/advertisement.ts'
import type { GitObject, ObjectType } from './object-format.ts'

export interface ObjectSource {
  /** The last advertisement that was seen for reading. */
  readonly known: Advertisement | undefined
  /** Asks the repository what it has. @throws Failure BP40xx or BP1002 */
  advertise(signal: AbortSignal): Promise<Advertisement>
  /**
   * One object for each id, its content checked against the id. What is not here is asked for in one request, not in one for each.
   * @param type what the ids are expected to name; the caller checks it
   * @param most bytes of all of them together; of a file there is a limit besides
   * @throws OversizedRead, Failure BP1003 where the repository is empty, BP4006 where an object is not to be had, BP4011 for a commit beyond a shallow clone, BP40xx otherwise
   */
  read(ids: readonly ObjectId[], type: ObjectType, signal: AbortSignal, most?: number): Promise<ReadonlyMap<ObjectId, GitObject>>
  /** As of `PackageRepository`. */
  prepare(blobs: readonly ObjectId[], signal: AbortSignal): Promise<ReadonlyMap<ObjectId, number>>
}
