/** The time that a turn has for a cluster. */
import { Failure, failuresOf } from '@backporch/kyaml/failure'
import { Deadline } from '@backporch/system/deadline'
import type { NotObserved } from '../../plan/turn/turn-observation.ts'
import { presentTime } from './observe.ts'
import type { TurnRequest } from './turn-request.ts'

/** Milliseconds. */
const LEAST_PATIENCE = 15_000

/** A cluster that always took long may take long; one that stopped to answer holds up the others only a little. */
export class ClusterPatience {
  private readonly cluster: string
  private readonly request: TurnRequest
  /** Milliseconds; undefined where the turn has no limit. */
  private readonly deadline: number | undefined
  /** Milliseconds. The time in which the turn waits for other clusters does not count. */
  private spent = 0
  /** Milliseconds of it in which this process ran. */
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
            Math.max(LEAST_PATIENCE, Math.ceil(3 * (request.between?.longest(cluster) ?? 0))),
          )
  }

  /** Duration of the work so far, in milliseconds. */
  get duration(): number {
    return this.spent
  }

  /** @param work with a signal that ends it when nothing of the time is left @throws only what `signal` was aborted with */
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
        ? ([tooSlow(this.cluster, this.deadline ?? 0)] as const)
        : failuresOf(thrown)
      return { cluster: this.cluster, failures, at: presentTime(this.request.clock) }
    } finally {
      this.spent += performance.now() - began
      this.waited += limit?.stop() ?? 0
    }
  }
}

function tooSlow(cluster: string, deadline: number): Failure {
  return new Failure({
    code: 'BP3006',
    what: `cannot observe ${cluster}`,
    where: `cluster ${cluster}`,
    why: `its answers took longer than ${deadline / 1000} s`,
    remedy: 'nothing: the packages are observed again; look at the API server if it stays so',
    retry: 'backoff',
  })
}
