/**
 * Plans what reports an outcome: one comment on the pull request, and `drift/restored` on the merge
 * commit. Both precede the push: once the ledger has the outcome, a later turn does not know that
 * it was not reported.
 */
import type { ForgeDialect, KnownProposal } from '@backporch/forge/hosted-forge'
import { LEDGER_BRANCH, parseWorkspaceBranch, shortenBranch } from '@backporch/git-store/ref-name'
import { type ObjectId, readObjectId } from '@backporch/kyaml/files'
import { createDecidedCheckRun } from '../../../proposal/text/check-run-text.ts'
import { createOutcomeComment, type Outcome } from '../../../proposal/text/outcome-comment.ts'
import {
  createRestoredStatus,
  describeSyncerProgress,
} from '../../../proposal/text/proposal-statuses.ts'
import type { ClosedEpisode } from '../../../record/documents/closed-episode.ts'
import { recordPath } from '../../../record/record-paths.ts'
import { joinFolderPath } from '../../../sources/kustomize/files/kustomization-walk.ts'
import type { Applier } from '../../../status/applier.ts'
import { findWorstRisk } from '../../observation/closed-episode.ts'
import { type FoundOutcome, isClosedByPerson } from '../../observation/found-outcome.ts'
import type { ForgeView, TurnView } from '../../observation/turn-view.ts'
import { listUnverifiedMerges } from '../../unit/commands/pick-changes.ts'
import { REJECTED } from '../../unit/porch-decisions.ts'
import type { DecidedUnit } from '../../unit/unobserved-decisions.ts'
import type { ForgeAction } from './forge-action.ts'

export function planOutcomes(
  { dialect }: ForgeView,
  view: TurnView,
  planned: readonly DecidedUnit[],
): readonly ForgeAction[] {
  const retained = new Set(
    planned.flatMap(({ plan }) =>
      plan.writes.updates.flatMap(({ ref, to }) => (to === null ? [] : [ref])),
    ),
  )
  const newest = new Map(
    planned.flatMap(({ plan }) =>
      plan.outcomes.map(({ episode }) => [episode.metadata.name, episode]),
    ),
  )
  const closed = new Map([
    ...view.closed.map((episode) => [episode.metadata.name, episode] as const),
    ...newest,
  ])
  const commented = new Set<number>()
  const actions: ForgeAction[] = listMergesNotEntered(view, planned)
  for (const unit of planned) {
    // The later of two outcomes of one episode knows more: found merged, then observed to agree.
    const latest = new Map(unit.plan.outcomes.map((found) => [found.episode.metadata.name, found]))
    for (const found of latest.values()) {
      const proposal = view.proposals.get(found.ref)
      const together = [...closed.values()].filter((other) => isWith(found, other))
      const outcome = findOutcome(found.episode, together, unit, view)
      if (
        proposal === undefined ||
        outcome === undefined ||
        retained.has(found.ref) ||
        commented.has(proposal.number)
      )
        continue
      commented.add(proposal.number)
      if (found.episode.status.outcome === 'Merged')
        actions.push(...createUnseenMergeActions(dialect, proposal, found.episode, unit.unit.slug))
      actions.push(
        ...createOutcomeActions(dialect, view, {
          outcome,
          proposal,
          episode: found.episode,
          applier: unit.observation.applier,
        }),
      )
    }
    actions.push(...createWaitingMergeActions(dialect, view, unit, new Set(latest.keys())))
  }
  return actions
}

function isWith({ episode, ref }: FoundOutcome, other: ClosedEpisode): boolean {
  return (
    other === episode ||
    (other.status.branch !== undefined && `refs/heads/${other.status.branch}` === ref)
  )
}

interface ProposalOutcome {
  readonly outcome: Outcome | { readonly kind: 'merged' }
  readonly proposal: KnownProposal
  readonly episode: ClosedEpisode
  readonly applier: Applier
}

function createOutcomeActions(
  dialect: ForgeDialect,
  view: TurnView,
  { outcome, proposal, episode, applier }: ProposalOutcome,
): ForgeAction[] {
  const url = formatEpisodeUrl(dialect, episode)
  const mergeCommit = findMergeCommit(view, episode)
  const status = createRestoredStatus(
    outcome.kind,
    createLandedMerge(view, { episode, applier, url }),
  )
  const run = createDecidedCheckRun(proposal.ref, outcome.kind, url)
  return [
    ...(status === undefined || mergeCommit === undefined
      ? []
      : [{ kind: 'statuses', commit: mergeCommit, statuses: [status] } as const]),
    ...(run === undefined ? [] : [{ kind: 'check-run', commit: proposal.commit, run } as const]),
    ...(outcome.kind === 'merged'
      ? []
      : [
          { kind: 'comment', proposal: proposal.number, ...createOutcomeComment(outcome) } as const,
        ]),
  ]
}

function createWaitingMergeActions(
  dialect: ForgeDialect,
  view: TurnView,
  unit: DecidedUnit,
  reported: ReadonlySet<string>,
): readonly ForgeAction[] {
  const { applier, git } = unit.observation
  if (applier.report?.title === undefined) return []
  const waiting = listUnverifiedMerges(git.ledger.closed).filter(
    ({ status, metadata }) => status.failedAt === undefined && !reported.has(metadata.name),
  )
  return waiting.flatMap((episode): readonly ForgeAction[] => {
    const commit = findMergeCommit(view, episode)
    const status = createRestoredStatus(
      'merged',
      createLandedMerge(view, { episode, applier, url: formatEpisodeUrl(dialect, episode) }),
    )
    return commit === undefined || status === undefined
      ? []
      : [{ kind: 'statuses', commit, statuses: [status] }]
  })
}

function createLandedMerge(
  view: TurnView,
  {
    episode,
    applier,
    url,
  }: { readonly episode: ClosedEpisode; readonly applier: Applier; readonly url: string },
): Parameters<typeof createRestoredStatus>[1] {
  const commit = findMergeCommit(view, episode)
  return {
    cluster: episode.spec.unit.cluster,
    url,
    report: applier.report,
    commits: [...(commit === undefined ? [] : [commit]), view.base],
  }
}

function formatEpisodeUrl(dialect: ForgeDialect, { spec, metadata }: ClosedEpisode): string {
  return dialect.branchFileUrl(
    LEDGER_BRANCH,
    `closed/${spec.began.slice(0, 4)}/${spec.began.slice(5, 7)}/${metadata.name}.yaml`,
  )
}

/**
 * Merges that git has and the forge does not. Checked before the branch is deleted: a forge that
 * has not recorded its own merge by then never would.
 */
function listMergesNotEntered(
  { proposals }: TurnView,
  planned: readonly DecidedUnit[],
): ForgeAction[] {
  const merged = planned.flatMap(({ plan }) =>
    plan.outcomes.filter(({ episode }) => episode.status.outcome === 'Merged'),
  )
  const refs = new Set(merged.map(({ ref }) => ref))
  return [...refs].flatMap((ref): ForgeAction[] => {
    const proposal = proposals.get(ref)
    return proposal?.state === 'open' ? [{ kind: 'stays-open', proposal }] : []
  })
}

/**
 * A forge closes the proposal of a deleted branch from a queue, which may be lost with its server.
 * A merge is left to the forge until the cluster was observed after it: a proposal that is closed
 * before the forge records its merge stays closed forever.
 */
export function planLeftOpen({ proposals, refs, closed }: TurnView): readonly ForgeAction[] {
  const entered = closed.filter(
    ({ status }) =>
      (status.outcome !== 'Merged' ||
        status.verifiedAt !== undefined ||
        status.failedAt !== undefined) &&
      !isClosedByPerson(status),
  )
  const workspaces = new Set(entered.map(({ spec }) => `drift-${spec.episode}`))
  const branches = new Set(entered.map(({ status }) => status.branch))
  return [...proposals.values()].flatMap((proposal): ForgeAction[] => {
    const { ref, state } = proposal
    if (state !== 'open' || refs.has(ref)) return []
    const ended =
      workspaces.has(parseWorkspaceBranch(ref)?.workspace ?? '') || branches.has(shortenBranch(ref))
    return ended ? [{ kind: 'close-proposal', proposal }] : []
  })
}

/** A page that reads "closed", or will when the branch is deleted. */
function createUnseenMergeActions(
  dialect: ForgeDialect,
  proposal: KnownProposal,
  { spec, status }: ClosedEpisode,
  slug: string,
): readonly ForgeAction[] {
  const commit = readObjectId(status.commit)
  if (commit === undefined || (proposal.state === 'merged' && status.publishedBy === undefined))
    return []
  const by = status.decidedBy.replace(/ <.*/, '') || undefined

  // Porch publishes the package without the record.
  const path =
    status.publishedBy === undefined
      ? recordPath(spec.unit.cluster, slug, spec.began, spec.episode)
      : joinFolderPath(spec.unit.package, 'Kptfile')
  const url = dialect.fileUrl(commit, path, undefined)
  const { publishedBy, revision = '', altered } = status
  const comment =
    publishedBy === undefined
      ? createOutcomeComment({ kind: 'merged-in-git', commit, url, by, forge: dialect.name })
      : createOutcomeComment({ kind: 'approved-in-porch', commit, url, by, revision, altered })
  return [{ kind: 'comment', proposal: proposal.number, ...comment }]
}

/** The published commit if the merge commit is unknown. */
function findMergeCommit(
  { refs }: TurnView,
  { spec, status }: ClosedEpisode,
): ObjectId | undefined {
  const tag = refs.get(`refs/tags/${spec.unit.package}/${status.revision ?? ''}`)
  return readObjectId(status.commit) ?? tag
}

function findOutcome(
  episode: ClosedEpisode,
  together: readonly ClosedEpisode[],
  { observation: { applier } }: DecidedUnit,
  view: TurnView,
): ProposalOutcome['outcome'] | undefined {
  const { spec, status } = episode
  if (status.outcome === 'Healed') return { kind: 'healed', at: status.at }
  if (status.outcome === 'ResolvedByGit')
    return { kind: 'resolved-by-git', commit: view.base, url: '' }
  if (status.outcome === 'Merged') {
    if (status.verifiedAt !== undefined) {
      const all = together.every((other) => other.status.verifiedAt !== undefined)
      return all ? { kind: 'verified', at: status.verifiedAt, plan: spec.plan } : undefined
    }
    if (status.failedAt === undefined) return { kind: 'merged' }
    const altered =
      status.altered === undefined
        ? ''
        : ` What was merged is not what was proposed: ${status.altered}.`
    const commit = findMergeCommit(view, episode)
    const progress = describeSyncerProgress(applier.report, [
      ...(commit === undefined ? [] : [commit]),
      view.base,
    ])
    const does = applier.warning ?? applier.sentence
    const reported =
      progress === undefined || does.includes(progress.text) ? '' : `${progress.text}. `
    const why = `${reported}${does}${altered}`
    return {
      kind: 'not-restored',
      at: status.failedAt,
      why: together.length > 1 ? `${spec.unit.cluster}: ${why}` : why,
    }
  }
  if (status.outcome === 'Published')
    return {
      kind: 'published',
      revision: status.revision ?? '',
      by: status.decidedBy.replace(/ <.*/, '') || undefined,
    }
  if (status.silentUntil === undefined) return undefined
  const critical = findWorstRisk(spec.changes) === 'critical'
  return {
    kind: status.reason === REJECTED ? 'rejected-in-porch' : 'declined',
    silentUntil: status.silentUntil,
    critical,
  }
}
