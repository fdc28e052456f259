/**
 * What people see on the forge after a turn: one pull request per open proposal with its statuses, and one comment where an
 * episode ended. Everything is said again in each turn and sent only where it is new, so a turn that ended in between loses nothing.
 */

import { LEDGER_BRANCH } from '../package/ref-name.ts'
import { worstRisk } from '../plan/closed-episode.ts'
import type { FoundOutcome } from '../plan/found-decisions.ts'
import type { Forge, HostedForge, OpenedProposal } from '../ports/hosted-forge.ts'
import type { RefUpdate } from '../ports/package-repository.ts'
import { type Outcome, outcomeComment } from '../proposal/outcome-comment.ts'
import { proposalStatuses } from '../proposal/proposal-statuses.ts'
import type { ProposalSubject } from '../proposal/proposal-subject.ts'
import { proposalText } from '../proposal/proposal-text.ts'
import { wantsReport } from '../proposal/report-text.ts'
import { ledgerUnitFolder } from '../record/record-paths.ts'
import type { RepositoryView } from './repository-view.ts'
import { unitClusters } from './unit-clusters.ts'
import type { UnitResult } from './unit-result.ts'

type PlannedUnit = UnitResult & { readonly state: 'planned' }

export function isHosted(forge: Forge): forge is HostedForge {
  return 'ensureComment' in forge
}

/**
 * Before the push: once the ledger has an episode as closed, nobody would know that it was not said yet.
 * @throws Failure BP50xx
 */
export async function tellOutcomes(forge: Forge, view: RepositoryView, units: readonly UnitResult[], signal: AbortSignal): Promise<void> {
  if (!isHosted(forge)) return
  for (const unit of units) {
    if (unit.state === 'failed') continue
    for (const found of unit.plan.outcomes) {
      const proposal = view.proposals.get(found.ref)
      const outcome = outcomeOf(found, view)
      if (proposal === undefined || outcome === undefined) continue
      const { topic, body } = outcomeComment(outcome)
      await forge.ensureComment(proposal.number, topic, body, signal)
    }
  }
}

function outcomeOf({ episode: { spec, status } }: FoundOutcome, view: RepositoryView): Outcome | undefined {
  if (status.outcome === 'Healed') return { kind: 'healed', at: status.at }
  if (status.outcome === 'ResolvedByGit') return { kind: 'resolved-by-git', commit: view.base, url: '' }
  // What a merge led to is said when live was seen to agree.
  if (status.outcome === 'Merged' || status.silentUntil === undefined) return undefined
  return { kind: 'declined', silentUntil: status.silentUntil, critical: worstRisk(spec.changes) === 'critical' }
}

/**
 * After the push. @returns what the forge calls the open proposals, by short name of the branch
 * @throws Failure BP50xx
 */
export async function ensureProposals(
  forge: Forge,
  view: RepositoryView,
  units: readonly UnitResult[],
  updates: readonly RefUpdate[],
  version: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, OpenedProposal>> {
  const opened = new Map<string, OpenedProposal>()
  for (const unit of units) {
    if (unit.state === 'failed' || unit.refused !== undefined) continue
    const { report, branch, outcome } = unit.plan
    if (report.status.lifecycle !== 'Proposed' || outcome === 'foreign') continue
    const ref = `refs/heads/${branch}`
    const commit = updates.find((update) => update.ref === ref)?.to ?? view.refs.get(ref)
    const subject = subjectOf(unit, view, forge, version)
    if (commit === undefined || commit === null || subject === undefined) continue
    const known = view.proposals.get(ref)
    const text = proposalText(subject)
    const wanted = { ref, commit, baseBranch: view.baseBranch, ...text, reviewers: [] }
    opened.set(branch, await forge.ensureProposal(wanted, known, signal))
    if (isHosted(forge)) await forge.ensureStatuses(commit, proposalStatuses(subject, unit.observation.incomplete.length === 0), signal)
  }
  return opened
}

function subjectOf(
  { unit, plan, observation }: PlannedUnit,
  view: RepositoryView,
  forge: Forge,
  version: string,
): ProposalSubject | undefined {
  const { record, branch } = plan
  if (record === undefined) return undefined
  const { policy, applier, health, verdicts } = observation
  const folder = ledgerUnitFolder(unit.cluster, unit.slug)
  const reapplyFails = verdicts.flatMap(({ id, reapplyFails: why }) =>
    why === undefined ? [] : [{ ref: { group: id.group, kind: id.kind, namespace: id.namespace, name: id.name }, why }],
  )
  return {
    record,
    unit,
    applier,
    health,
    reapplyFails,
    notAdoptable: new Map(),
    alsoIn: unitClusters(view, unit),
    previousPlan: undefined,
    base: view.base,
    headBranch: branch,
    dialect: forge.dialect,
    hasReport: wantsReport(record),
    policy: { name: policy.name, mode: policy.mode, place: policy.place },
    closeSilence: policy.closeSilence,
    version,
    ledgerUrl: forge.dialect.branchFileUrl(LEDGER_BRANCH, `${folder}/report.yaml`),
    states: [],
  }
}
