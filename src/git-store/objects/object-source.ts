import type { ObjectId } from '@backporch/kyaml/files'
import type { Advertisement } from '../protocol/advertisement.ts'
import type { GitObject, ObjectType } from './object-format.ts'

export interface ObjectSource {
  readonly known: Advertisement | undefined
  /** @throws Failure BP40xx or BP1002 */
  advertise(signal: AbortSignal): Promise<Advertisement>
  /**
   * One per id, verified. Missing ones are fetched in one request.
   * @param type checked by the caller
   * @param most bytes of all together; a file has a separate limit
   * @throws OversizedRead, Failure BP1003 if the repository is empty, BP4006 if an object is
   * unavailable, BP4011 for a commit beyond a shallow clone, BP40xx otherwise
   */
  read(
    ids: readonly ObjectId[],
    type: ObjectType,
    signal: AbortSignal,
    most?: number,
  ): Promise<ReadonlyMap<ObjectId, GitObject>>
  prepare(blobs: readonly ObjectId[], signal: AbortSignal): Promise<ReadonlyMap<ObjectId, number>>
}
