import type { JsonObject } from '@backporch/kyaml/json'
import type { Finding } from '@backporch/kyaml/note'
import { SYNCERS } from '../../syncers/registry.ts'
import type { SyncedRepository } from '../../syncers/syncer.ts'

export interface SyncerObjects {
  /** By kind; the kinds are `CHECKED_KINDS`. */
  readonly byKind: ReadonlyMap<string, readonly JsonObject[]>
  /** False if there may be more resources, as in a recording. */
  readonly complete: boolean
}

export const CHECKED_KINDS = SYNCERS.flatMap(({ check }) => (check === 'none' ? [] : check.kinds))

export function judgeSyncers(
  { byKind, complete }: SyncerObjects,
  repository: SyncedRepository,
): readonly Finding[] {
  const { folder } = repository
  const findings = SYNCERS.flatMap(({ check }) =>
    check === 'none' ? [] : check.judge((kind) => byKind.get(kind) ?? [], repository),
  )
  if (findings.length > 0) return findings
  if (!complete) {
    const message = `cannot tell whether a syncer reads ${folder}/: the recording does not say that it has every syncer's resources`
    return [{ check: 'syncer-path', state: 'skipped', message }]
  }
  return [
    {
      check: 'syncer-path',
      state: 'passed',
      message: `no syncer of the cluster reads ${folder}/ of this repository`,
    },
  ]
}
