/** A merge by hand or a deleted branch closes the episode like `approve` and `reject`. */
import type { KnownProposal } from '@backporch/forge/hosted-forge'
import type { FileChange } from '@backporch/git-store/package-repository'
import { formatRevisionTag, parseRevisionTag, shortenBranch } from '@backporch/git-store/ref-name'
import type { ObjectId } from '@backporch/kyaml/files'
import type { Note } from '@backporch/kyaml/note'
import { shouldSetTags } from '../../policy/effective-policy.ts'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import { type GitWrites, joinWrites, NO_WRITES, type PlannedUpdate } from '../observation/action.ts'
import { findOtherBase } from '../observation/base-branch.ts'
import {
  createClosedEpisode,
  createClosedFile,
  createClosedWrites,
  isMergeKnown,
} from '../observation/closed-episode.ts'
import {
  type Found,
  type FoundOutcome,
  formatProposedRef,
  isClosedByPerson,
} from '../observation/found-outcome.ts'
import type {
  MergeCommit,
  Observation,
  OpenBranch,
  UnreadableRecord,
} from '../observation/observation.ts'
import {
  createUnproposedNote,
  findClosedByHand,
  findDeletedByHand,
  isUnproposed,
  listClosedWhileWithdrawn,
  openAndDeleted,
} from './closed-by-hand.ts'
import {
  createProposedNotes,
  findPublishedByPorch,
  findRejectedByPorch,
  listLandingRecords,
  listPublishedWorkspaces,
} from './porch-decisions.ts'
import { amendEpisodes, createUndoneNotes } from './undone-decisions.ts'
import { replaceWithNewer } from './verified-episodes.ts'

export interface FoundDecisions {
  readonly branches: readonly OpenBranch[]
  readonly closed: readonly ClosedEpisode[]
  readonly writes: GitWrites
  readonly notes: readonly Note[]
  readonly outcomes: readonly FoundOutcome[]
  /** Closed without a decision, because Backporch did not push their records. */
  readonly unproposed: readonly OpenBranch[]
  /** The base branch lacks these records, because Porch publishes only the package. */
  readonly landing: readonly FileChange[]
  readonly revision: number
}

const NOTHING_FOUND = {
  branches: [],
  writes: NO_WRITES,
  notes: [],
  outcomes: [],
  unproposed: [],
  landing: [],
}

export function findDecisions(observed: Observation): FoundDecisions {
  const { git, proposals } = observed
  // The branch may belong to the other base branch.
  if (findOtherBase(observed) !== undefined)
    return { ...NOTHING_FOUND, closed: git.ledger.closed, revision: git.revision }
  const known = new Map(git.ledger.closed.map((episode) => [episode.metadata.name, episode.status]))
  // A merged draft decided nothing.
  const merged = git.merged.filter(({ spec }) => spec.lifecycle === 'Proposed')
  const landed = merged.map((record) => ({
    record,
    branch: git.branches.find((other) => hasRecord(other, record)),
  }))
  const porch = [...findPublishedByPorch(observed), ...findRejectedByPorch(observed)]
  const published = new Set([
    ...listPublishedWorkspaces(observed).map(({ workspace }) => workspace),
    ...porch.map(({ episode }) => `drift-${episode.metadata.name}`),
  ])
  const isOver = (branch: OpenBranch): boolean =>
    published.has(branch.workspace) || landed.some(({ record }) => hasRecord(branch, record))
  const ended = git.branches.filter((branch) => isEnded(observed, branch) && !isOver(branch))
  const closed = ended.filter(({ ref }) => proposals.get(ref)?.state === 'closed')
  const unproposed = closed.filter((branch) => isUnproposed(git.heads.get(branch.ref) ?? branch))
  const openDeleted = openAndDeleted(observed)
  // Foreign commits keep the branch, so every turn finds its decision again.
  const fresh = landed.filter(({ record }) => !isMergeKnown(git.ledger.closed, record))
  const found = [
    ...porch,
    ...readMergedEpisodes(observed, fresh),
    ...closed
      .filter((branch) => !unproposed.includes(branch))
      .map((branch) => findClosedByHand(observed, branch))
      .filter((one) => one !== undefined)
      .filter(
        ({ ref, episode }) =>
          (known.get(episode.metadata.name)?.at ?? '') <
          (proposals.get(ref)?.decidedAt ?? observed.cluster.observedAt),
      ),
    ...(openDeleted === undefined || isUnproposed(openDeleted)
      ? []
      : [findDeletedByHand(observed, openDeleted)]),
    ...listClosedWhileWithdrawn(observed, published),
  ]
  const reopened = listReopenedProposals(observed)
  const amended = amendEpisodes(observed)
  const again = new Set(found.map(({ episode }) => episode.metadata.name))
  const over = [...git.branches.filter(isOver), ...ended]
  const decided = new Set(over)
  // A turn that did not know of the decision moved the branch: its new changes are proposed again.
  // A branch that equals the decision may have been restored, to be reopened.
  const isMoved = (branch: OpenBranch): boolean =>
    git.heads.has(branch.ref) ||
    landed.some(({ record }) => hasRecord(branch, record) && !isEqualText(branch.record, record))
  const taken = new Set(found.flatMap(({ writes }) => writes.updates.map(({ ref }) => ref)))
  const left = over.filter(
    (branch) =>
      !branch.foreign && !taken.has(branch.ref) && (isMoved(branch) || unproposed.includes(branch)),
  )
  return {
    branches: git.branches.filter((branch) => !decided.has(branch)),
    closed: [
      ...replaceWithNewer(git.ledger.closed, amended).filter(
        ({ metadata }) => !again.has(metadata.name),
      ),
      ...found.map(({ episode }) => episode),
    ],
    writes: joinWrites([
      ...found.map(({ writes }) => writes),
      {
        ...NO_WRITES,
        updates: [...left.map(createWithdrawal), ...reopened.map(createRestoration)],
        ledger: amended.map(createClosedFile),
      },
    ]),
    notes: [
      ...found.map(({ note }): Note => ({ cause: 'decision', subject: '', text: note })),
      ...createProposedNotes(observed),
      ...createUndoneNotes(observed),
      ...ended.flatMap((branch) => createUnseenNotes(observed, branch)),
      ...[
        ...unproposed,
        ...(openDeleted === undefined || !isUnproposed(openDeleted) ? [] : [openDeleted]),
      ].map(createUnproposedNote),
      ...git.unreadable.map(createUnreadableNote),
      ...reopened.map(createReopenedNote),
    ],
    outcomes: found.map(({ episode, ref }) => ({ ref, episode })),
    unproposed,
    landing: listLandingRecords(observed),
    revision: found.reduce(
      (latest, { episode }) =>
        Math.max(latest, Number(/^v(\d+)$/.exec(episode.status.revision ?? '')?.[1] ?? 0)),
      git.revision,
    ),
  }
}

function hasRecord({ record }: OpenBranch, { metadata }: DriftRecord): boolean {
  return record.metadata.name === metadata.name
}

/**
 * Closed or merged on the forge, with the branch moved since. A merged one whose record is not on
 * the base branch was reverted, and is open while its branch equals what was merged.
 */
function isEnded({ proposals, git }: Observation, { ref, state }: OpenBranch): boolean {
  const decided = state === 'proposed' ? proposals.get(ref)?.state : undefined
  return decided === 'closed' || (decided === 'merged' && git.heads.has(ref))
}

/** Reopened after a close that removed the branch. */
function listReopenedProposals(observed: Observation): readonly KnownProposal[] {
  const { git, proposals } = observed
  return git.ledger.closed.flatMap(({ metadata, status }) => {
    const proposal = isClosedByPerson(status)
      ? proposals.get(formatProposedRef(observed, `drift-${metadata.name}`))
      : undefined
    return proposal?.state === 'open' &&
      proposal.movedTo === undefined &&
      !git.refs.has(proposal.ref)
      ? [proposal]
      : []
  })
}

function createRestoration({ ref, commit }: KnownProposal): PlannedUpdate {
  return { ref, from: null, to: commit }
}

function createReopenedNote({ ref }: KnownProposal): Note {
  const text = `${shortenBranch(ref)} was opened again: its branch is restored, and the next turn continues with it`
  return { cause: 'decision', subject: '', text }
}

function createWithdrawal({ ref, commit }: OpenBranch): PlannedUpdate {
  return { ref, from: commit, to: null }
}

function createUnseenNotes(
  { git, proposals }: Observation,
  { ref, workspace }: OpenBranch,
): Note[] {
  const head = git.heads.get(ref)
  if (head === undefined) return []
  const how = proposals.get(ref)?.state === 'closed' ? 'closed' : 'merged'
  const text =
    head.unread === undefined
      ? `${workspace} was ${how} at ${head.commit.slice(0, 7)}: what came onto its branch after that is proposed again`
      : `${workspace} was ${how} at ${head.commit.slice(0, 7)}, which cannot be read, so it silences nothing: ${head.unread}`
  return [{ cause: 'decision', subject: '', text }]
}

function createUnreadableNote({ where, why }: UnreadableRecord): Note {
  return {
    cause: 'record-not-read',
    subject: '',
    text: `the record of ${where} cannot be read and is left alone: ${why}`,
  }
}

/**
 * The record on the base branch decides, whatever the merge style. The tag is on the commit with
 * the `kpt:` line.
 */
function readMergedEpisodes(
  observed: Observation,
  landed: readonly { readonly record: DriftRecord; readonly branch: OpenBranch | undefined }[],
): Found[] {
  let revision = observed.git.revision
  return landed.map(({ record, branch }) => {
    const { unit, cluster, git } = observed
    const mergeCommit = git.mergeCommits.get(record.metadata.name)
    const ref = branch?.ref ?? formatProposedRef(observed, record.metadata.name)
    const proposal = observed.proposals.get(ref)
    // Units of a joint proposal find each other's tag.
    const joint = (branch?.others.length ?? 0) > 0
    const tags =
      mergeCommit === undefined
        ? undefined
        : findRevision(observed, [mergeCommit.published, mergeCommit.commit])
    const known =
      tags ?? git.published.find(({ workspace }) => workspace === record.metadata.name)?.revision
    // A branch with foreign commits is never deleted: commits pushed after the merge would be lost.
    // Records of a branch that moved since were not published.
    const own =
      branch !== undefined && isEqualText(branch.record, record) && !git.heads.has(ref)
        ? branch.commit
        : undefined
    const tagged =
      branch?.foreign === true ||
      known !== undefined ||
      !shouldSetTags(observed.policy, unit.source)
        ? undefined
        : mergeCommit?.named === true || (joint && mergeCommit !== undefined)
          ? mergeCommit.published
          : (own ?? mergeCommit?.published)
    if (tagged !== undefined) revision += 1
    const published = known ?? (tagged === undefined ? undefined : revision)
    const at =
      proposal?.state === 'merged' && proposal.decidedAt !== undefined
        ? proposal.decidedAt
        : (mergeCommit?.at ?? cluster.observedAt)
    const closed = createClosedEpisode(record, {
      outcome: 'Merged',
      decidedBy:
        (proposal?.state === 'merged' ? proposal.decidedBy : undefined) ?? mergeCommit?.by ?? '',
      // Clocks may differ: no decision is later than its observation.
      at: at < cluster.observedAt ? at : cluster.observedAt,
      seenAt: cluster.observedAt,
      ...(mergeCommit === undefined ? {} : { commit: mergeCommit.commit }),
      ...(mergeCommit?.altered === undefined ? {} : { altered: mergeCommit.altered }),
      ...(joint ? { branch: shortenBranch(ref) } : {}),
      ...(published === undefined ? {} : { revision: `v${published}` }),
    })
    const tag = formatRevisionTag({ packagePath: unit.packageName, revision })
    const updates: PlannedUpdate[] = [
      ...(tagged === undefined ? [] : [{ ref: `refs/tags/${tag}`, from: null, to: tagged }]),
      ...(branch === undefined || branch.foreign
        ? []
        : [{ ref: branch.ref, from: branch.commit, to: null }]),
    ]
    const how =
      branch?.foreign === true
        ? 'its branch has commits of other authors and is left alone'
        : published === undefined
          ? describeMergeCommit(mergeCommit)
          : `its revision is v${published}`
    return {
      ref,
      episode: closed,
      note: `${record.metadata.name} was merged${closed.status.decidedBy === '' ? '' : ` by ${closed.status.decidedBy.replace(/ <.*/, '')}`}: ${how}${describeAltered(closed.status.altered)}`,
      writes: {
        ...NO_WRITES,
        updates,
        ...createClosedWrites(closed, unit.packageName),
      },
    }
  })
}

function describeMergeCommit(mergeCommit: MergeCommit | undefined): string {
  return mergeCommit === undefined
    ? 'its commit is not known yet'
    : `its commit is ${mergeCommit.commit.slice(0, 7)}`
}

function isEqualText({ spec: left }: DriftRecord, { spec: right }: DriftRecord): boolean {
  return (
    left.lifecycle === right.lifecycle &&
    left.fingerprint === right.fingerprint &&
    left.plan === right.plan
  )
}

function describeAltered(altered: string | undefined): string {
  return altered === undefined
    ? ''
    : `; it is not what was proposed, and backporch does not write it to a cluster: ${altered}`
}

/** An earlier turn set the tag and ended before it wrote the ledger. */
function findRevision(
  { git, unit }: Observation,
  commits: readonly ObjectId[],
): number | undefined {
  for (const [ref, commit] of git.refs) {
    const tag =
      ref.startsWith('refs/tags/') && commits.includes(commit) ? parseRevisionTag(ref) : undefined
    if (tag?.packagePath === unit.packageName) return tag.revision
  }
  return undefined
}

export function getMergedRef(observed: Observation, { spec, status }: ClosedEpisode): string {
  return status.branch === undefined
    ? formatProposedRef(observed, `drift-${spec.episode}`)
    : `refs/heads/${status.branch}`
}
