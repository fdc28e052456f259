/**
 * What became of proposals, said where people look for it: one comment on the pull request, and `drift/restored` on the commit by
 * which it landed. Before the push: once the ledger has it, nobody would know that it was not said yet.
 */

import { type ObjectId, objectId } from '../package/object-id.ts'
import { LEDGER_BRANCH } from '../package/ref-name.ts'
import { worstRisk } from '../plan/closed-episode.ts'
import type { FoundOutcome } from '../plan/found-decisions.ts'
import type { CommitStatus, Forge, HostedForge, KnownProposal } from '../ports/hosted-forge.ts'
import { decidedCheckRun } from '../proposal/check-run-text.ts'
import { type Outcome, outcomeComment } from '../proposal/outcome-comment.ts'
import { restoredStatus } from '../proposal/proposal-statuses.ts'
import { recordPath } from '../record/record-paths.ts'
import type { ClosedEpisode } from '../record/schema.ts'
import type { PlannedUnit } from './proposal-subjects.ts'
import type { RepositoryView } from './repository-view.ts'
import { isHosted } from './tell-forge.ts'
import type { UnitResult } from './unit-result.ts'

/** @throws Failure BP50xx */
export async function tellOutcomes(forge: Forge, view: RepositoryView, units: readonly UnitResult[], signal: AbortSignal): Promise<void> {
  if (!isHosted(forge)) return
  const planned = units.flatMap((unit) => (unit.state === 'planned' ? [unit] : []))
  const kept = new Set(planned.flatMap(({ plan }) => plan.writes.updates.flatMap(({ ref, to }) => (to === null ? [] : [ref]))))
  const newest = new Map(planned.flatMap(({ plan }) => plan.outcomes.map(({ episode }) => [episode.metadata.name, episode])))
  const closed = new Map([...view.closed.map((episode) => [episode.metadata.name, episode] as const), ...newest])
  await assertNoMergeUnderWay(forge, view, planned, signal)
  const said = new Set<number>()
  for (const unit of planned) {
    // Of two about one episode the later one knows more: found merged, then seen to agree.
    const latest = new Map(unit.plan.outcomes.map((found) => [found.episode.metadata.name, found]))
    for (const found of latest.values()) {
      const proposal = view.proposals.get(found.ref)
      const together = [...closed.values()].filter((other) => isWith(found, other))
      const outcome = outcomeOf(found.episode, together, unit, view)
      // A joint proposal goes on without the unit, or ends the same way for all of them.
      if (proposal === undefined || outcome === undefined || kept.has(found.ref) || said.has(proposal.number)) continue
      said.add(proposal.number)
      if (found.episode.status.outcome === 'Merged')
        await tellUnseenMerge(forge, proposal, { ...found.episode, slug: unit.unit.slug }, signal)
      await tellOutcome(forge, view, { outcome, proposal, episode: found.episode }, signal)
    }
  }
}

/** Decided by the same merge. */
function isWith({ episode, ref }: FoundOutcome, other: ClosedEpisode): boolean {
  return other === episode || (other.status.branch !== undefined && `refs/heads/${other.status.branch}` === ref)
}

interface Told {
  readonly outcome: Outcome | { readonly kind: 'merged' }
  readonly proposal: KnownProposal
  readonly episode: ClosedEpisode
}

async function tellOutcome(forge: HostedForge, view: RepositoryView, told: Told, signal: AbortSignal): Promise<void> {
  const { outcome, proposal, episode } = told
  const url = forge.dialect.branchFileUrl(
    LEDGER_BRANCH,
    `closed/${episode.spec.began.slice(0, 4)}/${episode.spec.began.slice(5, 7)}/${episode.metadata.name}.yaml`,
  )
  const status = restoredStatus(outcome.kind, episode.spec.unit.cluster, url)
  const landing = landingOf(view, episode)
  if (status !== undefined && landing !== undefined) await ensureStatus(forge, landing, status, signal)
  const check = decidedCheckRun(proposal.ref, outcome.kind, url)
  if (check !== undefined) await forge.checkRuns?.ensureCheckRun(proposal.commit, check, signal)
  if (outcome.kind === 'merged') return
  const { topic, body } = outcomeComment(outcome)
  await forge.ensureComment(proposal.number, topic, body, signal)
}

/**
 * Git has the merge, and the forge does not. Before the branch goes: a forge that has not entered its own merge yet would never do so.
 * @throws Failure BP4003 where it has by now
 */
async function assertNoMergeUnderWay(
  forge: HostedForge,
  { proposals }: RepositoryView,
  planned: readonly PlannedUnit[],
  signal: AbortSignal,
): Promise<void> {
  const merged = planned.flatMap(({ plan }) => plan.outcomes.filter(({ episode }) => episode.status.outcome === 'Merged'))
  const open = [...new Set(merged.map(({ ref }) => proposals.get(ref)))].filter((proposal) => proposal?.state === 'open')
  await Promise.all(open.map((proposal) => proposal && forge.assertStaysOpen(proposal, signal)))
}

/** A page that says "closed", or will when the branch is gone. */
async function tellUnseenMerge(
  forge: HostedForge,
  proposal: KnownProposal,
  { spec, status, slug }: ClosedEpisode & { readonly slug: string },
  signal: AbortSignal,
): Promise<void> {
  if (proposal.state === 'merged' || !isCommit(status.commit)) return
  const { commit } = status
  const by = status.decidedBy.replace(/ <.*/, '')
  const url = forge.dialect.fileUrl(objectId(commit), recordPath(spec.unit.cluster, slug, spec.began, spec.episode), undefined)
  const { topic, body } = outcomeComment({ kind: 'merged-in-git', commit, url, by, forge: forge.dialect.name })
  await forge.ensureComment(proposal.number, topic, body, signal)
}

/** The ledger is text that somebody may have edited. */
function isCommit(text: string | undefined): text is string {
  return /^[0-9a-f]{40}$/.test(text ?? '')
}

async function ensureStatus(forge: HostedForge, commit: ObjectId, status: CommitStatus, signal: AbortSignal): Promise<void> {
  await forge.ensureStatuses(commit, [status], signal)
}

/** The commit on the base branch by which it came; the published one where that is not known. */
function landingOf({ refs }: RepositoryView, { spec, status }: ClosedEpisode): ObjectId | undefined {
  const tag = refs.get(`refs/tags/${spec.unit.package}/${status.revision ?? ''}`)
  return isCommit(status.commit) ? objectId(status.commit) : tag
}

/** @param together all episodes that the same merge decided, this one included */
function outcomeOf(
  { spec, status }: ClosedEpisode,
  together: readonly ClosedEpisode[],
  { observation: { applier } }: PlannedUnit,
  view: RepositoryView,
): Told['outcome'] | undefined {
  if (status.outcome === 'Healed') return { kind: 'healed', at: status.at }
  if (status.outcome === 'ResolvedByGit') return { kind: 'resolved-by-git', commit: view.base, url: '' }
  if (status.outcome === 'Merged') {
    if (status.verifiedAt !== undefined) {
      const all = together.every((other) => other.status.verifiedAt !== undefined)
      return all ? { kind: 'verified', at: status.verifiedAt, plan: spec.plan } : undefined
    }
    if (status.failedAt === undefined) return { kind: 'merged' }
    const altered = status.altered === undefined ? '' : ` What was merged is not what was proposed: ${status.altered}.`
    const why = `${applier.warning ?? applier.sentence}${altered}`
    return { kind: 'not-restored', at: status.failedAt, why: together.length > 1 ? `${spec.unit.cluster}: ${why}` : why }
  }
  if (status.silentUntil === undefined) return undefined
  return { kind: 'declined', silentUntil: status.silentUntil, critical: worstRisk(spec.changes) === 'critical' }
}
