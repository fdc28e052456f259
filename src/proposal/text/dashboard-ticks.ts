/**
 * Anyone with write access may tick, and the person is unknown. So a box only requests a proposal,
 * which a person has to merge, and belongs to the drift that it was drawn for.
 */
import { listLinesOutsideCode } from './ticks.ts'

/** `open`: what is held. `raise`: what was closed. */
type DashboardVerb = 'open' | 'raise'

export interface DashboardTicks {
  readonly open: ReadonlySet<string>
  readonly raise: ReadonlySet<string>
}

export const NO_TICKS: DashboardTicks = { open: new Set(), raise: new Set() }

const BOX_LIMIT = 500
const BOX = /^ {0,3}[-*+] \[[xX]\] <!-- backporch:(open|raise)=([0-9a-f]{16}) -->/

/** 16 hex digits of `sha256:…`; undefined if the text is not a fingerprint. */
export function getDriftId(fingerprint: string): string | undefined {
  return /^sha256:([0-9a-f]{16})/.exec(fingerprint)?.[1]
}

/** Without a box if there is no `id`. @param text encoded Markdown */
export function formatDashboardBox(
  verb: DashboardVerb,
  id: string | undefined,
  text: string,
): string {
  return id === undefined ? `- ${text}` : `- [ ] <!-- backporch:${verb}=${id} --> ${text}`
}

export function readDashboardTicks(body: string): DashboardTicks {
  const ticks = { open: new Set<string>(), raise: new Set<string>() }
  let count = 0
  for (const line of listLinesOutsideCode(body)) {
    const [, verb, id = ''] = BOX.exec(line) ?? []
    if ((verb !== 'open' && verb !== 'raise') || count >= BOX_LIMIT) continue
    ticks[verb].add(id)
    count += 1
  }
  return ticks
}
