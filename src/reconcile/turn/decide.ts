import type { FileChange } from '@backporch/git-store/package-repository'
import { Failure } from '@backporch/kyaml/failure'
import { type ObjectId, readObjectId } from '@backporch/kyaml/files'
import { formatNoteSentence } from '@backporch/kyaml/note'
import { assertOwnBase } from '../../plan/observation/base-branch.ts'
import type { Observation, OpenBranch } from '../../plan/observation/observation.ts'
import { addAnswers } from '../../plan/observation/turn-questions.ts'
import type { UnitPlan } from '../../plan/observation/unit-plan.ts'
import { planProven } from '../../plan/turn/plan-turn.ts'
import type { ObservedUnit } from '../../plan/turn/turn-observation.ts'
import { findDecisions, getMergedRef } from '../../plan/unit/found-decisions.ts'
import {
  type DecisionInput,
  openProposal,
  planApproval,
  planRejection,
} from '../../plan/unit/plan-decision.ts'
import { rebuildProposalFiles } from '../../plan/unit/plan-reconcile.ts'
import { assertNewestPolicy } from '../../policy/last-good-policy.ts'
import { setApproval } from '../../record/pushed-branch.ts'
import { formatTravellingRecordPath, recordPath } from '../../record/record-paths.ts'
import { retryWithFreshRefs } from '../observe/observe-units.ts'
import type { TurnPorts, TurnRequest } from '../observe/turn-request.ts'
import { hasSameContent, listChangesBetween } from '../repository/changes-between.ts'
import { isHosted } from '../repository/is-hosted.ts'
import { judgeBranches } from '../repository/judge-branches.ts'
import type { RepositoryView } from '../repository/repository-view.ts'
import { computeWithAnswers } from '../repository/with-answers.ts'
import {
  applyWrites,
  createPushedFile,
  type LedgerTarget,
  writeLedger,
} from './apply/apply-writes.ts'
import { observeUnits } from './observe-turn.ts'
import { proveUnit } from './prove-turn.ts'

interface Decider {
  readonly name: string
  /** RFC 3339 UTC with seconds. */
  readonly at: string
  readonly reason: string | undefined
}

export interface DecisionRequest {
  /** With exactly one package. */
  readonly turn: TurnRequest
  readonly decider: Decider
  /** Before anything is written, once per fingerprint. */
  readonly confirm: (reviewed: Reviewed) => Promise<boolean>
}

export interface Reviewed {
  readonly observation: Observation
  readonly proposal: OpenBranch
  readonly plan: UnitPlan
}

export interface Decided {
  readonly reviewed: Reviewed
  /** Undefined for a rejection. */
  readonly commit: ObjectId | undefined
  readonly revision: string | undefined
  /** In the forge's merge queue: not merged yet. */
  readonly isQueued?: true
  readonly silentUntil: string | undefined
}

/**
 * Observes again, and checks that the proposal still agrees with live. If repeated after it ended
 * between merge and ledger, it finds its own merge and completes the ledger.
 * @throws Failure BP2004 without a proposal, BP2005 when live changed since the proposal was made,
 * BP2011 when not confirmed
 */
export async function approve(
  ports: TurnPorts,
  request: DecisionRequest,
  signal: AbortSignal,
): Promise<Decided> {
  return decide(ports, { ...request, verb: 'approve', write }, signal)

  async function write(reviewed: Reviewed, view: RepositoryView): Promise<Decided> {
    const { observation, proposal } = reviewed
    const changes = await listChangesBetween(
      ports.repository,
      proposal.base,
      proposal.commit,
      signal,
    )
    await computeWithAnswers(request.turn.renderer, signal, (answers) =>
      assertAsBuilt(addAnswers(observation, answers), proposal, changes),
    )
    const { merge, tag, revision, ledger } = planApproval(
      createDecisionInput(reviewed, request),
      changes,
    )
    const made = isHosted(ports.forge) ? undefined : await ports.repository.write(merge)
    const along = await writeLedger(
      ports.repository,
      ledger(made),
      createLedgerTarget(reviewed, view, request),
    )
    const base = { ref: `refs/heads/${view.baseBranch}`, commit: view.base }
    const commit = await ports.forge.merge(
      { proposal, base, merge, commit: made, tag, along },
      signal,
    )
    if (commit === 'queued') {
      await keepApproval(reviewed, view)
      return {
        reviewed,
        commit: undefined,
        revision: undefined,
        isQueued: true,
        silentUntil: undefined,
      }
    }
    return { reviewed, commit, revision, silentUntil: undefined }
  }

  async function keepApproval(reviewed: Reviewed, view: RepositoryView): Promise<void> {
    const { proposal } = reviewed
    const pushed = view.pushed.get(proposal.ref)
    if (pushed === undefined) return
    const { name: by, at } = request.decider
    const file = createPushedFile(setApproval(pushed, { by, at, commit: proposal.commit }))
    const line = `${proposal.workspace} of ${reviewed.observation.unit.packageName} is in the merge queue`
    await ports.repository.push(
      await writeLedger(
        ports.repository,
        { ledger: [file], ledgerLines: [line] },
        createLedgerTarget(reviewed, view, request),
      ),
      signal,
    )
  }
}

/** @throws Failure BP2004 without a proposal, BP2011 when not confirmed */
export async function reject(
  ports: TurnPorts,
  request: DecisionRequest,
  signal: AbortSignal,
): Promise<Decided> {
  return decide(ports, { ...request, verb: 'reject', write }, signal)

  async function write(reviewed: Reviewed, view: RepositoryView): Promise<Decided> {
    const { silentUntil, ...ledger } = planRejection(createDecisionInput(reviewed, request))
    const along = await writeLedger(
      ports.repository,
      ledger,
      createLedgerTarget(reviewed, view, request),
    )
    await ports.forge.close({ proposal: reviewed.proposal, along }, signal)
    return { reviewed, commit: undefined, revision: undefined, silentUntil }
  }
}

function createDecisionInput(
  { observation, proposal, plan }: Reviewed,
  { decider: { name, at, reason } }: DecisionRequest,
): DecisionInput {
  return { observed: observation, turn: plan, proposal, decidedBy: name, at, reason }
}

function createLedgerTarget(
  { observation }: Reviewed,
  view: RepositoryView,
  { decider }: DecisionRequest,
): LedgerTarget {
  return {
    head: view.ledger,
    cluster: observation.unit.cluster,
    at: decider.at,
    pushed: view.pushed,
  }
}

interface Decision extends DecisionRequest {
  readonly verb: 'approve' | 'reject'
  readonly write: (reviewed: Reviewed, view: RepositoryView) => Promise<Decided>
}

async function decide(
  ports: TurnPorts,
  { verb, turn, decider, confirm, write }: Decision,
  signal: AbortSignal,
): Promise<Decided> {
  let confirmed = ''
  return retryWithFreshRefs(async () => {
    const { view, units } = await observeUnits(ports, turn, signal)
    assertOwnBase(getObservedUnit(units))
    const context = { repository: ports.repository, renderer: turn.renderer }
    const observation = getObservedUnit(await judgeBranches(units, context, signal))
    const planned = () =>
      proveUnit(context, signal, (questions) => planProven(observation, questions))
    const enter = (plan: UnitPlan) =>
      applyWrites(
        ports.repository,
        plan.writes,
        {
          head: view.ledger,
          cluster: observation.unit.cluster,
          at: observation.cluster.observedAt,
          pushed: view.pushed,
        },
        signal,
      )
    const own = verb === 'approve' ? findOwnMerge(observation, decider.name) : undefined
    if (own !== undefined) {
      const plan = await planned()
      if (!own.isEntered) await enter(plan)
      return {
        reviewed: { observation, proposal: own.proposal, plan },
        commit: own.commit,
        revision: own.revision,
        silentUntil: undefined,
      }
    }
    if (verb === 'approve')
      assertNewestPolicy(view.policies, `no change of ${observation.unit.packageName} is approved`)
    const proposal = openProposal(observation)
    const plan = await planned()
    if (plan.outcome !== 'unchanged') {
      await enter(plan)
      // The base moved without a change of the proposal: observe again.
      if (
        plan.outcome === 'updated' &&
        plan.record?.spec.fingerprint === proposal.record.spec.fingerprint
      )
        throw createMovedOnFailure(proposal)
      throw createChangedSinceReviewFailure(observation, proposal, plan)
    }
    const reviewed = { observation, proposal, plan }
    // A retry after a moved ref needs no second confirmation.
    if (confirmed !== proposal.record.spec.fingerprint && !(await confirm(reviewed)))
      throw createNotConfirmedFailure(verb, observation.unit.packageName, proposal)
    confirmed = proposal.record.spec.fingerprint
    return write(reviewed, view)
  })
}

function getObservedUnit(units: readonly ObservedUnit[]): Observation {
  const [unit] = units
  if (unit === undefined || units.length > 1) {
    throw new Failure({
      code: 'BP1001',
      what: 'a decision is about one package',
      why: `${units.length} packages match`,
      remedy: 'name one package',
    })
  }
  if (unit.state === 'failed') throw unit.failures[0]
  return unit.observation
}

interface OwnMerge {
  readonly proposal: OpenBranch
  readonly commit: ObjectId
  readonly revision: string | undefined
  readonly isEntered: boolean
}

/** Of the same person, if the cluster does not match it yet, and nothing else is open. */
function findOwnMerge(observation: Observation, name: string): OwnMerge | undefined {
  const { git } = observation
  const { branches, closed } = findDecisions(observation)
  const last = closed.filter(({ status }) => status.outcome === 'Merged').at(-1)
  const { commit, decidedBy, verifiedAt, failedAt, revision } = last?.status ?? {}
  const record = git.merged.find(({ spec }) => spec.episode === last?.spec.episode)
  const isOver = verifiedAt !== undefined || failedAt !== undefined
  if (
    last === undefined ||
    record === undefined ||
    isOver ||
    decidedBy !== name ||
    branches.some(({ state }) => state === 'proposed')
  )
    return undefined
  const there = git.branches.find((branch) => branch.record.metadata.name === record.metadata.name)
  const tag = git.refs.get(`refs/tags/${observation.unit.packageName}/${revision}`)
  const merged = readObjectId(commit) ?? tag ?? git.base
  const ref = getMergedRef(observation, last)
  const workspace = record.metadata.name
  const gone = {
    ref,
    state: 'proposed',
    workspace,
    commit: merged,
    base: git.base,
    record,
    foreign: false,
    others: [],
  } as const
  return {
    proposal: there ?? gone,
    commit: merged,
    revision,
    isEntered: git.ledger.closed.includes(last),
  }
}

/**
 * People who may not push to the base branch may push to the branch, even in the bot's name.
 * @throws Failure BP2009
 */
function assertAsBuilt(
  observation: Observation,
  proposal: OpenBranch,
  changes: readonly FileChange[],
): void {
  const built = new Map(
    rebuildProposalFiles(observation, proposal).map(({ path, content }) => [path, content]),
  )
  const { unit } = observation
  const { began, episode } = proposal.record.spec
  // As a document, because its times are the first observation's.
  const records = [
    recordPath(unit.cluster, unit.slug, began, episode),
    formatTravellingRecordPath(unit.packagePath),
  ]
  const hasChanged = ({ path, content }: FileChange): boolean =>
    !built.has(path) ||
    (!records.includes(path) && !hasSameContent(content, built.get(path) ?? null))
  const written = new Set(changes.map(({ path }) => path))
  const wrong =
    changes.find(hasChanged)?.path ?? [...built.keys()].find((path) => !written.has(path))
  if (wrong === undefined) return
  throw new Failure({
    code: 'BP2009',
    what: `${proposal.workspace} is not merged`,
    where: proposal.ref.replace(/^refs\/heads\//, ''),
    why: `${wrong} differs from what this version of backporch would write for the branch's record: a person or another version changed it`,
    remedy: 'check the branch, then delete it and scan again',
  })
}

function createMovedOnFailure({ ref }: OpenBranch): Failure {
  return new Failure({
    code: 'BP4003',
    what: 'the proposal was rebuilt on the moved base branch',
    where: ref,
    why: 'the package changed on the base branch after the proposal was made',
    remedy: 'look again',
    retry: 'backoff',
  })
}

function createChangedSinceReviewFailure(
  observation: Observation,
  proposal: OpenBranch,
  plan: UnitPlan,
): Failure {
  const { packageName, cluster } = observation.unit
  const { outcome } = plan
  if (outcome === 'frozen' || outcome === 'foreign') {
    return new Failure({
      code: outcome === 'foreign' ? 'BP2009' : 'BP2005',
      what: `${proposal.workspace} of ${packageName} in ${cluster} was not decided`,
      why: plan.notes.map(formatNoteSentence).join('; '),
      remedy:
        outcome === 'foreign'
          ? 'merge or delete the branch by hand'
          : 'correct the problem, scan again, then decide',
      retry: 'on-change',
    })
  }
  const now = plan.report.spec.changes.map(({ path, ref }) => path ?? `${ref.kind} ${ref.name}`)
  return new Failure({
    code: 'BP2005',
    what: `${packageName} in ${cluster} is not as it was when ${proposal.workspace} was proposed`,
    why:
      plan.outcome === 'healed'
        ? 'live agrees with git again, so the proposal was withdrawn'
        : `what differs now: ${now.slice(0, 5).join(', ') || 'nothing'}`,
    remedy:
      plan.outcome === 'healed'
        ? 'nothing is left to decide'
        : `the proposal was updated: review it again with backporch diff ${packageName}`,
    retry: 'on-change',
  })
}

function createNotConfirmedFailure(
  verb: 'approve' | 'reject',
  packageName: string,
  proposal: OpenBranch,
): Failure {
  return new Failure({
    code: 'BP2011',
    what: `${proposal.workspace} was not decided`,
    why: 'the question was not answered with yes',
    remedy:
      verb === 'approve'
        ? `leave it open, close it with backporch reject ${packageName}, or approve again and answer y`
        : `leave it open, merge it with backporch approve ${packageName}, or reject again and answer y`,
  })
}
