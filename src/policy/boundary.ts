/**
 * If any placement has `allow`, nothing else counts: neither a syncer's writes nor the package's
 * content. Both the operator's and the repository's policy must allow, so a repository can narrow
 * its bounds but never widen them.
 */
import { Failure } from '@backporch/kyaml/failure'
import { describeResourceId, type ResourceId } from '@backporch/kyaml/resource'
import { matchesName, matchesPath } from './effective-policy.ts'
import type { Binding, PolicySet } from './parse-policy.ts'
import { TENANCY_RULES, type TenancyRule } from './tenancy-rules.ts'

export type Boundary = readonly BoundarySide[]

interface BoundarySide {
  readonly origin: Binding['origin']
  readonly own: readonly Binding[]
  /** As `.drift/policy.yaml:12`. */
  readonly locations: readonly string[]
}

export function findBoundary(
  { bindings = [] }: Pick<PolicySet, 'bindings'>,
  cluster: string,
  packagePath: string,
): Boundary | undefined {
  const here = bindings.filter(({ spec }) =>
    spec.clusters.some((glob) => matchesName(glob, cluster)),
  )
  const sides = (['operator', 'repository'] as const).flatMap((origin): BoundarySide[] => {
    const all = here.filter((binding) => binding.origin === origin)
    const own = all.filter(({ spec }) =>
      matchesPath([...(spec.packages ?? []), ...(spec.paths ?? [])], packagePath),
    )
    return all.length === 0 ? [] : [{ origin, own, locations: all.map(({ where }) => where) }]
  })
  return sides.length === 0 ? undefined : sides
}

export function explainOutside(
  boundary: Boundary | undefined,
  id: ResourceId,
): Failure | undefined {
  const refused = findBoundaryRefusal(boundary, id)
  return refused === undefined ? undefined : createOutsideFailure(id, refused.rule, refused.why)
}

interface Refusal {
  readonly rule: TenancyRule
  readonly why: string
}

export function findBoundaryRefusal(
  boundary: Boundary | undefined,
  id: ResourceId,
): Refusal | undefined {
  for (const side of boundary ?? []) {
    const refused = findSideRefusal(side, id)
    if (refused !== undefined) return refused
  }
  return undefined
}

export function createOutsideFailure(id: ResourceId, rule: TenancyRule, why: string): Failure {
  return new Failure({
    code: 'BP3017',
    what: `${describeResourceId(id)} is outside what this package covers`,
    why: `outside what this package covers: ${why} (${rule})`,
    remedy: REMEDIES[rule],
    retry: 'on-change',
  })
}

const WIDEN = 'ask the owner of the placement to allow it, or remove the object from the package'
const BIND =
  'name the namespaces and kinds of the package with allow in a Placement, or remove the object from the package'

export const REMEDIES: { readonly [rule in TenancyRule]: string } = {
  'TEN-UNBOUND': 'ask the owner of the placements to name the package in one with allow',
  'TEN-NAMESPACE': WIDEN,
  'TEN-CLUSTER-SCOPED': WIDEN,
  'TEN-OTHER-SYNCER': BIND,
  'TEN-NOT-APPLIED': BIND,
  'TEN-INVENTORY':
    'name the inventory of the package, or bind the package with allow in a Placement',
}

function findSideRefusal(
  { own, locations, origin }: BoundarySide,
  id: ResourceId,
): Refusal | undefined {
  if (own.length === 0)
    return {
      rule: 'TEN-UNBOUND',
      why: `${TENANCY_RULES['TEN-UNBOUND']} (${locations.slice(0, 3).join(', ')})`,
    }
  const of = `of the ${origin}'s Placement ${own.map(({ name, where }) => `${name} (${where})`).join(', ')}`
  if (id.namespace !== '') {
    if (isNamespaceAllowed(own, id.namespace)) return undefined
    return { rule: 'TEN-NAMESPACE', why: `allow.namespaces ${of} does not have ${id.namespace}` }
  }
  if (!own.some((binding) => isKindAllowed(binding, id)))
    return {
      rule: 'TEN-CLUSTER-SCOPED',
      why: `allow.clusterScoped ${of} does not have ${formatKindName(id)}`,
    }
  // A Namespace carries rights for its content: pod security, and selectors.
  if (isNamespace(id) && !isNamespaceAllowed(own, id.name))
    return { rule: 'TEN-NAMESPACE', why: `allow.namespaces ${of} does not have ${id.name}` }
  return undefined
}

export function isNamespace({ group, kind }: Pick<ResourceId, 'group' | 'kind'>): boolean {
  return group === '' && kind === 'Namespace'
}

function isNamespaceAllowed(own: readonly Binding[], namespace: string): boolean {
  return own.some(({ spec }) =>
    (spec.allow.namespaces ?? []).some((glob) => matchesName(glob, namespace)),
  )
}

function isKindAllowed({ spec }: Binding, id: ResourceId): boolean {
  return (spec.allow.clusterScoped ?? []).some((glob) => matchesName(glob, formatKindName(id)))
}

function formatKindName({ group, kind }: ResourceId): string {
  return group === '' ? kind : `${group}/${kind}`
}
