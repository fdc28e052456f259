import type { CommitDraft, FileChange } from '@backporch/git-store/package-repository'
import { formatRevisionTag, shortenBranch } from '@backporch/git-store/ref-name'
import { Failure } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'
import { omitUndefined } from '@backporch/kyaml/text'
import { shouldSetTags } from '../../policy/effective-policy.ts'
import { formatHouseMessage } from '../../policy/house-rules.ts'
import { formatApprovalMessage } from '../../record/commit-message.ts'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'
import type { LedgerWrites } from '../observation/action.ts'
import {
  computeUnixSeconds,
  createClosedEpisode,
  createClosedWrites,
  silenceEnd,
} from '../observation/closed-episode.ts'
import { createLedgerFiles } from '../observation/ledger-files.ts'
import type { Observation, OpenBranch } from '../observation/observation.ts'
import type { UnitPlan } from '../observation/unit-plan.ts'

export interface DecisionInput {
  readonly observed: Observation
  readonly turn: UnitPlan
  readonly proposal: OpenBranch
  readonly decidedBy: string
  readonly at: string
  readonly reason: string | undefined
}

export interface PlannedApproval {
  readonly merge: CommitDraft
  /** Full name, and the revision as in `v4`; undefined if the policy sets no tag. */
  readonly tag: string | undefined
  readonly revision: string | undefined
  /** @param commit if it is made before the push */
  readonly ledger: (commit: ObjectId | undefined) => LedgerWrites
}

/**
 * As Porch approves a revision: a merge commit with parents base and proposal, a tag on it if the
 * policy sets one, and a deleted branch. `changes` are those of the branch against its base.
 */
export function planApproval(
  input: DecisionInput,
  changes: readonly FileChange[],
): PlannedApproval {
  const { observed, proposal, decidedBy, at } = input
  const { unit, git } = observed
  const next = shouldSetTags(observed.policy, unit.source) ? git.revision + 1 : undefined
  const revision = next === undefined ? undefined : `v${next}`
  const subject = {
    record: proposal.record,
    slug: unit.slug,
    packageName: unit.packageName,
    sourceRevision: observed.git.publishedName,
  }
  return {
    merge: {
      parents: [git.base, proposal.commit],
      base: git.base,
      changes,
      message: formatHouseMessage(
        formatApprovalMessage(subject, { revision: next, decidedBy, at }),
        observed.policy.house.commit,
      ),
      signOff: observed.policy.house.commit.signOff,
      at: computeUnixSeconds(at),
    },
    tag:
      next === undefined
        ? undefined
        : `refs/tags/${formatRevisionTag({ packagePath: unit.packageName, revision: next })}`,
    revision,
    ledger: (commit) =>
      createClosingWrites(
        input,
        {
          outcome: 'Merged',
          decidedBy,
          at,
          ...omitUndefined({ commit, revision }),
          ...getReason(input),
        },
        'Applying',
      ),
  }
}

/**
 * Git and the cluster do not change; exactly this fingerprint is silent until `silentUntil`, RFC
 * 3339 UTC.
 */
export function planRejection(
  input: DecisionInput,
): LedgerWrites & { readonly silentUntil: string } {
  const { observed, proposal, decidedBy, at } = input
  const silentUntil = silenceEnd(proposal.record.spec.changes, at, observed.policy.closeSilence)
  return {
    ...createClosingWrites(
      input,
      { outcome: 'Declined', decidedBy, at, silentUntil, ...getReason(input) },
      'Silenced',
    ),
    silentUntil,
  }
}

function getReason({ reason }: DecisionInput): { reason?: string } {
  return reason === undefined ? {} : { reason }
}

function createClosingWrites(
  input: DecisionInput,
  status: ClosedEpisode['status'],
  state: 'Applying' | 'Silenced',
): LedgerWrites {
  const { observed, turn, proposal, at } = input
  const { episode, plan } = proposal.record.spec
  const { unit } = turn.report.spec
  const revision = status.revision ?? unit.revision
  const spec = {
    ...turn.report.spec,
    unit: { ...unit, ...(revision === undefined ? {} : { revision }) },
  }
  const report = {
    ...turn.report,
    spec,
    status: { ...turn.report.status, state, since: at, lifecycle: '' as const, episode, plan },
  }
  const closed = createClosedWrites(
    createClosedEpisode(proposal.record, status),
    observed.unit.packageName,
  )
  return { ...closed, ledger: [...closed.ledger, ...createLedgerFiles(observed, report).files] }
}

/** @throws Failure BP2004 if there is none, BP2009 if its branch is foreign */
export function openProposal(observed: Observation): OpenBranch {
  const proposal = observed.git.branches.find(({ state }) => state === 'proposed')
  const draft = observed.git.branches.find(({ state }) => state === 'drafts')
  const name = observed.unit.packageName
  const unreadable = observed.git.unreadable.find(({ location }) => location === 'branch')
  if (proposal === undefined && unreadable !== undefined) {
    throw new Failure({
      code: unreadable.code,
      what: `the proposal of ${name} cannot be decided`,
      where: unreadable.where,
      why: `its record cannot be read: ${unreadable.why}`,
      remedy: 'merge the branch by hand, or delete it and scan again',
    })
  }
  if (proposal === undefined) {
    throw new Failure({
      code: 'BP2004',
      what: `there is no open proposal for ${name} in ${observed.unit.cluster}`,
      why:
        draft === undefined
          ? 'nothing was proposed, or it was decided before'
          : `${draft.workspace} is recorded as a draft only`,
      remedy:
        draft === undefined
          ? `backporch diff ${name} shows what differs`
          : `propose it: backporch restore ${name} (or adopt, or release)`,
    })
  }
  if (proposal.foreign) {
    throw new Failure({
      code: 'BP2009',
      what: `the proposal of ${name} has a commit that backporch did not make`,
      where: shortenBranch(proposal.ref),
      why: proposal.foreignWhy ?? 'what would be merged is not what was recorded',
      remedy: 'merge the branch by hand, or delete it and scan again',
    })
  }
  if (proposal.others.length > 0) {
    const clusters = proposal.others.length + 1
    throw new Failure({
      code: 'BP2009',
      what: `the proposal of ${name} is about ${clusters} clusters`,
      where: shortenBranch(proposal.ref),
      why: 'one decision applies to all of them, and this command decides for one cluster',
      remedy: `merge or close its pull request, or take this cluster out of it with the comment /exclude ${observed.unit.cluster}`,
    })
  }
  return proposal
}
