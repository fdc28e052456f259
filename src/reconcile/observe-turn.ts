/** Everything that a turn reads: repository, clusters and forge, each once. Nothing is decided and nothing is written. */
import { type Failure, failuresOf } from '../failure.ts'
import type { ProposalRequests } from '../plan/commands/proposal-requests.ts'
import type { UnobservedProposal } from '../plan/forge/plan-proposals.ts'
import type { EndedBranch } from '../plan/turn/turn-action.ts'
import type { ClusterReader } from '../ports/cluster.ts'
import { isHosted } from './apply/is-hosted.ts'
import { readEndedPolicyBranches } from './apply/propose-policy.ts'
import { observeRequests, type RequestsQuestion } from './commands/observe-requests.ts'
import { eachOf } from './each-of.ts'
import { judgeBranches } from './judge-branches.ts'
import { presentTime } from './observe/observe.ts'
import { type LookRequest, lookAtCluster, lookAtRepository, type ObservedCluster, type ObservedUnit } from './observe/observe-units.ts'
import { type Board, readBoard } from './repository/board.ts'
import { readCodeOwners } from './repository/read-base-text.ts'
import { readUnobservedProposals } from './repository/read-unobserved-proposals.ts'
import type { RepositoryView } from './repository/repository-view.ts'
import type { FleetPorts, TurnPorts, TurnRequest } from './turn-request.ts'

export interface NotObserved {
  readonly cluster: string
  readonly failures: readonly [Failure, ...Failure[]]
  /** RFC 3339 UTC: when it was looked at. */
  readonly at: string
}

export interface TurnObservation {
  readonly view: RepositoryView
  readonly board: Board
  readonly clusters: readonly ObservedCluster[]
  /** Of all clusters, in their order; whose their branches are is known. */
  readonly units: readonly ObservedUnit[]
  /** Clusters of which nothing could be observed. */
  readonly notObserved: readonly NotObserved[]
  /** Open proposals all of whose clusters are among `notObserved`. */
  readonly unobservedProposals: readonly UnobservedProposal[]
  readonly requests: readonly ProposalRequests[]
  /** Branches that are left of changes of the policy. */
  readonly endedBranches: readonly EndedBranch[]
  /** CODEOWNERS of the base branch; empty where there is none, and where git alone is the forge. */
  readonly codeOwners: string
  /** RFC 3339 UTC: the latest observation of a cluster; empty where there is none. */
  readonly observedAt: string
  /** RFC 3339 UTC: `observedAt`, or the time of the look where nothing was observed. */
  readonly now: string
}

/** Clusters read at once. */
const CLUSTERS_AT_ONCE = 4

/** @throws Failure BP40xx or BP50xx where the repository or the forge cannot be read; of a cluster it is in `notObserved` */
export async function observeTurn(
  ports: FleetPorts,
  request: TurnRequest & Pick<RequestsQuestion, 'obstacles'>,
  signal: AbortSignal,
): Promise<TurnObservation> {
  const { forge, repository } = ports
  const view = await lookAtRepository(ports, request, signal)
  const board = await readBoard(forge, view, signal)
  const seen = await eachOf(ports.clusters, CLUSTERS_AT_ONCE, (cluster) => lookOrFail(view, cluster, request, signal))
  const notObserved = seen.flatMap((one) => ('failures' in one ? [one] : []))
  const clusters = seen.flatMap((one) => ('failures' in one ? [] : [one]))
  const observedAt = clusters.reduce((latest, { identity }) => (identity.observedAt > latest ? identity.observedAt : latest), '')
  const units = await judgeBranches(
    clusters.flatMap((one) => one.units),
    { repository, renderer: request.renderer },
    signal,
  )
  const seenByForge = isHosted(forge) ? forge : undefined
  const names = ports.clusters.map(({ name }) => name)
  return {
    view,
    board,
    clusters,
    units,
    notObserved,
    unobservedProposals:
      seenByForge === undefined
        ? []
        : await readUnobservedProposals(
            view,
            notObserved.map(({ cluster }) => cluster),
            request.bot,
            signal,
          ),
    endedBranches:
      seenByForge === undefined || request.presses === undefined ? [] : await readEndedPolicyBranches(view, seenByForge, signal),
    codeOwners: seenByForge === undefined ? '' : await readCodeOwners(view, signal),
    observedAt,
    now: observedAt === '' ? presentTime(request.clock) : observedAt,
    // Last, so that an edit of a comment is seen however long the clusters take.
    requests:
      seenByForge === undefined || request.presses === undefined
        ? []
        : await observeRequests(view, seenByForge, { ...request, clusters: names, presses: request.presses }, signal),
  }
}

async function lookOrFail(
  view: RepositoryView,
  cluster: ClusterReader,
  request: TurnRequest,
  signal: AbortSignal,
): Promise<ObservedCluster | NotObserved> {
  try {
    return await lookAtCluster(view, cluster, request, signal)
  } catch (thrown) {
    if (signal.aborted) throw thrown
    return { cluster: cluster.name, failures: failuresOf(thrown), at: presentTime(request.clock) }
  }
}

/** One cluster, to decide about it. @throws Failure when nothing can be observed */
export async function observeUnits(
  ports: TurnPorts,
  request: LookRequest,
  signal: AbortSignal,
): Promise<{ readonly view: RepositoryView; readonly units: readonly ObservedUnit[] }> {
  const view = await lookAtRepository(ports, request, signal)
  const { units } = await lookAtCluster(view, ports.cluster, request, signal)
  return { view, units }
}
