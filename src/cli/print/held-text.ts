/** Why drift is not proposed yet, for people. */

import type { DriftReport } from '../../record/schema.ts'
import { oneLine } from '../../text/one-line.ts'

type Held = NonNullable<DriftReport['status']['held']>

/** `held back (hourly-limit) until 2026-08-21T15:02:00Z: the policy allows 2 new proposals in an hour` */
export function heldSentence({ reason, until, why }: Held): string {
  return `held back (${reason})${until === undefined ? '' : ` until ${oneLine(until, 40)}`}: ${oneLine(why, 300)}`
}

/** For a cell of a table: `hourly-limit`, `window until 2026-08-21T15:02:00Z`; `-` where nothing is held. */
export function heldCell(held: Held | undefined): string {
  if (held === undefined) return '-'
  return held.until === undefined ? held.reason : `${held.reason} until ${held.until}`
}
