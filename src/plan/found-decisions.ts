/**
 * Decisions that were made without backporch, seen from git: a proposal that somebody merged by hand, and one whose branch
 * somebody deleted. Both close the episode as `approve` and `reject` would have.
 */
import type { Note } from '../note.ts'
import type { ObjectId } from '../package/object-id.ts'
import { formatRevisionTag, formatWorkspaceBranch, parseRevisionTag } from '../package/ref-name.ts'
import type { KnownProposal } from '../ports/hosted-forge.ts'
import { closedPath } from '../record/record-paths.ts'
import type { Change, ClosedEpisode, DriftRecord } from '../record/schema.ts'
import { API_VERSION, LOCAL_CONFIG } from '../record/schema.ts'
import { formatDocument } from '../record/write-document.ts'
import { type GitWrites, joinWrites, NO_WRITES, type PlannedUpdate } from './action.ts'
import { otherBase } from './base-branch.ts'
import { closedEpisodeOf, silenceEnd } from './closed-episode.ts'
import type { Observation, OpenBranch, UnreadableRecord } from './observation.ts'

export interface FoundDecisions {
  /** Branches that are still open. */
  readonly branches: readonly OpenBranch[]
  /** Every closed episode, those that were found now included. */
  readonly closed: readonly ClosedEpisode[]
  readonly writes: GitWrites
  readonly notes: readonly Note[]
  readonly outcomes: readonly FoundOutcome[]
  /** Latest published revision number, those included that are published now. */
  readonly revision: number
}

export function findDecisions(seen: Observation): FoundDecisions {
  const { git, proposals } = seen
  // What is open or gone on the unit's own branch cannot be told from another one.
  if (otherBase(seen) !== undefined)
    return { branches: [], closed: git.ledger.closed, writes: NO_WRITES, notes: [], outcomes: [], revision: git.revision }
  const known = new Map(git.ledger.closed.map((episode) => [episode.metadata.name, episode.status]))
  // A draft that somebody merged decided nothing: its record says that it is one.
  const merged = git.merged.filter(({ spec }) => spec.lifecycle === 'Proposed')
  const landed = merged.flatMap((record) => {
    const branch = git.branches.find((other) => other.record.metadata.name === record.metadata.name)
    // A branch that says something else was rebuilt since: that is still open.
    return branch !== undefined && !saysTheSame(branch.record, record) ? [] : [{ record, branch }]
  })
  const closedOnForge = git.branches.filter(
    ({ ref, state, record: { metadata } }) =>
      state === 'proposed' &&
      proposals.get(ref)?.state === 'closed' &&
      !landed.some(({ record }) => record.metadata.name === metadata.name),
  )
  // Somebody's commits on the branch stay, so that its decision is found again in every turn.
  const fresh = landed.filter(({ record }) => known.get(record.spec.episode)?.outcome !== 'Merged')
  const found = [
    ...mergedByHand(seen, fresh),
    ...closedOnForge
      // One that was closed before may have been reopened, and closed once more.
      .filter(({ record, ref }) => (known.get(record.spec.episode)?.at ?? '') < (proposals.get(ref)?.decidedAt || seen.cluster.observedAt))
      .map((branch) => closedByHand(seen, branch)),
    ...deletedByHand(seen),
  ]
  const again = new Set(found.map(({ episode }) => episode.metadata.name))
  const decided = new Set<OpenBranch>([...landed.flatMap(({ branch }) => (branch === undefined ? [] : [branch])), ...closedOnForge])
  return {
    branches: git.branches.filter((branch) => !decided.has(branch)),
    closed: [...git.ledger.closed.filter(({ metadata }) => !again.has(metadata.name)), ...found.map(({ episode }) => episode)],
    writes: joinWrites(found.map(({ writes }) => writes)),
    notes: [...found.map(({ note }): Note => ({ cause: 'decision', subject: '', text: note })), ...git.unreadable.map(unreadableNote)],
    outcomes: found.map(({ episode, ref }) => ({ ref, episode })),
    revision: found.reduce(
      (latest, { episode }) => Math.max(latest, Number(/^v(\d+)$/.exec(episode.status.revision ?? '')?.[1] ?? 0)),
      git.revision,
    ),
  }
}

function saysTheSame({ spec: left }: DriftRecord, { spec: right }: DriftRecord): boolean {
  return left.lifecycle === right.lifecycle && left.fingerprint === right.fingerprint && left.plan === right.plan
}

export function unreadableNote({ where, why }: UnreadableRecord): Note {
  return { cause: 'record-not-read', subject: '', text: `the record of ${where} cannot be read and is left alone: ${why}` }
}

/** What somebody decided and this turn found: told on the proposal. */
export interface FoundOutcome {
  /** Full ref name of the proposal's branch, which may be gone. */
  readonly ref: string
  readonly episode: ClosedEpisode
}

interface Found extends FoundOutcome {
  readonly writes: GitWrites
  readonly note: string
}

/**
 * The record is on the base branch: the content decides, whatever merge style it came by, and whether or not its branch is still
 * there. The tag is on the commit with the `kpt:` line.
 */
function mergedByHand(
  seen: Observation,
  landed: readonly { readonly record: DriftRecord; readonly branch: OpenBranch | undefined }[],
): Found[] {
  let revision = seen.git.revision
  return landed.map(({ record, branch }) => {
    const { unit, cluster, git } = seen
    const { began, episode, plan } = record.spec
    const landing = git.landings.get(record.metadata.name)
    const ref = branch?.ref ?? proposedRef(seen, record.metadata.name)
    const proposal = seen.proposals.get(ref)
    // Units of a joint proposal find each other's tag, whether the branch is there any more or not.
    const joint = (branch?.others.length ?? 0) > 0
    const known = landing === undefined ? undefined : revisionAt(seen, [landing.published, landing.commit])
    // A branch with somebody's commits is theirs, merged or not: what they pushed after the merge would be lost with it.
    const tagged =
      branch?.foreign === true || known !== undefined
        ? undefined
        : landing?.named === true || (joint && landing !== undefined)
          ? landing.published
          : (branch?.commit ?? landing?.published)
    if (tagged !== undefined) revision += 1
    const published = known ?? (tagged === undefined ? undefined : revision)
    const at = proposal?.state === 'merged' && proposal.decidedAt !== '' ? proposal.decidedAt : (landing?.at ?? cluster.observedAt)
    const closed = closedEpisodeOf(record, {
      outcome: 'Merged',
      decidedBy: (proposal?.state === 'merged' ? proposal.decidedBy : '') || (landing?.by ?? ''),
      // Clocks of people are not ours: nothing was decided later than it was seen.
      at: at < cluster.observedAt ? at : cluster.observedAt,
      seenAt: cluster.observedAt,
      ...(landing === undefined ? {} : { commit: landing.commit }),
      ...(joint ? { branch: ref.replace(/^refs\/heads\//, '') } : {}),
      ...(published === undefined ? {} : { revision: `v${published}` }),
    })
    const tag = formatRevisionTag({ packagePath: unit.packageName, revision })
    const updates: PlannedUpdate[] = [
      ...(tagged === undefined ? [] : [{ ref: `refs/tags/${tag}`, from: null, to: tagged }]),
      ...(branch === undefined || branch.foreign ? [] : [{ ref: branch.ref, from: branch.commit, to: null }]),
    ]
    const how =
      branch?.foreign === true ? 'its branch has commits that are not ours and is left alone' : `published as v${published ?? '?'}`
    return {
      ref,
      episode: closed,
      note: `${record.metadata.name} was merged${closed.status.decidedBy === '' ? '' : ` by ${closed.status.decidedBy.replace(/ <.*/, '')}`}: ${how}`,
      writes: {
        ...NO_WRITES,
        updates,
        ledger: [{ path: closedPath(began, episode), text: formatDocument(closed) }],
        ledgerLines: [`${unit.packageName}: merged ${episode} (${plan})`],
      },
    }
  })
}

/** Number of the revision whose tag is on one of the commits: an earlier turn set it and ended before it wrote the ledger. */
function revisionAt({ git, unit }: Observation, commits: readonly ObjectId[]): number | undefined {
  for (const [ref, commit] of git.refs) {
    const tag = ref.startsWith('refs/tags/') && commits.includes(commit) ? parseRevisionTag(ref) : undefined
    if (tag?.packagePath === unit.packageName) return tag.revision
  }
  return undefined
}

/** Full name of the branch that a merged episode was on. */
export function mergedRef(seen: Observation, { spec, status }: ClosedEpisode): string {
  return status.branch === undefined ? proposedRef(seen, `drift-${spec.episode}`) : `refs/heads/${status.branch}`
}

function proposedRef({ unit }: Observation, workspace: string): string {
  return `refs/heads/${formatWorkspaceBranch({ state: 'proposed', packagePath: unit.packageName, workspace })}`
}

/** Closed on the forge, and not merged. The branch of somebody who pushed to it stays theirs. */
function closedByHand(seen: Observation, { ref, commit, record, foreign, workspace }: OpenBranch): Found {
  const { spec } = record
  const by = seen.proposals.get(ref)
  const status = declined(seen, spec.changes, by, 'the proposal was closed')
  const closed = closedEpisodeOf(record, status)
  return {
    ref,
    episode: closed,
    note: `${workspace} was closed: exactly this drift is silent until ${status.silentUntil}`,
    writes: {
      ...NO_WRITES,
      updates: foreign ? [] : [{ ref, from: commit, to: null }],
      ledger: [{ path: closedPath(spec.began, spec.episode), text: formatDocument(closed) }],
      ledgerLines: [`${seen.unit.packageName}: declined ${spec.episode} (${spec.plan})`],
    },
  }
}

/** Silence begins when it was decided, not when that was seen. */
function declined(
  { cluster, policy }: Observation,
  changes: readonly Change[],
  by: KnownProposal | undefined,
  reason: string,
): ClosedEpisode['status'] & { readonly silentUntil: string } {
  const closed = by?.state === 'closed' ? by : undefined
  const at =
    closed !== undefined && closed.decidedAt !== '' && closed.decidedAt < cluster.observedAt ? closed.decidedAt : cluster.observedAt
  const silentUntil = silenceEnd(changes, at, policy.closeSilence)
  return { outcome: 'Declined', decidedBy: closed?.decidedBy ?? '', at, silentUntil, reason }
}

/** The ledger says that a proposal is open, and its branch is gone without a merge: somebody closed it. */
function deletedByHand(seen: Observation): Found[] {
  const { git, unit } = seen
  const { report } = git.ledger
  if (report === undefined || report.status.lifecycle !== 'Proposed' || report.spec.fingerprint === '') return []
  const { episode, plan, since } = report.status
  const workspace = `drift-${episode}`
  // A branch without our record is still a branch: somebody works on it.
  const ref = report.status.branch === undefined ? proposedRef(seen, workspace) : `refs/heads/${report.status.branch}`
  const known =
    git.refs.has(ref) ||
    // Merged between the look at git and the look at the forge: the next turn sees its record.
    seen.proposals.get(ref)?.state === 'merged' ||
    git.branches.some(({ record }) => record.metadata.name === workspace) ||
    git.merged.some(({ metadata }) => metadata.name === workspace) ||
    git.unreadable.some((record) => record.episode === episode) ||
    git.ledger.closed.some(({ metadata }) => metadata.name === episode)
  if (known || plan === '') return []
  const closed: ClosedEpisode = {
    apiVersion: API_VERSION,
    kind: 'ClosedEpisode',
    metadata: { name: episode, annotations: LOCAL_CONFIG },
    spec: { ...report.spec, episode, began: since, plan },
    status: declined(seen, report.spec.changes, seen.proposals.get(ref), 'the branch was deleted'),
  }
  return [
    {
      ref,
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
