/** One turn for one unit: from what was observed to what is written. Pure, synchronous, decides everything. */

import { fingerprintOf } from '../drift/fingerprint.ts'
import { Failure } from '../failure.ts'
import { formatWorkspaceBranch } from '../package/ref-name.ts'
import { buildProposal, type ProposalFiles } from '../proposal/build-proposal.ts'
import { buildReport, showChange } from '../record/build-report.ts'
import { formatProposalMessage } from '../record/commit-message.ts'
import { closedPath, recordPath } from '../record/record-paths.ts'
import { API_VERSION, type DriftRecord, type DriftReport, LOCAL_CONFIG } from '../record/schema.ts'
import { formatDocument, formatInertDocument } from '../record/write-document.ts'
import { type GitWrites, isNothing, joinWrites, NO_WRITES, type PlannedUpdate } from './action.ts'
import { assertUndecided, nothingToDecide } from './already-decided.ts'
import { assertOwnBase, otherBase } from './base-branch.ts'
import { closedEpisodeOf, secondsSince1970 } from './closed-episode.ts'
import { newEpisodeId } from './episode-ids.ts'
import { type FoundDecisions, type FoundOutcome, findDecisions } from './found-decisions.ts'
import { identityOf, type LedgerFiles, ledgerFilesOf } from './ledger-files.ts'
import type { Observation, OpenBranch, Wish } from './observation.ts'
import {
  allChanges,
  applyingFingerprints,
  type PlannedChange,
  planOf,
  planResolutions,
  possibleResolution,
  silencedUntil,
} from './pick-changes.ts'
import { sameTree } from './unit-git.ts'
import { verifiedEpisodes } from './verified-episodes.ts'

/** What happened to the unit's branch in this turn. */
export type BranchOutcome = 'none' | 'created' | 'updated' | 'unchanged' | 'healed' | 'foreign' | 'frozen' | 'silenced' | 'applying'

export interface UnitPlan {
  readonly report: DriftReport
  readonly outcome: BranchOutcome
  /** Short name of the branch that holds the record after this turn; empty where there is none. */
  readonly branch: string
  readonly record: DriftRecord | undefined
  readonly writes: GitWrites
  /** Episodes that ended without `approve` and `reject`, by the branch that they were on. */
  readonly outcomes: readonly FoundOutcome[]
  /** Sentences for people about this turn. */
  readonly notes: readonly string[]
}

/**
 * @param begun ids of the episodes that the units before this one begin in the same turn
 * @throws Failure BP2001, BP2002, BP2003, BP2007 or BP2010 when a wish cannot be fulfilled, BP2008 when nothing is open for it,
 * BP2012 when it is about a unit of another base branch
 */
export function planReconcile(observation: Observation, wish?: Wish, begun: ReadonlySet<string> = new Set()): UnitPlan {
  return new Turn(observation, wish, begun).plan()
}

/** What the branch of an open proposal changes against its base, as this turn would write it: the record says what is decided. */
export function filesOfProposal(observation: Observation, proposal: OpenBranch): ProposalFiles['changes'] {
  return new Turn(observation, undefined, new Set()).filesOf(proposal)
}

class Turn {
  private readonly seen: Observation
  private readonly wish: Wish | undefined
  private readonly begun: ReadonlySet<string>
  private readonly open: OpenBranch | undefined
  private readonly at: string
  private readonly found: FoundDecisions
  private readonly changes: readonly Omit<PlannedChange, 'resolution'>[]

  constructor(observation: Observation, wish: Wish | undefined, begun: ReadonlySet<string>) {
    this.seen = observation
    this.wish = wish
    this.begun = begun
    this.at = observation.cluster.observedAt
    this.found = findDecisions(observation)
    this.changes = allChanges(observation.verdicts, observation.key)
    const { branches } = this.found
    this.open = branches.find(({ state }) => state === 'proposed') ?? branches.find(({ state }) => state === 'drafts')
  }

  plan(): UnitPlan {
    assertUndecided(this.seen, this.wish, this.changes, this.found.closed)
    const active = this.active()
    if (otherBase(this.seen) !== undefined) return this.onlyLook(active)
    if (active.length === 0) return this.withoutDrift(this.changes.length)
    const fingerprint = this.fingerprint(active)
    if (this.open?.foreign)
      return this.keepOpen(active, fingerprint, 'foreign', [`${short(this.open.ref)} has a commit that is not ours: it is left alone`])
    if (this.wish === undefined && this.open !== undefined && this.open.record.spec.keyId !== this.seen.key.id)
      return this.keepOpen(active, fingerprint, 'frozen', [
        `${short(this.open.ref)} was recorded with another installation key, which cannot be compared: it is left as it is (set BACKPORCH_KEY)`,
      ])
    // It may be the proposal about this very drift, or the decision about it: a second one would contradict it.
    if (this.open === undefined && this.seen.git.unreadable.length > 0) return this.keepOpen(active, fingerprint, 'frozen', [])
    if (this.isFrozen(active))
      return this.keepOpen(active, fingerprint, 'frozen', ['not everything could be observed: the open record is left as it is'])
    if (this.wish === undefined && this.seen.policy.mode === 'Off')
      return this.done(active, fingerprint, 'Off', 'none', undefined, NO_WRITES, [])
    const until = silencedUntil(this.found.closed, fingerprint, this.at)
    if (this.wish === undefined && this.open === undefined && until !== undefined) {
      return this.done(active, fingerprint, 'Silenced', 'silenced', undefined, NO_WRITES, [`rejected before: silent until ${until}`])
    }
    return this.record(active, fingerprint)
  }

  /** For `diff` with another branch: what differs from it, and nothing of what the unit's own branch has open or decided. */
  private onlyLook(active: readonly PlannedChange[]): UnitPlan {
    if (this.wish !== undefined) assertOwnBase(this.seen)
    const clean = this.seen.incomplete.length === 0 ? 'InSync' : 'Unknown'
    const fingerprint = active.length === 0 ? '' : this.fingerprint(active)
    const report = this.report(active, fingerprint, active.length === 0 ? clean : 'Drifted', undefined)
    return { report, outcome: 'none', branch: '', record: undefined, writes: NO_WRITES, outcomes: [], notes: this.found.notes }
  }

  filesOf({ record, state }: OpenBranch): ProposalFiles['changes'] {
    return this.proposalFiles(this.active(), record, state).changes
  }

  /** What is open for a decision: a change that a merged Restore authorised to go back is decided. */
  private active(): PlannedChange[] {
    const applying = applyingFingerprints(this.found.closed)
    const open = this.changes.filter(({ fingerprint }) => !applying.has(fingerprint))
    const { policy, pipeline, key } = this.seen
    const byPolicy = (change: (typeof open)[number]) => possibleResolution(change, policy.defaultPlan, pipeline)
    return planResolutions(open, this.open?.record, this.wish, byPolicy, key)
  }

  /** Nothing is open: live agrees with git, or will once a merged decision is applied, or nobody can say. */
  private withoutDrift(applying: number): UnitPlan {
    if (this.wish !== undefined) throw nothingToDecide(this.seen, applying)
    const complete = this.seen.incomplete.length === 0
    const state = applying > 0 ? 'Applying' : complete ? 'InSync' : 'Unknown'
    if (!complete) return this.done([], '', state, this.open === undefined ? 'none' : 'frozen', this.open, NO_WRITES, [])
    if (this.open?.foreign)
      return this.done([], '', state, 'foreign', this.open, NO_WRITES, [`${short(this.open.ref)} is somebody else's now: it is left alone`])
    if (this.open === undefined) return this.done([], '', state, applying > 0 ? 'applying' : 'none', undefined, NO_WRITES, [])
    const resolvedByGit = !sameTree(this.seen.git.tree, this.seen.git.baseTrees.get(this.open.base))
    const outcome = resolvedByGit ? 'ResolvedByGit' : 'Healed'
    const closed = closedEpisodeOf(this.open.record, { outcome, decidedBy: '', at: this.at })
    const writes: GitWrites = {
      ...NO_WRITES,
      updates: this.found.branches.filter(({ foreign }) => !foreign).map(({ ref, commit }) => ({ ref, from: commit, to: null })),
      ledger: [{ path: closedPath(this.open.record.spec.began, this.open.record.spec.episode), text: formatDocument(closed) }],
    }
    const why = resolvedByGit ? 'git now says what the cluster runs' : 'the cluster went back by itself'
    const plan = this.done([], '', state, 'healed', undefined, writes, [`${short(this.open.ref)} is withdrawn: ${why}`])
    return { ...plan, outcomes: [...plan.outcomes, { ref: this.open.ref, episode: closed }] }
  }

  /** Drift that can be told apart from an outage: with unreadable objects, an open record is neither shrunk nor closed. */
  private isFrozen(active: readonly PlannedChange[]): boolean {
    if (this.seen.incomplete.length === 0 || this.open === undefined) return false
    const now = new Set(active.map(({ fingerprint }) => fingerprint))
    return this.open.record.spec.changes.some(({ fingerprint }) => !now.has(fingerprint))
  }

  private record(active: readonly PlannedChange[], fingerprint: string): UnitPlan {
    const { seen, open } = this
    const state = this.wish !== undefined || seen.policy.mode === 'Propose' || open?.state === 'proposed' ? 'proposed' : 'drafts'
    const episode = open?.record.spec.episode ?? newEpisodeId(fingerprint, seen, this.found.closed, this.begun)
    const began = open?.record.spec.began ?? this.at
    const record = this.buildRecord(active, fingerprint, episode, began, state === 'drafts' ? 'Draft' : 'Proposed')
    const branch = formatWorkspaceBranch({ state, packagePath: seen.unit.packageName, workspace: record.metadata.name })
    const ref = `refs/heads/${branch}`
    const spare = this.found.branches.filter((other) => other.ref !== ref && !other.foreign)
    if (open !== undefined && open.ref === ref && spare.length === 0 && this.saysTheSame(open, record)) {
      return this.done(active, fingerprint, 'Drifted', 'unchanged', open, NO_WRITES, [])
    }
    const previous = this.found.branches.find((other) => other.ref === ref)
    // A branch of this name without our record is somebody's: asking for a new one would fail every push of the turn.
    if (previous === undefined && seen.git.refs.has(ref)) {
      if (this.wish !== undefined) throw cannotChange(seen, { ref }, 'foreign')
      return this.done(active, fingerprint, 'Drifted', 'foreign', undefined, NO_WRITES, [
        `${branch} has no record of ours: it is left alone`,
      ])
    }
    let files: ProposalFiles
    try {
      files = this.proposalFiles(active, record, state)
    } catch (thrown) {
      if (this.wish !== undefined || !(thrown instanceof Failure)) throw thrown
      return this.withoutFiles(active, fingerprint, thrown)
    }
    const updates: PlannedUpdate[] = [
      { ref, from: previous?.commit ?? null, to: { commit: branch } },
      ...spare.map((other) => ({ ref: other.ref, from: other.commit, to: null })),
    ]
    const subject = { record, slug: seen.unit.slug, packageName: seen.unit.packageName, sourceRevision: seen.git.publishedName }
    const commit = {
      name: branch,
      parents: [seen.git.base],
      base: seen.git.base,
      changes: files.changes,
      message: formatProposalMessage(subject, state === 'drafts' ? 'Draft' : 'Proposed'),
      at: secondsSince1970(this.at),
    }
    const outcome = open === undefined ? 'created' : 'updated'
    return this.done(
      active,
      fingerprint,
      'Drifted',
      outcome,
      { ref, state, record },
      { ...NO_WRITES, commits: [commit], updates },
      files.notes,
    )
  }

  /** Nobody asked for an edit just now, so that it cannot be made must not hide the drift. */
  private withoutFiles(active: readonly PlannedChange[], fingerprint: string, failure: Failure): UnitPlan {
    const why = `${failure.what}: ${failure.why}`
    if (this.open !== undefined)
      return this.keepOpen(active, fingerprint, 'frozen', [`${short(this.open.ref)} cannot be made anew and is left as it is (${why})`])
    if (active.every(({ resolution }) => resolution === 'Restore')) throw failure
    return this.record(
      active.map((change) => ({ ...change, resolution: 'Restore' })),
      fingerprint,
    )
  }

  private proposalFiles(active: readonly PlannedChange[], record: DriftRecord, state: 'drafts' | 'proposed'): ProposalFiles {
    const { unit, git, pipeline } = this.seen
    const { spec } = record
    const path = recordPath(unit.cluster, unit.slug, spec.began, spec.episode)
    return buildProposal({
      packagePath: unit.packagePath,
      files: git.files,
      pipeline,
      changes: active,
      plan: spec.plan,
      workspace: record.metadata.name,
      lifecycle: state === 'drafts' ? 'Draft' : 'Proposed',
      record: { path, text: formatInertDocument(record) },
    })
  }

  private buildRecord(
    active: readonly PlannedChange[],
    fingerprint: string,
    episode: string,
    began: string,
    lifecycle: DriftRecord['spec']['lifecycle'],
  ): DriftRecord {
    const { seen } = this
    const report = this.report(active, fingerprint, 'Drifted', undefined)
    const previous = this.open?.record.spec
    const message = this.wish === undefined ? previous?.message : this.wish.message
    return {
      apiVersion: API_VERSION,
      kind: 'DriftRecord',
      metadata: { name: `drift-${episode}`, annotations: LOCAL_CONFIG },
      spec: {
        ...report.spec,
        changes: active.map(({ drift, desired, resolution }) => showChange(drift, resolution, seen.key, desired)),
        episode,
        began,
        lifecycle,
        plan: planOf(active.map(({ resolution }) => resolution)),
        ...(message === undefined ? {} : { message }),
        policy: { name: seen.policy.name, mode: seen.policy.mode },
        settle: seen.policy.settle,
        keyId: seen.key.id,
      },
    }
  }

  /** The branch stays as it is when it says the same about the same package: observation times alone change nothing. */
  private saysTheSame(open: OpenBranch, record: DriftRecord): boolean {
    const [before, after] = [open.record.spec, record.spec]
    const timeless = ({ observed, unit, policy, ...rest }: DriftRecord['spec']): string =>
      formatDocument({
        ...rest,
        changes: rest.changes.map(({ source: _source, ...change }) => change),
        cluster: unit.cluster,
        syncer: observed.syncer,
      })
    return timeless(before) === timeless(after) && sameTree(this.seen.git.tree, this.seen.git.baseTrees.get(open.base))
  }

  private keepOpen(active: readonly PlannedChange[], fingerprint: string, outcome: BranchOutcome, notes: readonly string[]): UnitPlan {
    if (this.wish !== undefined) throw cannotChange(this.seen, this.open, outcome)
    return this.done(active, fingerprint, 'Drifted', outcome, this.open, NO_WRITES, notes)
  }

  private done(
    active: readonly PlannedChange[],
    fingerprint: string,
    state: DriftReport['status']['state'],
    outcome: BranchOutcome,
    branch: Pick<OpenBranch, 'ref' | 'state' | 'record'> | undefined,
    writes: GitWrites,
    notes: readonly string[],
  ): UnitPlan {
    const report = this.report(active, fingerprint, state, branch)
    // A report that is not written yet is new even when it says that nothing differs.
    const ledger: Pick<LedgerFiles, 'files' | 'line'> = state === 'Off' ? { files: [], line: undefined } : ledgerFilesOf(this.seen, report)
    const verified = state === 'Off' ? [] : verifiedEpisodes(this.seen, this.found.closed)
    const { found } = this
    const parts = joinWrites([found.writes, writes, { ...NO_WRITES, ledger: [...verified, ...ledger.files] }])
    const line = ledger.line ?? `${this.seen.unit.packageName}: ${state}`
    // Of two texts for one file the later one knows more: found merged, then verified.
    const files = new Map(parts.ledger.map((file) => [file.path, file]))
    const joined: GitWrites = {
      ...parts,
      ledger: [...files.values()],
      ledgerLines: isNothing(parts) ? [] : [...found.writes.ledgerLines, line],
    }
    return {
      report,
      outcome,
      branch: branch === undefined ? '' : short(branch.ref),
      record: branch?.record,
      writes: joined,
      outcomes: found.outcomes,
      notes: [...found.notes, ...notes],
    }
  }

  private report(
    active: readonly PlannedChange[],
    fingerprint: string,
    state: DriftReport['status']['state'],
    branch: Pick<OpenBranch, 'state' | 'record'> | undefined,
  ): DriftReport {
    const { seen } = this
    const resolutions = new Map(active.map(({ drift, resolution }) => [drift, resolution]))
    const before = seen.git.ledger.report?.status
    return buildReport({
      unit: {
        cluster: seen.unit.cluster,
        package: seen.unit.packagePath,
        branch: seen.git.baseBranch,
        revision: seen.git.revision === 0 ? undefined : `v${seen.git.revision}`,
        commit: seen.git.base,
        tree: seen.git.treeHash,
      },
      fingerprint,
      observedAt: this.at,
      syncer: seen.syncer?.manager ?? '',
      recorded: seen.cluster.recorded,
      verdicts: seen.verdicts,
      resolutionOf: (drift) => resolutions.get(drift) ?? 'Restore',
      key: seen.key,
      status: {
        state,
        since: before?.state === state ? before.since : this.at,
        episode: branch?.record.spec.episode ?? '',
        lifecycle: branch === undefined ? '' : branch.state === 'drafts' ? 'Draft' : 'Proposed',
        plan: active.length === 0 ? '' : planOf(active.map(({ resolution }) => resolution)),
      },
      incomplete: seen.incomplete,
    })
  }

  private fingerprint(active: readonly PlannedChange[]): string {
    const cluster = identityOf(this.seen) || this.seen.unit.cluster
    return fingerprintOf(
      { cluster, package: this.seen.unit.packagePath },
      active.map(({ drift }) => drift),
      this.seen.key,
    )
  }
}

function short(ref: string): string {
  return ref.replace(/^refs\/heads\//, '')
}

function cannotChange({ git, unit }: Observation, open: Pick<OpenBranch, 'ref'> | undefined, outcome: BranchOutcome): Failure {
  const [unreadable] = git.unreadable
  if (open === undefined && unreadable !== undefined) {
    return new Failure({
      code: unreadable.code,
      what: `nothing is proposed for ${unit.packageName} in ${unit.cluster}`,
      where: unreadable.where,
      why: `its record cannot be read: ${unreadable.why}`,
      remedy:
        unreadable.place === 'branch'
          ? 'merge or delete the branch by hand, then scan again'
          : 'restore the file from the commit that wrote it',
    })
  }
  const branch = open === undefined ? unit.packageName : short(open.ref)
  return new Failure({
    code: 'BP2009',
    what: `the plan of ${branch} cannot be changed`,
    where: branch,
    why:
      outcome === 'foreign' ? 'the branch has a commit that backporch did not make' : 'not everything that it is about could be observed',
    remedy: outcome === 'foreign' ? 'merge or delete the branch by hand, then scan again' : 'scan again when the cluster can be read',
  })
}
