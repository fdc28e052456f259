/** An observation that is older than what the ledger knows decides and records nothing (docs/adr/0026-what-status-knows.md). */
import { Failure } from '../../failure.ts'
import type { Note } from '../../note.ts'
import { ledgerUnitFolder } from '../../record/record-paths.ts'
import { knownObservation } from '../ledger/ledger-files.ts'
import { isOlder, knownUntil } from '../ledger/seen-at.ts'
import type { Observation } from './observation.ts'

/** RFC 3339 UTC: the later observation of the unit; undefined where there is none. */
export function newerThan(observed: Observation): string | undefined {
  const { git, cluster } = observed
  if (git.ledger.report === undefined) return undefined
  const known = knownUntil(git.ledger.report, knownObservation(observed)?.status)
  return isOlder(cluster.observedAt, known, observed.now ?? cluster.observedAt) ? known : undefined
}

export function tooOldNote({ unit, cluster }: Observation, known: string): Note {
  const text = `was looked at on ${known}; an earlier observation is not recorded: ${cluster.observedAt}`
  return { cause: 'newer-is-known', subject: `${unit.packageName} in ${unit.cluster}`, text }
}

export function tooOld({ unit, cluster }: Observation, known: string): Failure {
  return new Failure({
    code: 'BP2016',
    what: `nothing is decided about ${unit.packageName} in ${unit.cluster}`,
    where: `drift-ledger:${ledgerUnitFolder(unit.cluster, unit.slug)}/report.yaml`,
    why: `this observation is of ${cluster.observedAt}, and the ledger has one of ${known}`,
    remedy: 'observe the cluster itself, or record it again',
    retry: 'on-change',
  })
}
