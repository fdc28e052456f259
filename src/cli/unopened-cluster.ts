/** A cluster of several that could not even be connected to: whatever is asked of it fails with the same reason. */
import type { Failure } from '../failure.ts'
import type { ClusterReader } from '../ports/cluster.ts'

export class UnopenedCluster implements ClusterReader {
  readonly name: string
  readonly #failure: Failure

  constructor(name: string, failure: Failure) {
    this.name = name
    this.#failure = failure
  }

  identify = (): Promise<never> => Promise.reject(this.#failure)
  servedKind = (): Promise<never> => Promise.reject(this.#failure)
  readLive = (): Promise<never> => Promise.reject(this.#failure)
  list = (): Promise<never> => Promise.reject(this.#failure)
  readInventories = (): Promise<never> => Promise.reject(this.#failure)
  predict = (): Promise<never> => Promise.reject(this.#failure)
}
