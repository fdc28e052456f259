/**
 * Reads decisions of `porchctl rpkg approve`, `propose` and `reject` from git
 * (docs/facts/porch-decisions.md). An approval is a merge: it publishes the package without the
 * record, which is outside the package.
 */
import type { FileChange } from '@backporch/git-store/package-repository'
import type { Note } from '@backporch/kyaml/note'
import { omitUndefined } from '@backporch/kyaml/text'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import { formatTravellingRecordPath, recordPath } from '../../record/record-paths.ts'
import { formatInertDocument } from '../../record/write-document.ts'
import { NO_WRITES, type PlannedUpdate } from '../observation/action.ts'
import { createClosedEpisode, createClosedWrites } from '../observation/closed-episode.ts'
import {
  createDeclinedStatus,
  type Found,
  formatProposedRef,
} from '../observation/found-outcome.ts'
import type { Observation, OpenBranch, PublishedWorkspace } from '../observation/observation.ts'

/** If the record is on the base branch, the proposal was merged there, and its tag adds nothing. */
export function listPublishedWorkspaces({ git }: Observation): readonly PublishedWorkspace[] {
  const landed = new Set(
    git.merged.flatMap(({ metadata, spec }) =>
      spec.lifecycle === 'Proposed' ? [metadata.name] : [],
    ),
  )
  return git.published.filter(({ record }) => !landed.has(record.metadata.name))
}

/** A leftover branch keeps a Porch with its database cache from reading the repository. */
export function findPublishedByPorch(observed: Observation): Found[] {
  const { git, cluster, unit } = observed
  const entered = new Set(
    git.ledger.closed.map(({ status, spec }) => `${spec.episode} ${status.revision}`),
  )
  return listPublishedWorkspaces(observed).flatMap((published): Found[] => {
    const { record, revision, workspace, by, commit, left, altered } = published
    const leftovers = git.branches.filter(
      (branch) => branch.workspace === workspace && (!branch.foreign || branch.commit === left),
    )
    const updates = leftovers.map(createDeletion)
    if (entered.has(`${record.spec.episode} v${revision}`)) return []
    const isDecision = record.spec.lifecycle === 'Proposed'
    const closed = createClosedEpisode(record, {
      outcome: isDecision ? 'Merged' : 'Published',
      decidedBy: by ?? '',
      // Clocks differ: no decision is later than its observation.
      at: published.at < cluster.observedAt ? published.at : cluster.observedAt,
      seenAt: cluster.observedAt,
      commit,
      revision: `v${revision}`,
      publishedBy: 'porch',
      ...omitUndefined({ altered: isDecision ? altered : undefined }),
    })
    const who = by === undefined ? '' : ` by ${by.replace(/ <.*/, '')}`
    const note = isDecision
      ? `${workspace} was approved through Porch as v${revision}${who}${altered === undefined ? '' : `; it is not what was proposed, and backporch does not write it to a cluster: ${altered}`}`
      : `${workspace} was published through Porch as v${revision}${who}, and it is a draft: nothing is decided`
    const ref = formatProposedRef(observed, workspace)
    return [
      {
        ref,
        episode: closed,
        note,
        writes: { ...NO_WRITES, updates, ...createClosedWrites(closed, unit.packageName) },
      },
    ]
  })
}

export function listLandingRecords(observed: Observation): readonly FileChange[] {
  const { unit, git } = observed
  const records = listPublishedWorkspaces(observed).flatMap(({ record }): FileChange[] => {
    const content = new TextEncoder().encode(formatInertDocument(record))
    return record.spec.lifecycle === 'Proposed'
      ? [{ path: getRecordPath(unit, record), content }]
      : []
  })
  return git.travellingRecord
    ? [...records, { path: formatTravellingRecordPath(unit.packagePath), content: null }]
    : records
}

function getRecordPath({ cluster, slug }: Observation['unit'], { spec }: DriftRecord): string {
  return recordPath(cluster, slug, spec.began, spec.episode)
}

export const REJECTED = 'the proposal was rejected through Porch'

export function findRejectedByPorch(observed: Observation): Found[] {
  const { git, proposals, unit } = observed
  return git.branches.filter(isRejected).map((branch) => {
    const { workspace, record } = branch
    const ref = formatProposedRef(observed, workspace)
    const status = createDeclinedStatus(observed, record.spec.changes, proposals.get(ref), REJECTED)
    const closed = createClosedEpisode(record, status)
    const note = `${workspace} was rejected through Porch: exactly this drift is silent until ${status.silentUntil}`
    return {
      ref,
      episode: closed,
      note,
      writes: {
        ...NO_WRITES,
        updates: [createDeletion(branch)],
        ...createClosedWrites(closed, unit.packageName),
      },
    }
  })
}

function isRejected({ state, moved, foreign }: OpenBranch): boolean {
  return state === 'drafts' && moved !== undefined && !foreign
}

export function createProposedNotes({ git }: Observation): Note[] {
  return git.branches.flatMap(({ state, moved, workspace }): Note[] => {
    if (state !== 'proposed' || moved === undefined) return []
    const by = moved.by === undefined ? '' : ` by ${moved.by.replace(/ <.*/, '')}`
    return [
      { cause: 'decision', subject: '', text: `${workspace} was proposed through Porch${by}` },
    ]
  })
}

function createDeletion({ ref, commit }: OpenBranch): PlannedUpdate {
  return { ref, from: commit, to: null }
}
