/**
 * The rights that Backporch needs in one cluster: those of the requests of one observation, and
 * those of the requests that depend on the state of the cluster.
 */
import { isSecret } from '@backporch/kyaml/redaction'
import type { ResourceId } from '@backporch/kyaml/resource'
import type { TracedResource } from '@backporch/system/trace'
import { COUNTED_BY_PODS } from '../../../status/owned-pods.ts'
import { EPOCH_KINDS } from '../../observe/verdicts/kind-epochs.ts'

/**
 * `observe`: lists and watches. `dryrun`: also dry runs of what the packages declare. `settle`:
 * also the writes that merged commits authorise.
 */
export type RightsLevel = 'observe' | 'dryrun' | 'settle'

export interface RightsQuestion {
  /** Of one observation by an account that may read everything. */
  readonly requests: readonly TracedResource[]
  /** Declared and live objects of the packages. */
  readonly objects: readonly ResourceId[]
  readonly level: RightsLevel
  /** Whether Events are written. */
  readonly events: boolean
  /** Whether the kinds of the packages are granted in the namespaces of the packages only. */
  readonly isNamespaced: boolean
}

export interface Right {
  readonly group: string
  /** Plural, as RBAC names it. */
  readonly resource: string
  readonly verbs: readonly string[]
  /** Undefined for all namespaces, and for cluster-scoped kinds. */
  readonly namespace: string | undefined
  /** Empty for all. */
  readonly names: readonly string[]
}

interface NeededRights {
  readonly rights: readonly Right[]
  /** Kinds of the packages that were not asked for, because the server does not serve them. */
  readonly unserved: readonly ResourceId[]
}

const READING = ['list', 'watch']
const DRY_RUN = ['create', 'patch']

/** The order is that of the text, so that equal questions give equal files. */
export function computeNeededRights(question: RightsQuestion): NeededRights {
  const { requests, objects, level, isNamespaced } = question
  const plurals = new Map(requests.map((each) => [`${each.group}/${each.kind}`, each]))
  const owned = new Set(objects.map(({ group, kind }) => `${group}/${kind}`))
  const unserved = objects.filter(({ group, kind }) => !plurals.has(`${group}/${kind}`))
  const rights: Right[] = [...listFixedRights(question)]
  for (const request of requests) {
    const key = `${request.group}/${request.kind}`
    // `get` is asked for kube-system alone, which is fixed.
    if (request.verb !== 'list') continue
    if (isSecret(request)) rights.push(nameSecret(request))
    // Lists over all namespaces are refused without a right, and replaced by lists of each one.
    else if (!(isNamespaced && owned.has(key)))
      rights.push({ ...nameKind(request), verbs: READING })
  }
  for (const { group, kind, namespace, name } of objects) {
    const served = plurals.get(`${group}/${kind}`)
    if (served === undefined) continue
    const secret = isSecret(served)
    const right = {
      ...nameKind(served),
      namespace: isNamespaced || secret ? namespace || undefined : undefined,
      names: secret ? [name] : [],
    }
    rights.push({ ...right, verbs: READING })
    if (level !== 'observe') rights.push({ ...right, verbs: ['patch'] })
    // A create has no name that a rule could compare.
    if (level !== 'observe') rights.push({ ...right, verbs: ['create'], names: [] })
    if (level === 'settle') rights.push({ ...right, verbs: ['delete', 'get'] })
  }
  return { rights: mergeRights(rights), unserved }
}

function* listFixedRights({ objects, events, isNamespaced }: RightsQuestion): Iterable<Right> {
  const fixed = { namespace: undefined, names: [] }
  // By its uid, a cluster is recognised.
  yield {
    ...fixed,
    group: '',
    resource: 'namespaces',
    verbs: ['get', 'list'],
    names: ['kube-system'],
  }
  for (const { apiVersion, kind } of EPOCH_KINDS)
    yield {
      ...fixed,
      group: apiVersion.slice(0, apiVersion.indexOf('/')),
      resource: formatEpochPlural(kind),
      verbs: READING,
    }
  // While a rollout waits.
  for (const { group, kind, namespace } of objects)
    if (group === 'apps' && COUNTED_BY_PODS.has(kind))
      yield {
        ...fixed,
        group: '',
        resource: 'pods',
        verbs: ['list'],
        namespace: isNamespaced ? namespace : undefined,
      }
  if (events) yield { ...fixed, group: 'events.k8s.io', resource: 'events', verbs: DRY_RUN }
}

/** Names of Kubernetes itself: English plurals. */
function formatEpochPlural(kind: string): string {
  const name = kind.toLowerCase()
  return name.endsWith('y') ? `${name.slice(0, -1)}ies` : `${name}s`
}

function nameKind({ group, plural }: TracedResource) {
  return { group, resource: plural, namespace: undefined, names: [] }
}

/** Without a name: the releases of Helm, which are found by their label. */
function nameSecret(request: TracedResource): Right {
  const { namespace, name } = request
  return {
    ...nameKind(request),
    namespace: namespace || undefined,
    names: [name].filter(Boolean),
    verbs: READING,
  }
}

/** One rule for each kind in a namespace and set of names, with what a wider one grants left out. */
function mergeRights(rights: readonly Right[]): readonly Right[] {
  const atoms = rights.flatMap(({ names, verbs, ...place }) =>
    verbs.flatMap((verb) =>
      (names.length === 0 ? [undefined] : names).map((name) => ({ ...place, name, verb })),
    ),
  )
  type Atom = (typeof atoms)[number]
  const format = ({ namespace = '', group, resource, name = '', verb }: Atom): string =>
    JSON.stringify([namespace, group, resource, name, verb])
  const known = new Set(atoms.map(format))
  const isCovered = (atom: Atom): boolean => {
    const everyName = { ...atom, name: undefined }
    return [everyName, { ...everyName, namespace: undefined }].some(
      (wider) => format(wider) !== format(atom) && known.has(format(wider)),
    )
  }
  const needed = [...new Map(atoms.map((atom) => [format(atom), atom])).values()].filter(
    (atom) => !isCovered(atom),
  )
  const named = Map.groupBy(needed, (atom) => format({ ...atom, verb: '' }))
  const rules = [...named.values()].map((same) => ({
    ...(same[0] as Atom),
    verbs: same.map(({ verb }) => verb).sort(),
  }))
  const merged = Map.groupBy(rules, ({ verbs, name, ...rule }) =>
    format({ ...rule, name: name && '*', verb: verbs.join() }),
  )
  return [...merged]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([, same]) => {
      const { group, resource, namespace, verbs } = same[0] as (typeof rules)[number]
      const names = same.flatMap(({ name }) => name ?? []).sort()
      return { group, resource, namespace, verbs, names }
    })
}
