/**
 * An observation that is older than the ledger's records no state, and no decision is based on it
 * (docs/adr/0056-what-the-ledger-says-about-time.md).
 */
import { Failure } from '@backporch/kyaml/failure'
import type { Note } from '@backporch/kyaml/note'
import { omitUndefined } from '@backporch/kyaml/text'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import { formatLedgerUnitFolder } from '../../record/record-paths.ts'
import { formatDocument } from '../../record/write-document.ts'
import type { LedgerFile } from '../observation/action.ts'
import type { FoundOutcome } from '../observation/found-outcome.ts'
import { findKnownObservation } from '../observation/ledger-files.ts'
import type { Observation } from '../observation/observation.ts'
import { getKnownUntil, isAhead, isOlder } from '../observation/seen-at.ts'

/** RFC 3339 UTC; undefined without a later observation. */
export function findNewerObservation(observed: Observation): string | undefined {
  const { git, cluster } = observed
  if (git.ledger.report === undefined) return undefined
  const known = getKnownUntil(git.ledger.report, findKnownObservation(observed)?.status)
  const { observedAt: at, recorded } = cluster
  return isOlder({ at, recorded, now: observed.now ?? at }, known) ? known : undefined
}

export function convertToNow({ now, cluster, ...observed }: Observation): Observation {
  return {
    ...observed,
    ...omitUndefined({ now }),
    cluster: { ...cluster, observedAt: now ?? cluster.observedAt },
  }
}

export function removeEnded(
  observed: Observation,
  decided: readonly FoundOutcome[],
): readonly LedgerFile[] {
  const { cluster, slug } = observed.unit
  const closed = reportWithoutEnded(observed, decided)
  return closed === undefined
    ? []
    : [
        {
          path: `${formatLedgerUnitFolder(cluster, slug)}/report.yaml`,
          text: formatDocument(closed),
        },
      ]
}

/** Undefined if no decision ended the open record. */
export function reportWithoutEnded(
  { git }: Observation,
  decided: readonly FoundOutcome[],
): DriftReport | undefined {
  const { report } = git.ledger
  if (
    report === undefined ||
    !decided.some(({ episode }) => episode.metadata.name === report.status.episode)
  )
    return undefined
  const { branch: _branch, held: _held, snoozedUntil: _snoozed, ...status } = report.status
  return { ...report, status: { ...status, episode: '', lifecycle: '', plan: '' } }
}

export function createClockNotes(observed: Observation): Note[] {
  const { unit, git, cluster, now = cluster.observedAt } = observed
  if (git.ledger.report === undefined) return []
  const known = getKnownUntil(git.ledger.report, findKnownObservation(observed)?.status)
  if (!isAhead(known, now) || known === cluster.observedAt) return []
  const text = `the ledger has an observation of ${known}, which is in the future: a clock is wrong, and it is replaced by the one of ${cluster.observedAt}`
  return [{ cause: 'observed-in-future', subject: `${unit.packageName} in ${unit.cluster}`, text }]
}

export function createTooOldNote({ unit, cluster }: Observation, known: string): Note {
  const text = `was observed at ${known}; an earlier observation is not recorded: ${cluster.observedAt}`
  return { cause: 'newer-is-known', subject: `${unit.packageName} in ${unit.cluster}`, text }
}

export function createTooOldFailure({ unit, cluster }: Observation, known: string): Failure {
  return new Failure({
    code: 'BP2016',
    what: `nothing is decided about ${unit.packageName} in ${unit.cluster}`,
    where: `drift-ledger:${formatLedgerUnitFolder(unit.cluster, unit.slug)}/report.yaml`,
    why: `this observation is of ${cluster.observedAt}, and the ledger has one of ${known}`,
    remedy: 'observe the cluster itself, or record it again',
    retry: 'on-change',
  })
}
