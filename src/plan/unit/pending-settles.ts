import { type ObjectId, readObjectId } from '@backporch/kyaml/files'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import type { Observation } from '../observation/observation.ts'
import {
  listAllChanges,
  listApplyingFingerprints,
  listUnverifiedMerges,
} from './commands/pick-changes.ts'
import { listRestoredObjects } from './plan-settle.ts'
import type { UnitResult } from './unit-result.ts'

export interface PendingSettle {
  readonly cluster: string
  readonly packagePath: string
  readonly record: DriftRecord
  readonly commit: ObjectId
}

interface SettledTurn {
  readonly units: readonly UnitResult[]
  readonly view: { readonly refs: ReadonlyMap<string, ObjectId> }
}

/** Also works after a process ended between merge and write, or write and hand-over. */
export function listPendingSettles({ units, view }: SettledTurn): PendingSettle[] {
  return units.flatMap((unit) => {
    if (unit.state === 'failed') return []
    const { git, notHandedOver } = unit.observation
    const applying = listStillApplying(unit.observation)
    const waiting = new Set(
      listUnverifiedMerges(git.ledger.closed).filter(({ spec }) =>
        spec.changes.some(({ fingerprint }) => applying.has(fingerprint)),
      ),
    )
    const held = new Set(notHandedOver)
    return git.ledger.closed.flatMap((episode) => {
      const { spec, status } = episode
      // No review covered a write by backporch; the syncer may apply the merge.
      if (status.outcome !== 'Merged' || status.altered !== undefined) return []
      const record = git.merged.find(({ metadata }) => metadata.name === `drift-${spec.episode}`)
      const commit = findSettledCommit(view.refs, unit.unit.packageName, {
        commit: git.decidedCommits.get(episode.metadata.name),
        ...status,
      })
      if (record === undefined || commit === undefined || record.spec.settle !== 'backporch')
        return []
      const restored = listRestoredObjects(record)
      const isHeld = [...restored].some((key) => held.has(key))
      if (restored.size === 0 || !(waiting.has(episode) || isHeld)) return []
      for (const key of restored) held.delete(key)
      return [{ cluster: unit.unit.cluster, packagePath: unit.unit.packagePath, record, commit }]
    })
  })
}

/** The tagged commit, else the ledger's. The record on the base branch authorises a write. */
function findSettledCommit(
  refs: ReadonlyMap<string, ObjectId>,
  packageName: string,
  { commit, revision }: Pick<ClosedEpisode['status'], 'commit' | 'revision'>,
): ObjectId | undefined {
  const tag = revision === undefined ? undefined : refs.get(`refs/tags/${packageName}/${revision}`)
  return tag ?? (revision === undefined ? readObjectId(commit) : undefined)
}

export function listStillApplying({ verdicts, key, git }: Observation): ReadonlySet<string> {
  const applying = listApplyingFingerprints(git.ledger.closed)
  return new Set(
    listAllChanges(verdicts, key).flatMap(({ fingerprint }) =>
      applying.has(fingerprint) ? [fingerprint] : [],
    ),
  )
}
