/**
 * Decisions that were made without backporch, seen from git: a proposal that somebody merged by hand, and one whose branch
 * somebody deleted. Both close the episode as `approve` and `reject` would have.
 */
import { formatRevisionTag, formatWorkspaceBranch } from '../package/ref-name.ts'
import { closedPath } from '../record/record-paths.ts'
import type { ClosedEpisode } from '../record/schema.ts'
import { API_VERSION, LOCAL_CONFIG } from '../record/schema.ts'
import { formatDocument } from '../record/write-document.ts'
import { type GitWrites, joinWrites, NO_WRITES } from './action.ts'
import { closedEpisodeOf, silenceEnd } from './closed-episode.ts'
import type { Observation, OpenBranch, UnreadableRecord } from './observation.ts'

export interface FoundDecisions {
  /** Branches that are still open. */
  readonly branches: readonly OpenBranch[]
  /** Every closed episode, those that were found now included. */
  readonly closed: readonly ClosedEpisode[]
  readonly writes: GitWrites
  readonly notes: readonly string[]
}

export function findDecisions(seen: Observation): FoundDecisions {
  const { git } = seen
  // A draft that somebody merged decided nothing: its record says that it is one.
  const landed = git.branches.filter(({ record }) =>
    git.merged.some(
      ({ metadata, spec }) =>
        spec.lifecycle === 'Proposed' &&
        record.spec.lifecycle === 'Proposed' &&
        metadata.name === record.metadata.name &&
        spec.fingerprint === record.spec.fingerprint &&
        spec.plan === record.spec.plan,
    ),
  )
  // Somebody's commits on the branch stay, so that its decision is found again in every turn.
  const known = new Set(git.ledger.closed.map(({ metadata }) => metadata.name))
  const fresh = landed.filter(({ record }) => !known.has(record.spec.episode))
  const found = [...fresh.map((branch, index) => mergedByHand(seen, branch, git.revision + 1 + index)), ...deletedByHand(seen)]
  return {
    branches: git.branches.filter((branch) => !landed.includes(branch)),
    closed: [...git.ledger.closed, ...found.map(({ episode }) => episode)],
    writes: joinWrites(found.map(({ writes }) => writes)),
    notes: [...found.map(({ note }) => note), ...git.unreadable.map(unreadableNote)],
  }
}

export function unreadableNote({ where, why }: UnreadableRecord): string {
  return `the record of ${where} cannot be read and is left alone: ${why}`
}

interface Found {
  readonly episode: ClosedEpisode
  readonly writes: GitWrites
  readonly note: string
}

/** The record is on the base branch: the content decides, whatever merge style it came by. The tag is on the commit with the `kpt:` line. */
function mergedByHand(seen: Observation, branch: OpenBranch, revision: number): Found {
  const { unit, cluster } = seen
  const { began, episode, plan } = branch.record.spec
  const tag = formatRevisionTag({ packagePath: unit.packageName, revision })
  const merged = { outcome: 'Merged', decidedBy: '', at: cluster.observedAt } as const
  // A branch with somebody's commits is theirs, merged or not: what they pushed after the merge would be lost with it.
  const closed = closedEpisodeOf(branch.record, branch.foreign ? merged : { ...merged, revision: `v${revision}` })
  return {
    episode: closed,
    note: `${branch.workspace} was merged by hand: ${branch.foreign ? 'its branch has commits that are not ours and is left alone' : `tagged ${tag}`}`,
    writes: {
      ...NO_WRITES,
      updates: branch.foreign
        ? []
        : [
            { ref: `refs/tags/${tag}`, from: null, to: branch.commit },
            { ref: branch.ref, from: branch.commit, to: null },
          ],
      ledger: [{ path: closedPath(began, episode), text: formatDocument(closed) }],
      ledgerLines: [`${unit.packageName}: merged ${episode} (${plan})`],
    },
  }
}

/** The ledger says that a proposal is open, and its branch is gone without a merge: somebody closed it. */
function deletedByHand(seen: Observation): Found[] {
  const { git, unit, cluster, policy } = seen
  const { report } = git.ledger
  if (report === undefined || report.status.lifecycle !== 'Proposed' || report.spec.fingerprint === '') return []
  const { episode, plan, since } = report.status
  const workspace = `drift-${episode}`
  // A branch without our record is still a branch: somebody works on it.
  const branch = formatWorkspaceBranch({ state: 'proposed', packagePath: unit.packageName, workspace })
  const known =
    git.refs.has(`refs/heads/${branch}`) ||
    git.branches.some((other) => other.workspace === workspace) ||
    git.merged.some(({ metadata }) => metadata.name === workspace) ||
    git.unreadable.some((record) => record.episode === episode) ||
    git.ledger.closed.some(({ metadata }) => metadata.name === episode)
  if (known || plan === '') return []
  const closed: ClosedEpisode = {
    apiVersion: API_VERSION,
    kind: 'ClosedEpisode',
    metadata: { name: episode, annotations: LOCAL_CONFIG },
    spec: { ...report.spec, episode, began: since, plan },
    status: {
      outcome: 'Declined',
      decidedBy: '',
      at: cluster.observedAt,
      silentUntil: silenceEnd(report.spec.changes, cluster.observedAt, policy.closeSilence),
      reason: 'the branch was deleted',
    },
  }
  return [
    {
      episode: closed,
      note: `${workspace} was closed by deleting its branch: exactly this drift is silent until ${closed.status.silentUntil}`,
      writes: {
        ...NO_WRITES,
        ledger: [{ path: closedPath(since, episode), text: formatDocument(closed) }],
        ledgerLines: [`${unit.packageName}: declined ${episode} (${plan})`],
      },
    },
  ]
}
