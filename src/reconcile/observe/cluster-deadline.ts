import { Failure, listFailures } from '@backporch/kyaml/failure'
import { Deadline } from '@backporch/system/deadline'
import type { NotObserved } from '../../plan/turn/turn-observation.ts'
import { formatPresentTime } from './observe.ts'
import type { TurnRequest } from './turn-request.ts'

/** Milliseconds. */
const LEAST_PATIENCE = 15_000

/**
 * A cluster that was always slow may take long; one that stopped answering delays the others only
 * briefly.
 */
export class ClusterDeadline {
  private readonly cluster: string
  private readonly request: TurnRequest
  /** Milliseconds; undefined without a limit. */
  private readonly deadline: number | undefined
  /** Milliseconds, without time in which the turn waits for other clusters. */
  private spent = 0
  /** Milliseconds in which this process ran. */
  private waited = 0

  constructor(cluster: string, request: TurnRequest) {
    const { deadline } = request.cluster
    this.cluster = cluster
    this.request = request
    this.deadline =
      deadline === undefined
        ? undefined
        : Math.min(
            deadline,
            Math.max(LEAST_PATIENCE, Math.ceil(3 * (request.between?.getLongest(cluster) ?? 0))),
          )
  }

  /** Milliseconds. */
  get duration(): number {
    return this.spent
  }

  /** @throws only what `signal` was aborted with */
  async limit<Answer>(
    signal: AbortSignal,
    work: (limit: AbortSignal) => Promise<Answer>,
  ): Promise<Answer | NotObserved> {
    const slow = new AbortController()
    const limit =
      this.deadline === undefined
        ? undefined
        : new Deadline(this.deadline - this.waited, () => slow.abort())
    const began = performance.now()
    try {
      return await work(AbortSignal.any([signal, slow.signal]))
    } catch (thrown) {
      if (signal.aborted) throw thrown
      const failures = slow.signal.aborted
        ? ([createTooSlowFailure(this.cluster, this.deadline ?? 0)] as const)
        : listFailures(thrown)
      return { cluster: this.cluster, failures, at: formatPresentTime(this.request.clock) }
    } finally {
      this.spent += performance.now() - began
      this.waited += limit?.stop() ?? 0
    }
  }
}

function createTooSlowFailure(cluster: string, deadline: number): Failure {
  return new Failure({
    code: 'BP3006',
    what: `cannot observe ${cluster}`,
    where: `cluster ${cluster}`,
    why: `its answers took longer than ${deadline / 1000} s`,
    remedy: 'nothing: the packages are observed again; check the API server if this persists',
    retry: 'backoff',
  })
}
