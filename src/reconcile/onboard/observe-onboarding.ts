import type { ClusterIdentity, ClusterReader } from '@backporch/cluster/cluster'
import { convertToFailure, Failure } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import { type Resource, readResource } from '@backporch/kyaml/resource'
import { omitUndefined } from '@backporch/kyaml/text'
import type { ObservedUnit } from '../../plan/turn/turn-observation.ts'
import { AUTOSCALER_KINDS, countAutoscalers } from '../../policy/count-autoscalers.ts'
import {
  type AppliedPackage,
  type ImportedIgnores,
  importIgnores,
} from '../../policy/import-ignores.ts'
import { addOperatorPolicies, type Policy, type PolicySet } from '../../policy/parse-policy.ts'
import { API_VERSION } from '../../record/documents/document.ts'
import { listClaims } from '../../syncers/claims.ts'
import { IGNORE_SOURCES } from '../../syncers/registry.ts'
import { observeCluster } from '../observe/observe-units.ts'
import type { ObserveRequest } from '../observe/turn-request.ts'
import { mapConcurrent } from '../repository/each-of.ts'
import type { RepositoryView } from '../repository/repository-view.ts'
import { getUnitPackagePath } from './onboard-expect.ts'

const LISTS_AT_ONCE = 4
const PACKAGES_AT_ONCE = 4

export interface OnboardingView {
  readonly identity: ClusterIdentity
  readonly units: readonly ObservedUnit[]
  readonly ignores: ImportedIgnores
  readonly autoscalers: ReturnType<typeof countAutoscalers>
  readonly there: ReadonlySet<string>
  readonly notObserved: readonly string[]
}

/**
 * Ignores modes, ignore rules and placements: every package is fully observed.
 * @throws Failure when nothing of the cluster can be observed
 */
export async function observeForOnboarding(
  view: RepositoryView,
  cluster: ClusterReader,
  request: ObserveRequest,
  signal: AbortSignal,
): Promise<OnboardingView> {
  const { operator } = request.policy
  const policies = openToAll(
    operator === undefined ? view.policies : addOperatorPolicies(view.policies, operator),
  )
  const { identity, units } = await observeCluster({ ...view, policies }, cluster, request, signal)
  request.onProgress?.('looking for syncers and autoscalers')
  const kinds = [
    ...IGNORE_SOURCES.map(({ group, kind }) => [group, kind] as const),
    ...AUTOSCALER_KINDS,
  ]
  const lists = await mapConcurrent(kinds, LISTS_AT_ONCE, ([group, kind]) =>
    listKind(cluster, group, kind, signal),
  )
  const found = lists.flatMap(({ resources }) => resources)
  const isAutoscaler = ({ id }: Resource): boolean =>
    AUTOSCALER_KINDS.some(([group, kind]) => group === id.group && kind === id.kind)
  const packages = await mapConcurrent(units, PACKAGES_AT_ONCE, (unit) =>
    findAppliedPackage(unit, cluster, signal),
  )
  const applied = packages.filter((one) => one !== undefined)
  const partial = lists.flatMap(({ kind, complete }) => (complete ? [] : [kind]))
  return {
    identity,
    units,
    ignores: importIgnores(
      found.filter((one) => !isAutoscaler(one)),
      applied,
    ),
    autoscalers: countAutoscalers(found.filter(isAutoscaler)),
    there: new Set(
      units.flatMap((unit, index) =>
        packages[index]?.absent === true ? [] : [getUnitPackagePath(unit)],
      ),
    ),
    notObserved: [
      ...lists.flatMap(({ problem }) => (problem === undefined ? [] : [problem])),
      ...(partial.length === 0
        ? []
        : [`the recording does not say that it has every ${partial.join(', ')}`]),
    ],
  }
}

/** Hiding is decided when counting. Package bindings stay. */
function openToAll({ policies, bindings = [], folders, synced }: PolicySet): PolicySet {
  const everything: Policy = {
    document: {
      apiVersion: API_VERSION,
      kind: 'DriftPolicy',
      metadata: { name: 'what-if' },
      spec: { mode: 'Propose' },
    },
    where: '',
    ignore: [],
    windows: [],
    actors: [],
    riskOverrides: [],
    visibility: { hide: [], show: [] },
  }
  const others = policies.map((policy) => {
    const { mode: _mode, enforce: _enforce, ...spec } = policy.document.spec
    return { ...policy, document: { ...policy.document, spec }, ignore: [] }
  })
  return {
    policies: [everything, ...others],
    placements: [],
    bindings,
    ...omitUndefined({ folders, synced }),
  }
}

interface KindList {
  readonly kind: string
  readonly resources: readonly Resource[]
  readonly complete: boolean
  readonly problem?: string
}

/** An unserved kind has no objects; any other error is not absence. */
async function listKind(
  cluster: ClusterReader,
  group: string,
  kind: string,
  signal: AbortSignal,
): Promise<KindList> {
  try {
    const { objects, complete } = await cluster.list(group, kind, signal)
    return { kind, resources: objects.flatMap(readAsResource), complete }
  } catch (thrown) {
    signal.throwIfAborted()
    const failure = convertToFailure(thrown)
    if (failure.code === 'BP3009') return { kind, resources: [], complete: true }
    if (!(thrown instanceof Failure)) throw thrown
    return {
      kind,
      resources: [],
      complete: true,
      problem: `every ${kind}: ${failure.code}, ${failure.why}`,
    }
  }
}

function readAsResource(object: JsonObject): Resource[] {
  const read = readResource(object)
  return 'problem' in read ? [] : [read]
}

interface LivePackage extends AppliedPackage {
  readonly absent: boolean
}

async function findAppliedPackage(
  unit: ObservedUnit,
  cluster: ClusterReader,
  signal: AbortSignal,
): Promise<LivePackage | undefined> {
  if (unit.state === 'failed') return undefined
  const declared = unit.observation.verdicts.filter(({ desired }) => desired !== undefined)
  // The verdicts keep only differing objects.
  const live = await cluster.readLive(
    declared.map(({ id, apiVersion }) => ({ id, apiVersion })),
    signal,
  )
  const states = [...live.values()]
  return {
    path: unit.observation.unit.packagePath,
    claims: listClaims(live),
    objects: states.flatMap((state) =>
      state.state === 'present' ? readAsResource(state.object) : [],
    ),
    absent: states.length > 0 && states.every(({ state }) => state === 'absent'),
  }
}
