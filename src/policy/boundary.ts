/**
 * What placements allow a package to be compared with, and to be settled in. Where there are some with `allow`, nothing else counts: not
 * what a syncer did, and not what the package says. What the operator gives and what the repository has both have to allow it, so a
 * repository can make its own bounds narrower and never wider.
 */
import { Failure } from '@backporch/kyaml/failure'
import { describeResourceId, type ResourceId } from '@backporch/kyaml/resource'
import { matchesName, matchesPath } from './effective-policy.ts'
import type { Binding, PolicySet } from './parse-policy.ts'
import { TENANCY_RULES, type TenancyRule } from './tenancy-rules.ts'

/** Every side has to allow an object. */
export type Boundary = readonly BoundarySide[]

interface BoundarySide {
  readonly origin: Binding['origin']
  /** Those that name the package. */
  readonly own: readonly Binding[]
  /** Where the others are: `.drift/policy.yaml:12`. */
  readonly locations: readonly string[]
}

/** @returns undefined where no placement of the cluster has `allow` */
export function boundaryOf(
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

/**
 * Why an object is not one that the package may be compared with or written to; undefined where it is.
 * @param id of a namespaced object, with its namespace
 */
export function whyOutside(boundary: Boundary | undefined, id: ResourceId): Failure | undefined {
  const refused = refusalOf(boundary, id)
  return refused === undefined ? undefined : outside(id, refused.rule, refused.why)
}

/** The rule that refuses, with a clause about the object. */
interface Refusal {
  readonly rule: TenancyRule
  readonly why: string
}

export function refusalOf(boundary: Boundary | undefined, id: ResourceId): Refusal | undefined {
  for (const side of boundary ?? []) {
    const refused = refusalBy(side, id)
    if (refused !== undefined) return refused
  }
  return undefined
}

/** @param why a clause about this object */
export function outside(id: ResourceId, rule: TenancyRule, why: string): Failure {
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
  'TEN-UNBOUND': 'let whoever owns the placements name the package in one with allow',
  'TEN-NAMESPACE': WIDEN,
  'TEN-CLUSTER-SCOPED': WIDEN,
  'TEN-OTHER-SYNCER': BIND,
  'TEN-NOT-APPLIED': BIND,
  'TEN-INVENTORY':
    'name the inventory of the package, or bind the package with allow in a Placement',
}

function refusalBy({ own, locations, origin }: BoundarySide, id: ResourceId): Refusal | undefined {
  if (own.length === 0)
    return {
      rule: 'TEN-UNBOUND',
      why: `${TENANCY_RULES['TEN-UNBOUND']} (${locations.slice(0, 3).join(', ')})`,
    }
  const of = `of the ${origin}'s Placement ${own.map(({ name, where }) => `${name} (${where})`).join(', ')}`
  if (id.namespace !== '') {
    if (allowsNamespace(own, id.namespace)) return undefined
    return { rule: 'TEN-NAMESPACE', why: `allow.namespaces ${of} does not have ${id.namespace}` }
  }
  if (!own.some((binding) => allowsKind(binding, id)))
    return {
      rule: 'TEN-CLUSTER-SCOPED',
      why: `allow.clusterScoped ${of} does not have ${kindName(id)}`,
    }
  // A Namespace carries rights of all that is in it: pod security, and who selects it.
  if (isNamespace(id) && !allowsNamespace(own, id.name))
    return { rule: 'TEN-NAMESPACE', why: `allow.namespaces ${of} does not have ${id.name}` }
  return undefined
}

export function isNamespace({ group, kind }: Pick<ResourceId, 'group' | 'kind'>): boolean {
  return group === '' && kind === 'Namespace'
}

function allowsNamespace(own: readonly Binding[], namespace: string): boolean {
  return own.some(({ spec }) =>
    (spec.allow.namespaces ?? []).some((glob) => matchesName(glob, namespace)),
  )
}

function allowsKind({ spec }: Binding, id: ResourceId): boolean {
  return (spec.allow.clusterScoped ?? []).some((glob) => matchesName(glob, kindName(id)))
}

function kindName({ group, kind }: ResourceId): string {
  return group === '' ? kind : `${group}/${kind}`
}
