/**
 * Remembers each object's last observed content, and when git got what is not applied yet. A report
 * without open questions implies that every object was observed with git's content, so only open
 * objects are written, in commits that are written anyway (docs/adr/0042-rollbacks.md).
 */
import { getResourceKey, type ResourceId } from '@backporch/kyaml/resource'
import type { ObservedContent } from '../../drift/behind/arrivals.ts'
import { NO_MEMORY, type ObservedLive, type SyncMemory } from '../../drift/behind/sync-evidence.ts'
import { getChangeRef } from '../../record/build-report.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import type { Rollout } from '../../record/documents/rollout.ts'
import { findKnownObservation } from '../observation/ledger-files.ts'
import type { Observation } from '../observation/observation.ts'
import { getLastSeen } from '../observation/seen-at.ts'
import { isWaiting } from '../observation/waiting-state.ts'

type Known = Pick<Observation, 'unit'> & {
  readonly git: Pick<Observation['git'], 'base' | 'baseBranch' | 'treeHash' | 'ledger'>
}

/** A syncer that is further behind is detected by its commits' times. */
const MOST_CONTENTS = 10

export function createRolloutMemory(observed: Known, present: string): SyncMemory {
  const { report } = observed.git.ledger
  const { spec, status } = report ?? {}
  // An observation of another branch does not apply; a first report without an observation has no
  // information.
  if (
    report === undefined ||
    spec === undefined ||
    spec.observed.at === '' ||
    (spec.unit.branch ?? observed.git.baseBranch) !== observed.git.baseBranch
  )
    return NO_MEMORY
  const at = getLastSeen(report, findKnownObservation(observed)?.status)
  const retained = status?.rollout ?? {}
  const listed = listReportedObjects(report)
  const current: ObservedLive | undefined = isPartlyKnown(report)
    ? undefined
    : { commit: spec.unit.commit, tree: spec.unit.tree, at }
  const stored = new Map(
    (retained.seen ?? []).flatMap((entry) =>
      (entry.refs ?? [undefined]).map((ref) => [ref && getResourceKey(ref), entry] as const),
    ),
  )
  const before = retained.contents ?? []
  const isNew = observed.git.treeHash !== spec.unit.tree
  const arrived: ObservedContent = {
    commit: observed.git.base,
    tree: observed.git.treeHash,
    after: at,
    firstSeen: present,
  }
  return {
    observedWith: (key) => (listed.has(key) ? (stored.get(key) ?? stored.get(undefined)) : current),
    contents: (isNew ? [arrived, ...before] : before).slice(0, MOST_CONTENTS),
  }
}

export function deriveRollout(observed: Observation): Pick<DriftReport['status'], 'rollout'> {
  const open = listOpenIn(observed)
  if (open.length === 0) return {}
  const { observedWith, contents } = createRolloutMemory(
    observed,
    observed.now ?? observed.cluster.observedAt,
  )
  const groups = Map.groupBy(
    open.flatMap((id) => {
      const known = observedWith(getResourceKey(id))
      return known === undefined ? [] : [{ id, known }]
    }),
    ({ known: { commit, tree, at } }) => `${commit} ${tree} ${at}`,
  )
  const entries = [...groups.values()].flatMap((group) => {
    const [first] = group
    if (first === undefined) return []
    const { commit, tree, at } = first.known
    return [
      {
        commit,
        tree,
        at,
        ...(group.length === open.length ? {} : { refs: group.map(({ id }) => getChangeRef(id)) }),
      },
    ]
  })
  if (entries.length === 0 && contents.length === 0) return {}
  const retained = contents.map(({ commit, tree, after, firstSeen }) => ({
    commit,
    tree,
    after,
    firstSeen,
  }))
  const rollout: Rollout = {
    ...(retained.length === 0 ? {} : { contents: retained }),
    ...(entries.length === 0 ? {} : { seen: entries }),
  }
  return { rollout }
}

function listOpenIn({ verdicts, incomplete }: Observation): ResourceId[] {
  const unproven = new Set(
    incomplete.flatMap(({ ref }) => (ref === undefined ? [] : [getResourceKey(ref)])),
  )
  return verdicts
    .filter(
      ({ id, items, setAside }) =>
        items.length > 0 ||
        setAside.some(({ state }) => isWaiting(state)) ||
        unproven.has(getResourceKey(id)),
    )
    .map(({ id }) => id)
}

function listReportedObjects({ spec, status }: DriftReport): ReadonlySet<string> {
  const waiting = (status.setAside ?? []).filter(({ state }) => isWaiting(state))
  const refs = [...spec.changes, ...waiting, ...(status.incomplete ?? [])].flatMap(({ ref }) =>
    ref === undefined ? [] : [ref],
  )
  return new Set(refs.map(getResourceKey))
}

function isPartlyKnown({ status: { state, lastKnown, incomplete = [] } }: DriftReport): boolean {
  const isUnobserved =
    state === 'Unknown' &&
    incomplete.some((entry) => entry.ref === undefined && entry.state === 'unreadable')
  return isUnobserved && lastKnown?.state !== 'InSync' && !isWaiting(lastKnown?.state ?? 'Unknown')
}
