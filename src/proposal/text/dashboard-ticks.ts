/**
 * The boxes of the dashboard issue, and which of them are ticked. Anyone with write access may tick, and the person is unknown: a box only
 * requests a proposal, which a person has to merge, and it belongs to the drift that it was drawn for.
 */
import { linesOutsideCode } from './ticks.ts'

/** `open`: propose what is held back. `raise`: propose again what was closed. */
type DashboardVerb = 'open' | 'raise'

export interface DashboardTicks {
  /** `driftId` of each. */
  readonly open: ReadonlySet<string>
  readonly raise: ReadonlySet<string>
}

export const NO_TICKS: DashboardTicks = { open: new Set(), raise: new Set() }

/** Boxes that are read of one body. */
const BOX_LIMIT = 500
const BOX = /^ {0,3}[-*+] \[[xX]\] <!-- backporch:(open|raise)=([0-9a-f]{16}) -->/

/** The drift of a box: the first 16 hex digits of `sha256:…`; empty where the text is no fingerprint. */
export function driftId(fingerprint: string): string {
  return /^sha256:([0-9a-f]{16})/.exec(fingerprint)?.[1] ?? ''
}

/** A line without a box where `id` is empty. @param text encoded Markdown */
export function dashboardBox(verb: DashboardVerb, id: string, text: string): string {
  return id === '' ? `- ${text}` : `- [ ] <!-- backporch:${verb}=${id} --> ${text}`
}

/** The ticked boxes of Backporch; the rest of the body is ignored. */
export function readDashboardTicks(body: string): DashboardTicks {
  const ticks = { open: new Set<string>(), raise: new Set<string>() }
  let count = 0
  for (const line of linesOutsideCode(body)) {
    const [, verb, id = ''] = BOX.exec(line) ?? []
    if ((verb !== 'open' && verb !== 'raise') || count >= BOX_LIMIT) continue
    ticks[verb].add(id)
    count += 1
  }
  return ticks
}
