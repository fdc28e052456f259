import { omitUndefined } from '@backporch/kyaml/text'
import { RISKS } from '../../drift/compare/drift.ts'
import type { Change } from '../../record/documents/change.ts'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'
import { createDocumentHead } from '../../record/documents/document.ts'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import { formatClosedPath } from '../../record/record-paths.ts'
import { formatDocument } from '../../record/write-document.ts'
import type { LedgerFile, LedgerWrites } from './action.ts'
import { addSeconds } from './drift-age.ts'

export function createClosedEpisode(
  { spec }: Pick<ClosedEpisode, 'spec'>,
  status: ClosedEpisode['status'],
): ClosedEpisode {
  const { unit, fingerprint, observed, changes, episode, began, proposedAt, plan, message } = spec
  return {
    ...createDocumentHead('ClosedEpisode', episode),
    spec: {
      unit,
      fingerprint,
      observed,
      changes,
      episode,
      began,
      ...omitUndefined({ proposedAt }),
      plan,
      ...omitUndefined({ message }),
    },
    status,
  }
}

export function createClosedFile(episode: ClosedEpisode): LedgerFile {
  return {
    path: formatClosedPath(episode.spec.began, episode.spec.episode),
    text: formatDocument(episode),
  }
}

export function createClosedWrites(closed: ClosedEpisode, packageName: string): LedgerWrites {
  const { episode, plan } = closed.spec
  return {
    ledger: [createClosedFile(closed)],
    ledgerLines: [`${packageName}: ${closed.status.outcome.toLowerCase()} ${episode} (${plan})`],
  }
}

export function isWithdrawn({ outcome }: ClosedEpisode['status']): boolean {
  return outcome === 'Healed' || outcome === 'ResolvedByGit'
}

/** A later merge under the same name is another decision. */
export function isMergeKnown(closed: readonly ClosedEpisode[], { spec }: DriftRecord): boolean {
  return closed.some(
    (known) =>
      known.status.outcome === 'Merged' &&
      known.spec.episode === spec.episode &&
      known.spec.fingerprint === spec.fingerprint &&
      known.spec.plan === spec.plan,
  )
}

/** Seconds. Critical drift is never silent for longer than a day (design §8). */
const CRITICAL_SILENCE = 86_400

/** RFC 3339 UTC. `silence` in seconds. */
export function silenceEnd(changes: readonly Change[], at: string, silence: number): string {
  const seconds =
    findWorstRisk(changes) === 'critical' ? Math.min(CRITICAL_SILENCE, silence) : silence
  return addSeconds(at, seconds)
}

export function computeUnixSeconds(at: string): number {
  return Math.floor(Date.parse(at) / 1000)
}

export function findWorstRisk(
  changes: readonly { readonly risk: (typeof RISKS)[number] }[],
): (typeof RISKS)[number] | undefined {
  return RISKS.find((risk) => changes.some((change) => change.risk === risk))
}
