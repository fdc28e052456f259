/**
 * Runs `init`. A repeated run writes nothing. A branch with foreign edits is never pushed to, and
 * its proposal's text follows its content.
 */
import type { ClusterReader } from '@backporch/cluster/cluster'
import type { Forge, KnownProposal, OpenedProposal } from '@backporch/forge/hosted-forge'
import type {
  FileChange,
  PackageRepository,
  RefUpdate,
} from '@backporch/git-store/package-repository'
import { CONFIGURE_BRANCH, LEDGER_BRANCH } from '@backporch/git-store/ref-name'
import { convertToFailure } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'
import { omitUndefined } from '@backporch/kyaml/text'
import { NO_WRITES } from '../../plan/observation/action.ts'
import type { Observation } from '../../plan/observation/observation.ts'
import { addAnswers } from '../../plan/observation/turn-questions.ts'
import { applyHouseRules } from '../../plan/turn/forge/house-proposal.ts'
import {
  CONFIGURE_REF,
  type OnboardingPlan,
  type OnboardingRequest,
  planOnboarding,
} from '../../plan/turn/plan-onboarding.ts'
import {
  type OnboardingFile,
  POLICY_PATH,
  SECOND_POLICY_PATH,
} from '../../plan/unit/commands/plan-onboarding-files.ts'
import { planReconcile } from '../../plan/unit/plan-reconcile.ts'
import { deriveHouseRules, deriveRepositoryLimits } from '../../policy/effective-policy.ts'
import { formatHouseMessage } from '../../policy/house-rules.ts'
import { assertNewestPolicy } from '../../policy/last-good-policy.ts'
import { type PolicySet, parsePolicyFiles } from '../../policy/parse-policy.ts'
import {
  formatOnboardingText,
  type OnboardingSubject,
} from '../../proposal/text/onboarding-text.ts'
import { formatPushedPath } from '../../record/pushed-branch.ts'
import { formatPresentTime } from '../observe/observe.ts'
import { retryWithFreshRefs } from '../observe/observe-units.ts'
import type { TurnRequest } from '../observe/turn-request.ts'
import { isHosted } from '../repository/is-hosted.ts'
import { hasContent, hasEqualText } from '../repository/judge-branches.ts'
import { type RepositoryView, readRepository } from '../repository/repository-view.ts'
import { addSources } from '../repository/sources/discover-sources.ts'
import { computeWithAnswers } from '../repository/with-answers.ts'
import { applyWrites, type LedgerTarget } from '../turn/apply/apply-writes.ts'
import { type OnboardingView, observeForOnboarding } from './observe-onboarding.ts'
import { type ObservedBranch, readBranch } from './onboard-branch.ts'
import {
  computeExpectation,
  listOnboardingSources,
  listPlacedUnits,
  listUnitSyncers,
} from './onboard-expect.ts'
import { createWantedFiles } from './wanted-files.ts'

interface OnboardPorts {
  readonly repository: PackageRepository
  readonly cluster: ClusterReader
  readonly forge: Forge
}

export interface OnboardRequest extends OnboardingRequest {
  /** With a mode other than `apply` it only observes and counts. */
  readonly turn: TurnRequest
  /**
   * Before a proposal is opened, and before a branch is removed. False ends with nothing written.
   */
  readonly confirm: (onboarding: Onboarding) => Promise<boolean>
}

export interface Onboarding {
  readonly plan: OnboardingPlan
  readonly view: RepositoryView
  readonly subject: OnboardingSubject | undefined
  readonly files: readonly OnboardingFile[]
  readonly proposal: KnownProposal | undefined
}

export interface Onboarded extends Onboarding {
  readonly updates: readonly RefUpdate[]
  readonly opened: OpenedProposal | undefined
  readonly refused: boolean
}

/** @throws Failure as a turn does */
export async function runOnboarding(
  ports: OnboardPorts,
  request: OnboardRequest,
  signal: AbortSignal,
): Promise<Onboarded> {
  let confirmed: boolean | undefined
  const confirm = async (onboarding: Onboarding): Promise<boolean> => {
    // A moved ref does not repeat the confirmation.
    confirmed ??= await request.confirm(onboarding)
    return confirmed
  }
  return retryWithFreshRefs(async () =>
    carryOut(ports, await prepare(ports, request, signal), { ...request, confirm }, signal),
  )
}

async function prepare(
  ports: OnboardPorts,
  request: OnboardRequest,
  signal: AbortSignal,
): Promise<Onboarding> {
  const { turn } = request
  const { bot, branch: baseBranch } = turn.git
  turn.onProgress?.('reading the repository')
  const view = await readRepository(
    ports.repository,
    baseBranch,
    signal,
    omitUndefined({ folders: turn.units.folders }),
  )
  assertNewestPolicy(view.policies, 'the repository is not enrolled')
  const proposals = await ports.forge.readProposals(view.baseBranch, [CONFIGURE_REF], signal)
  const proposal = proposals.find(({ ref }) => ref === CONFIGURE_REF)
  const policyPath = view.tree.some(({ path }) => path === POLICY_PATH)
    ? SECOND_POLICY_PATH
    : POLICY_PATH
  const found = await readBranch(view, proposal, { bot, paths: [policyPath] }, signal)
  const sources = (): Promise<RepositoryView> =>
    addSources(view, [ports.cluster], turn.renderer, signal)
  const branch =
    found?.unproven === undefined
      ? found
      : await observeAsBuilt(
          await sources(),
          found,
          { cluster: ports.cluster, policyPath, turn },
          signal,
        )
  const observed = {
    hosted: isHosted(ports.forge),
    enrolled: view.policies.policies[0]?.where,
    branch,
    proposal,
  }
  const early = planOnboarding({ ...observed, files: [] }, request)
  if (early.kind !== 'propose')
    return { plan: early, view, subject: undefined, files: [], proposal }
  // Other authors' content is kept; Backporch's is recreated, because the cluster may have changed.
  const theirs = early.editedBy === undefined ? undefined : branch
  const edited = theirs === undefined ? undefined : parseBranchPolicies(theirs)
  const sourced = await sources()
  const { folders, synced } = sourced.policies
  const own =
    edited?.policies === undefined
      ? sourced.policies
      : { ...edited.policies, ...omitUndefined({ folders, synced }) }
  const observe = await observeForOnboarding(
    { ...sourced, policies: own },
    ports.cluster,
    turn,
    signal,
  )
  const files =
    theirs === undefined
      ? createWantedFiles(sourced, observe, { cluster: ports.cluster.name, policyPath })
      : []
  const policies = edited ?? { policies: mergeWithBase(sourced, files), problem: '' }
  const plan = planOnboarding({ ...observed, files }, request)
  const planUnit = (observation: Observation) =>
    computeWithAnswers(turn.renderer, signal, (answers) =>
      planReconcile(addAnswers(observation, answers)),
    )
  const placed = policies.policies
  const subject = createSubject(
    view,
    ports,
    { ...policies, observe },
    {
      expected:
        placed === undefined
          ? undefined
          : await computeExpectation(observe.units, placed, ports.cluster.name, planUnit),
      version: turn.forge.version,
      policyPath,
      files: theirs?.changed ?? files.map(({ path }) => path),
      editedBy: early.editedBy,
    },
  )
  return { plan, view, subject, files, proposal }
}

async function observeAsBuilt(
  view: RepositoryView,
  branch: ObservedBranch,
  {
    cluster,
    policyPath,
    turn,
  }: { readonly cluster: ClusterReader; readonly policyPath: string; readonly turn: TurnRequest },
  signal: AbortSignal,
): Promise<ObservedBranch> {
  const { unproven, commit } = branch
  if (
    unproven === undefined ||
    !listMessages(view).some((message) => hasEqualText(unproven.message, message))
  )
    return branch
  const observe = await observeForOnboarding(view, cluster, turn, signal)
  const changes = convertToChanges(
    createWantedFiles(view, observe, { cluster: cluster.name, policyPath }),
  )
  return (await hasContent(view.repository, { base: unproven.base, commit }, changes, signal))
    ? { ...branch, editedBy: undefined }
    : branch
}

function convertToChanges(files: readonly OnboardingFile[]): FileChange[] {
  return files.map(({ path, text }) => ({ path, content: new TextEncoder().encode(text) }))
}

interface ReadPolicies {
  readonly policies: PolicySet | undefined
  readonly problem: string
}

function parseBranchPolicies({ policies: files }: ObservedBranch): ReadPolicies {
  try {
    const policies = parsePolicyFiles(files)
    if (policies.policies.length > 0) return { policies, problem: '' }
    return {
      policies: undefined,
      problem: 'there is no DriftPolicy under .drift/ on this branch: merging it enrols nothing',
    }
  } catch (thrown) {
    const failure = convertToFailure(thrown)
    if (failure.code !== 'BP1005') throw thrown
    return { policies: undefined, problem: failure.why }
  }
}

function mergeWithBase(view: RepositoryView, files: readonly OnboardingFile[]): PolicySet {
  const { policies, placements } = parsePolicyFiles(
    files.filter(({ path }) => path.startsWith('.drift/')),
  )
  return {
    ...view.policies,
    policies: [...view.policies.policies, ...policies],
    placements: [...view.policies.placements, ...placements],
  }
}

function createSubject(
  view: RepositoryView,
  { cluster, forge }: OnboardPorts,
  { policies, problem, observe }: ReadPolicies & { readonly observe: OnboardingView },
  own: Pick<OnboardingSubject, 'expected' | 'version' | 'policyPath' | 'files' | 'editedBy'>,
): OnboardingSubject {
  const units =
    policies === undefined ? observe.units : listPlacedUnits(observe.units, policies, cluster.name)
  return {
    ...own,
    dialect: forge.dialect,
    baseBranch: view.baseBranch,
    clusters: [cluster.name],
    packages: units.length,
    elsewhere: observe.units.length - units.length,
    syncers: listUnitSyncers(units),
    sources: listOnboardingSources(units),
    autoscalers: observe.autoscalers,
    imported: policies?.policies.reduce((sum, { ignore }) => sum + ignore.length, 0) ?? 0,
    notImported: observe.ignores.notImported,
    notObserved: observe.notObserved,
    policyProblem: problem,
    limits: deriveRepositoryLimits(policies ?? view.policies),
    rights: forge.setup.rights,
  }
}

async function carryOut(
  ports: OnboardPorts,
  onboarding: Onboarding,
  request: OnboardRequest,
  signal: AbortSignal,
): Promise<Onboarded> {
  const { plan } = onboarding
  const { turn } = request
  const nothing = { ...onboarding, updates: [], opened: undefined, refused: false }
  if (turn.mode !== 'apply' || plan.kind === 'nothing-to-remove') return nothing
  if (plan.kind === 'enrolled' || plan.kind === 'declined') {
    return plan.cleanUp === undefined
      ? nothing
      : { ...nothing, updates: await remove(onboarding, plan.cleanUp, signal) }
  }
  if (plan.kind === 'remove') {
    if (!(await request.confirm(onboarding))) return { ...nothing, refused: true }
    return { ...nothing, updates: await remove(onboarding, plan.branch, signal) }
  }
  if (plan.needsConfirmation && !(await request.confirm(onboarding)))
    return { ...nothing, refused: true }
  turn.onProgress?.('writing')
  const updates =
    plan.push === undefined
      ? []
      : await push(
          onboarding,
          plan.push.from,
          { cluster: ports.cluster.name, at: formatPresentTime(turn.clock) },
          signal,
        )
  const commit = updates.find(({ ref }) => ref === CONFIGURE_REF)?.to ?? undefined
  return { ...nothing, updates, opened: await propose(ports.forge, onboarding, commit, signal) }
}

/** A forge closes the proposal of a deleted branch. An otherwise empty ledger is deleted too. */
async function remove(
  { view }: Onboarding,
  commit: ObjectId,
  signal: AbortSignal,
): Promise<RefUpdate[]> {
  const { repository, ledger, ledgerTree } = view
  const own = formatPushedPath(CONFIGURE_BRANCH)
  const update: RefUpdate = { ref: CONFIGURE_REF, from: commit, to: null }
  const begun = ledger !== null && ledgerTree.every(({ path }) => path === own)
  await repository.push(
    [update, ...(begun ? [{ ref: `refs/heads/${LEDGER_BRANCH}`, from: ledger, to: null }] : [])],
    signal,
  )
  // In a clone, the origin's ledger may have more.
  return [update]
}

async function push(
  { view, files }: Onboarding,
  from: ObjectId | null,
  reported: Pick<LedgerTarget, 'cluster' | 'at'>,
  signal: AbortSignal,
): Promise<readonly RefUpdate[]> {
  const { repository, base, ledger, pushed } = view
  const { at } = (await repository.commit(base, signal)).author
  const writes = {
    ...NO_WRITES,
    commits: [
      {
        name: CONFIGURE_REF,
        parents: [base],
        base,
        changes: convertToChanges(files),
        message: listMessages(view)[0],
        signOff: deriveHouseRules(view.policies).commit.signOff,
        at,
      },
    ],
    updates: [{ ref: CONFIGURE_REF, from, to: { commit: CONFIGURE_REF } }],
    ledgerLines: [`${CONFIGURE_BRANCH}: proposed`],
  }
  const { updates } = await applyWrites(
    repository,
    writes,
    { ...reported, head: ledger, pushed },
    signal,
  )
  return updates
}

const MESSAGE = `chore(drift): configure Backporch

Enrols this repository: the policy says what is done about drift. Nothing is recorded and nothing is proposed before this is merged.
`

function listMessages({ policies }: RepositoryView): readonly [string, ...string[]] {
  return [formatHouseMessage(MESSAGE, deriveHouseRules(policies).commit), MESSAGE]
}

async function propose(
  forge: Forge,
  { view, subject, proposal }: Onboarding,
  pushed: ObjectId | undefined,
  signal: AbortSignal,
): Promise<OpenedProposal | undefined> {
  const commit = pushed ?? view.refs.get(CONFIGURE_REF)
  if (subject === undefined || commit === undefined) return undefined
  const own = {
    ref: `refs/heads/${CONFIGURE_BRANCH}`,
    commit,
    baseBranch: view.baseBranch,
    ...formatOnboardingText(subject),
    reviewers: [],
  }
  const wanted = applyHouseRules(own, deriveHouseRules(view.policies), proposal)
  return forge.ensureProposal(wanted, proposal, signal)
}
