import type { HostedForge } from '@backporch/forge/hosted-forge'
import { omitUndefined } from '@backporch/kyaml/text'
import { removeUnmadeReports } from '../../plan/turn/ledger/without-refs.ts'
import type {
  LostUnit,
  NotObserved,
  ObservedUnit,
  TurnObservation,
} from '../../plan/turn/turn-observation.ts'
import {
  type DashboardTicks,
  NO_TICKS,
  readDashboardTicks,
} from '../../proposal/text/dashboard-ticks.ts'
import { ClusterDeadline } from '../observe/cluster-deadline.ts'
import { formatPresentTime } from '../observe/observe.ts'
import { observeInGit } from '../observe/observe-in-git.ts'
import {
  type ObservedCluster,
  observeCluster,
  observeRepository,
} from '../observe/observe-units.ts'
import type { UnmanagedObjects } from '../observe/read-unmanaged.ts'
import type { RefusedRefs } from '../observe/refused-refs.ts'
import type { FleetPorts, ObserveRequest, TurnPorts, TurnRequest } from '../observe/turn-request.ts'
import { mapConcurrent } from '../repository/each-of.ts'
import { isHosted } from '../repository/is-hosted.ts'
import { judgeBranches } from '../repository/judge-branches.ts'
import { readCodeOwners } from '../repository/read-base-text.ts'
import { readLostUnits } from '../repository/read-lost-units.ts'
import { readUnobservedProposals } from '../repository/read-unobserved-proposals.ts'
import {
  getLedgerContent,
  listClusterPackages,
  type RepositoryView,
} from '../repository/repository-view.ts'
import {
  addDiscoveredUnits,
  addSources,
  discoverSources,
} from '../repository/sources/discover-sources.ts'
import { readEndedPolicyBranches } from './apply/propose-policy.ts'
import { readDashboard } from './poll-repository.ts'
import { observeRequests, type RequestsQuestion } from './requests/observe-requests.ts'

interface ObservedTurn {
  readonly view: RepositoryView
  readonly observed: TurnObservation
  readonly unmanaged: readonly UnmanagedObjects[]
}

const CLUSTERS_AT_ONCE = 4

/**
 * @throws Failure BP40xx or BP50xx if the repository or the forge cannot be read; not for a cluster
 */
export async function observeTurn(
  ports: FleetPorts,
  request: TurnRequest &
    Pick<RequestsQuestion, 'obstacles'> & { readonly refusedRefs: RefusedRefs },
  signal: AbortSignal,
): Promise<ObservedTurn> {
  const { forge, repository } = ports
  const { requestedActions, resolutionRequest, version } = request.forge
  const { only } = request.units
  const wanted =
    only === undefined ? ports.clusters : ports.clusters.filter(({ name }) => only.has(name))
  const { refusedRefs } = request
  const found = await observeRepository(ports, request, signal)
  const read = { ...found, reports: removeUnmadeReports(found.reports, refusedRefs.notMade) }
  const asked = await mapConcurrent(wanted, CLUSTERS_AT_ONCE, async (cluster) => {
    const deadline = new ClusterDeadline(cluster.name, request)
    return {
      cluster,
      deadline,
      sources: await deadline.limit(signal, (limit) =>
        discoverSources(read, cluster, request.renderer, limit),
      ),
    }
  })
  const view = addDiscoveredUnits(
    read,
    asked.flatMap(({ sources }) => ('failures' in sources ? [] : [sources])),
  )
  const ledger = getLedgerContent(view)
  const hosted = isHosted(forge) ? forge : undefined
  const ticks = hosted === undefined ? NO_TICKS : await readTicks(hosted, view, signal)
  const observations = await mapConcurrent(
    asked,
    CLUSTERS_AT_ONCE,
    async ({ cluster, deadline, sources }) => {
      if ('failures' in sources) return sources
      const answer = await deadline.limit(signal, (limit) =>
        observeCluster(view, cluster, request, limit),
      )
      if (!('failures' in answer))
        request.between?.rememberDuration(cluster.name, deadline.duration)
      return answer
    },
  )
  const notObserved = observations.flatMap((one) => ('failures' in one ? [one] : []))
  const observed = observations.flatMap((one) => ('failures' in one ? [] : [one]))
  const units = await judgeBranches(
    observed.flatMap((one) => one.units),
    { repository, renderer: request.renderer },
    signal,
  )
  const lost = await readLost(view, { observed, notObserved }, signal)
  const inGit =
    request.mode === 'read'
      ? []
      : await observeInGit(view, { observed, notObserved }, request, signal)
  const answers =
    hosted !== undefined && requestedActions !== undefined
      ? { forge: hosted, requestedActions }
      : undefined
  const names = ports.clusters.map(({ name }) => name)
  const { baseBranch, base, refs, packages, ledgerTree, closed } = view
  const turn: TurnObservation = {
    git: {
      ...{ baseBranch, base, refs, packages, ledgerTree, closed },
      refused: refusedRefs.listWaiting(request.clock.now().getTime()),
      ledger,
      lost,
      codeOwners: hosted === undefined ? '' : await readCodeOwners(view, signal),
      endedBranches:
        answers === undefined ? [] : await readEndedPolicyBranches(view, answers.forge, signal),
    },
    cluster: { observed, notObserved, units, inGit },
    forge: {
      proposals: view.proposals,
      dialect: forge.dialect,
      hosted: hosted !== undefined,
      ticks,
      unobservedProposals:
        hosted === undefined
          ? []
          : await readUnobservedProposals(view, notObserved, request.git.bot, signal),
      // Last, because reading the clusters takes long and people edit comments meanwhile.
      requests:
        answers === undefined
          ? []
          : await observeRequests(
              view,
              answers.forge,
              {
                units: request.units,
                bot: request.git.bot,
                clusters: names,
                requestedActions: answers.requestedActions,
                obstacles: request.obstacles,
              },
              signal,
            ),
    },
    policy: view.policies,
    clock: {
      present: formatPresentTime(request.clock),
      observedAt: getLatest(observed),
      ledgerPushedAt: request.between?.ledgerPushedAt,
    },
    purpose: {
      resolutionRequest,
      observations: request.mode === 'read',
      settles: ports.openWriter !== undefined,
      whole:
        request.units.packages.length === 0 &&
        request.units.labels === undefined &&
        only === undefined,
      ...omitUndefined({ watched: request.units.watched }),
      version,
    },
    answers: new Map(),
  }
  return { view, observed: turn, unmanaged: observed.flatMap((one) => one.unmanaged ?? []) }
}

async function readTicks(
  forge: HostedForge,
  view: RepositoryView,
  signal: AbortSignal,
): Promise<DashboardTicks> {
  const issue = await readDashboard(forge, view, signal)
  return issue === undefined ? NO_TICKS : readDashboardTicks(issue.body)
}

function getLatest(observed: readonly ObservedCluster[]): string | undefined {
  return observed
    .map(({ identity }) => identity.observedAt)
    .sort()
    .at(-1)
}

async function readLost(
  view: RepositoryView,
  {
    observed,
    notObserved,
  }: {
    readonly observed: readonly ObservedCluster[]
    readonly notObserved: readonly NotObserved[]
  },
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly LostUnit[]>> {
  const lost = new Map<string, readonly LostUnit[]>()
  for (const { cluster, units } of observed) {
    const failed = units.flatMap((unit) => (unit.state === 'failed' ? [unit.packagePath] : []))
    lost.set(
      cluster,
      await readLostUnits(view, { cluster, lost: failed, isExpected: true }, signal),
    )
  }
  for (const { cluster } of notObserved) {
    // No later turn would correct a unit that none observes.
    const expected = listClusterPackages(view, cluster).map(({ path }) => path)
    const isExpected = view.policies.placements.length > 0
    lost.set(cluster, await readLostUnits(view, { cluster, lost: expected, isExpected }, signal))
  }
  return lost
}

/** @throws Failure when nothing can be observed */
export async function observeUnits(
  ports: TurnPorts,
  request: ObserveRequest,
  signal: AbortSignal,
): Promise<{ readonly view: RepositoryView; readonly units: readonly ObservedUnit[] }> {
  const view = await addSources(
    await observeRepository(ports, request, signal),
    [ports.cluster],
    request.renderer,
    signal,
  )
  const { units } = await observeCluster(view, ports.cluster, request, signal)
  return { view, units }
}
