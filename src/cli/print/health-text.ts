/** Health in the columns of lists: kstatus' words, beside the state and never instead of it. */

import type { UnitHealth } from '../../record/schema.ts'
import type { StatusWord } from '../../status/kstatus-fields.ts'
import { oneLine } from '../../text/one-line.ts'
import type { Terminal } from './terminal.ts'

const HEALTH_GLYPH = {
  Current: 'ok',
  InProgress: 'changed',
  Failed: 'error',
  Terminating: 'changed',
  NotFound: 'removed',
  Unknown: 'unknown',
} as const

/** `-` where an earlier version wrote the report. */
export function healthCell(status: StatusWord | undefined, terminal: Terminal): string {
  return status === undefined ? '-' : `${terminal.glyph(HEALTH_GLYPH[status])} ${status}`
}

/** The worst object with its reason: `Deployment/web: Progress deadline exceeded, and 2 more`. */
export function unhealthyCell(health: UnitHealth | undefined): string {
  const [worst, ...others] = health?.objects ?? []
  if (worst === undefined) return '-'
  const { ref, status, message } = worst
  const more = others.length === 0 ? '' : `, and ${others.length} more`
  return `${oneLine(`${ref.kind}/${ref.name}: ${message ?? status}`, 120)}${more}`
}
