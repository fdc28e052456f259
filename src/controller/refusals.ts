import { formatLoggableName } from '@backporch/kyaml/redaction'
import type { Clock } from '@backporch/system/clock'
import type { Log } from '../ports/log.ts'

/** Milliseconds between two events of one kind. */
const REFUSED_EVERY = 600_000

export class Refusals {
  private readonly log: Log
  private readonly clock: Clock
  private readonly refusedAt = new Map<string, number>()

  constructor(log: Log, clock: Clock) {
    this.log = log
    this.clock = clock
  }

  readonly refuseWebhook = (why: string): void => this.recordRefusal('a webhook', why)

  readonly audit = (why: string): void => this.recordRefusal('audit events', why)

  readonly refuseConnection = (why: string): void => this.recordRefusal('a connection', why)

  private recordRefusal(what: 'a webhook' | 'audit events' | 'a connection', why: string): void {
    const now = this.clock.now().getTime()
    const before = this.refusedAt.get(`${what} ${why}`)
    if (before !== undefined && now - before < REFUSED_EVERY) return
    this.refusedAt.set(`${what} ${why}`, now)
    this.log.process({ event: 'refused', what, why: formatLoggableName(why) })
  }
}
