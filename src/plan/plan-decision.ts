/** Approve and reject, as writes to git. Pure: who and when are arguments. */
import { Failure } from '../failure.ts'
import { formatRevisionTag } from '../package/ref-name.ts'
import type { FileChange } from '../ports/package-repository.ts'
import { formatApprovalMessage } from '../record/commit-message.ts'
import { closedPath } from '../record/record-paths.ts'
import type { ClosedEpisode } from '../record/schema.ts'
import { formatDocument } from '../record/write-document.ts'
import type { GitWrites, LedgerFile } from './action.ts'
import { ledgerFilesOf } from './ledger-files.ts'
import type { Observation, OpenBranch } from './observation.ts'
import { closedEpisodeOf, secondsSince1970, type UnitPlan, worstRisk } from './plan-reconcile.ts'
import { sourceRevisionOf } from './unit-git.ts'

export interface DecisionInput {
  readonly seen: Observation
  /** The turn's own plan: its report is the state before the decision. */
  readonly turn: UnitPlan
  readonly proposal: OpenBranch
  readonly decidedBy: string
  /** RFC 3339 UTC with seconds. */
  readonly at: string
  readonly reason: string | undefined
}

export const MERGE = 'merge'

/**
 * Merges the proposal as Porch approves a revision: a merge commit with parents base and proposal, a tag on it, the branch
 * gone; and the decision in the ledger, all in one push. `changes` are what the branch changes against its base.
 */
export function planApproval(input: DecisionInput, changes: readonly FileChange[]): GitWrites {
  const { seen, proposal, decidedBy, at } = input
  const { unit, git } = seen
  const revision = git.revision + 1
  const subject = { record: proposal.record, slug: unit.slug, packageName: unit.packageName, sourceRevision: sourceRevisionOf(seen) }
  const tag = formatRevisionTag({ packagePath: unit.packageName, revision })
  return {
    commits: [
      {
        name: MERGE,
        parents: [git.base, proposal.commit],
        base: git.base,
        changes,
        message: formatApprovalMessage(subject, { revision, decidedBy, at }),
        at: secondsSince1970(at),
      },
    ],
    updates: [
      { ref: `refs/heads/${git.baseBranch}`, from: git.base, to: { commit: MERGE } },
      { ref: `refs/tags/${tag}`, from: null, to: { commit: MERGE } },
      { ref: proposal.ref, from: proposal.commit, to: null },
    ],
    ...closing(input, { outcome: 'Merged', decidedBy, at, revision: `v${revision}`, ...reasonOf(input) }, 'Applying'),
  }
}

const CRITICAL_SILENCE = 86_400

/** Close: git and the cluster stay as they are, and exactly this fingerprint is silent for a while. */
export function planRejection(input: DecisionInput): GitWrites {
  const { seen, proposal, decidedBy, at } = input
  const critical = worstRisk(proposal.record.spec.changes) === 'critical'
  const silence = critical ? Math.min(CRITICAL_SILENCE, seen.policy.closeSilence) : seen.policy.closeSilence
  const silentUntil = `${new Date((secondsSince1970(at) + silence) * 1000).toISOString().slice(0, 19)}Z`
  return {
    commits: [],
    updates: [{ ref: proposal.ref, from: proposal.commit, to: null }],
    ...closing(input, { outcome: 'Declined', decidedBy, at, silentUntil, ...reasonOf(input) }, 'Silenced'),
  }
}

function reasonOf({ reason }: DecisionInput): { reason?: string } {
  return reason === undefined ? {} : { reason }
}

function closing(
  input: DecisionInput,
  status: ClosedEpisode['status'],
  state: 'Applying' | 'Silenced',
): Pick<GitWrites, 'ledger' | 'ledgerLines'> {
  const { seen, turn, proposal, at } = input
  const { began, episode, plan } = proposal.record.spec
  const report = { ...turn.report, status: { ...turn.report.status, state, since: at, lifecycle: '' as const, episode, plan } }
  const closed: LedgerFile = { path: closedPath(began, episode), text: formatDocument(closedEpisodeOf(proposal.record, status)) }
  const ledger = ledgerFilesOf(seen, report)
  return {
    ledger: [closed, ...ledger.files],
    ledgerLines: [`${seen.unit.packageName}: ${status.outcome.toLowerCase()} ${episode} (${plan})`],
  }
}

/** The open proposal of a unit. @throws Failure BP2004 when there is none, BP2009 when it is somebody else's */
export function openProposal(seen: Observation): OpenBranch {
  const proposal = seen.git.branches.find(({ state }) => state === 'proposed')
  const draft = seen.git.branches.find(({ state }) => state === 'drafts')
  const name = seen.unit.packageName
  if (proposal === undefined) {
    throw new Failure({
      code: 'BP2004',
      what: `there is no open proposal for ${name} in ${seen.unit.cluster}`,
      why: draft === undefined ? 'nothing was proposed, or it was decided before' : `${draft.workspace} is recorded as a draft only`,
      remedy: draft === undefined ? `backporch diff ${name} shows what differs` : `propose it: backporch restore|adopt|release ${name}`,
    })
  }
  if (proposal.foreign) {
    throw new Failure({
      code: 'BP2009',
      what: `the proposal of ${name} has a commit that backporch did not make`,
      where: proposal.ref.replace(/^refs\/heads\//, ''),
      why: 'what would be merged is not what was recorded',
      remedy: 'merge the branch by hand, or delete it and scan again',
    })
  }
  return proposal
}
