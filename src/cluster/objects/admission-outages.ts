/** Admission webhooks that just did not answer, so that a turn does not wait for the same one at every object. */
import type { Failure } from '@backporch/kyaml/failure'
import type { Clock } from '@backporch/system/clock'
import { admissionFailure, type RequestDescription } from '../connection/kubernetes-failure.ts'

/** Milliseconds for which a silent webhook is not called again: each call may cost as much as its own time limit. */
const OUTAGE = 10_000

/** A webhook that is down fails every object of one kind in one namespace alike. */
export class AdmissionOutages {
  private readonly clock: Clock
  private readonly known = new Map<
    string,
    { readonly why: string; readonly remedy: string; readonly at: number }
  >()

  constructor(clock: Clock) {
    this.clock = clock
  }

  add(requested: RequestDescription, { why, remedy }: Failure): void {
    this.known.set(requested.path, { why, remedy, at: this.clock.now().getTime() })
  }

  /** The failure of a recent request. */
  failureOf(requested: RequestDescription): Failure | undefined {
    const outage = this.known.get(requested.path)
    // Also where the clock was set back meanwhile.
    if (outage === undefined || Math.abs(this.clock.now().getTime() - outage.at) > OUTAGE)
      return undefined
    return admissionFailure(requested, outage)
  }
}
