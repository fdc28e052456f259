import type { Failure } from '@backporch/kyaml/failure'
import type { Clock } from '@backporch/system/clock'
import {
  createAdmissionFailure,
  type RequestDescription,
} from '../connection/kubernetes-failure.ts'

/** Milliseconds. Each call may cost the webhook's full timeout. */
const OUTAGE = 10_000

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

  findFailure(requested: RequestDescription): Failure | undefined {
    const outage = this.known.get(requested.path)
    // The clock may have been set back.
    if (outage === undefined || Math.abs(this.clock.now().getTime() - outage.at) > OUTAGE)
      return undefined
    return createAdmissionFailure(requested, outage)
  }
}
