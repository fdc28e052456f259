/**
 * Finds proposals that people closed: on the forge, by deleting the branch, or while a turn
 * withdrew them.
 */
import type { Note } from '@backporch/kyaml/note'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import { NO_WRITES } from '../observation/action.ts'
import {
  createClosedEpisode,
  createClosedWrites,
  isWithdrawn,
} from '../observation/closed-episode.ts'
import {
  createDeclinedStatus,
  type Found,
  formatProposedRef,
  PROPOSAL_CLOSED,
} from '../observation/found-outcome.ts'
import type { EndedHead, Observation, OpenBranch } from '../observation/observation.ts'

/**
 * The content at the time of the close becomes silent. A branch with foreign commits stays foreign.
 * @returns undefined if the unit joined the branch after that
 */
export function findClosedByHand(
  observed: Observation,
  { ref, commit, record: now, foreign, workspace }: OpenBranch,
): Found | undefined {
  const head = observed.git.heads.get(ref)
  const record = head === undefined ? now : head.record
  if (record === undefined) return undefined
  const { spec } = record
  const by = observed.proposals.get(ref)
  const status = createDeclinedStatus(observed, spec.changes, by, PROPOSAL_CLOSED)
  const closed = createClosedEpisode(record, status)
  return {
    ref,
    episode: closed,
    note: `${workspace} was closed: exactly this drift is silent until ${status.silentUntil}`,
    writes: {
      ...NO_WRITES,
      updates: foreign ? [] : [{ ref, from: commit, to: null }],
      ...createClosedWrites(closed, observed.unit.packageName),
    },
  }
}

/** A close at the moment of the withdrawal is a decision, although nothing was left to decide. */
export function listClosedWhileWithdrawn(
  observed: Observation,
  published: ReadonlySet<string>,
): Found[] {
  return observed.git.ledger.closed.flatMap((withdrawn) => {
    const { spec, status, metadata } = withdrawn
    const ref = formatProposedRef(observed, `drift-${metadata.name}`)
    const by = observed.proposals.get(ref)
    if (
      !isWithdrawn(status) ||
      published.has(`drift-${metadata.name}`) ||
      by?.state !== 'closed' ||
      by.decidedBy === undefined ||
      observed.git.refs.has(ref)
    )
      return []
    const closed = {
      ...withdrawn,
      status: createDeclinedStatus(observed, spec.changes, by, PROPOSAL_CLOSED),
    }
    const writes = { ...NO_WRITES, ...createClosedWrites(closed, observed.unit.packageName) }
    const note = `drift-${spec.episode} was closed as it was withdrawn: exactly this drift is silent until ${closed.status.silentUntil}`
    return [{ ref, episode: closed, note, writes }]
  })
}

/** Otherwise any account that may push a branch could silence what was never proposed. */
export function isUnproposed({
  record,
  recordPushed,
}: Pick<EndedHead, 'record' | 'recordPushed'>): boolean {
  return record !== undefined && recordPushed !== true
}

export function createUnproposedNote({ workspace }: Pick<OpenBranch, 'workspace'>): Note {
  const text = `${workspace} was closed with a record that backporch did not push: its drift is proposed again`
  return { cause: 'decision', subject: '', text }
}

interface DeletedProposal extends Pick<EndedHead, 'record' | 'recordPushed'> {
  readonly ref: string
  readonly workspace: string
  readonly report: DriftReport
}

/** Closed by a person who deleted the branch. */
export function openAndDeleted(observed: Observation): DeletedProposal | undefined {
  const { git } = observed
  const { report } = git.ledger
  if (
    report === undefined ||
    report.status.lifecycle !== 'Proposed' ||
    report.spec.fingerprint === ''
  )
    return undefined
  const { episode, plan } = report.status
  const workspace = `drift-${episode}`
  // A branch without a Backporch record still exists: a person works on it.
  const ref =
    report.status.branch === undefined
      ? formatProposedRef(observed, workspace)
      : `refs/heads/${report.status.branch}`
  const proposal = observed.proposals.get(ref)
  const known =
    git.refs.has(ref) ||
    git.published.some((published) => published.workspace === workspace) ||
    git.branches.some((branch) => branch.workspace === workspace) ||
    // Merged between the reads of git and of the forge: the next turn reads its record.
    proposal?.state === 'merged' ||
    // Its branch was moved, and nobody decided.
    (proposal?.state === 'open' && proposal.movedTo !== undefined) ||
    git.branches.some(({ record }) => record.metadata.name === workspace) ||
    git.merged.some(({ metadata }) => metadata.name === workspace) ||
    git.unreadable.some((record) => record.episode === episode) ||
    git.ledger.closed.some(({ metadata }) => metadata.name === episode)
  if (known || plan === '') return undefined
  const head = git.heads.get(ref)
  // The forge reports the commit, and it did not contain this episode.
  if (head !== undefined && head.record?.spec.episode !== episode) return undefined
  return {
    ref,
    workspace,
    report,
    record: head?.record,
    ...(head === undefined ? {} : { recordPushed: head.recordPushed === true }),
  }
}

export function findDeletedByHand(
  observed: Observation,
  { ref, workspace, report, record }: DeletedProposal,
): Found {
  const { episode, plan, since } = report.status
  const spec = record?.spec ?? {
    ...report.spec,
    episode,
    began: since,
    plan: plan === '' ? 'Restore' : plan,
  }
  const by = observed.proposals.get(ref)
  const isRenamed = by?.movedTo !== undefined
  const status = createDeclinedStatus(
    observed,
    spec.changes,
    by,
    isRenamed ? PROPOSAL_CLOSED : 'the branch was deleted',
  )
  const closed = createClosedEpisode({ spec }, status)
  return {
    ref,
    episode: closed,
    note: `${workspace} was closed${isRenamed ? '' : ' by deleting its branch'}: exactly this drift is silent until ${status.silentUntil}`,
    writes: { ...NO_WRITES, ...createClosedWrites(closed, observed.unit.packageName) },
  }
}
