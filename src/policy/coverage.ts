/**
 * Without a placement, only live shows coverage (docs/adr/0041-what-a-package-covers.md). Anybody
 * may use a field manager's name, and marks can be copied; but only the applier knows what was
 * applied. So an object is the package's if its syncer wrote it, and everything that the syncer
 * wrote there is content of the package, of this commit or an earlier one.
 */
import type { Failure } from '@backporch/kyaml/failure'
import {
  buildFieldSet,
  type FieldManager,
  type FieldSchema,
  formatFieldPath,
  getManagedFields,
  listLeaves,
} from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { isSecret } from '@backporch/kyaml/redaction'
import { getResourceKey, type LiveView, type ResourceId } from '@backporch/kyaml/resource'
import { classifyManager, isSyncer } from '../drift/attribute/actor.ts'
import { isBootstrapOf } from '../drift/attribute/syncer.ts'
import type { Drift, ObjectVerdict, SyncerManager } from '../drift/compare/drift.ts'
import { listDifferingLeaves } from '../drift/compare/equal-values.ts'
import { mergeSecretData } from '../drift/compare/secret-data.ts'
import { isServerDefault } from '../drift/noise/defaulted-fields.ts'
import { hasNoOwners } from '../drift/unowned/unowned-fields.ts'
import { listClaims } from '../syncers/claims.ts'
import { CLIENT_SIDE_APPLY, isCreateOnlyManager, KUBECTL_CREATE } from '../syncers/kubectl.ts'
import { getApplierKind } from '../syncers/registry.ts'
import type { Claim } from '../syncers/syncer.ts'
import { createOutsideFailure, isNamespace } from './boundary.ts'

interface CoverageQuestion {
  readonly detected: readonly ObjectVerdict[]
  readonly decided: readonly ObjectVerdict[]
  readonly live: LiveView
  readonly schemas: ReadonlyMap<string, FieldSchema>
  readonly syncer: SyncerManager | undefined
}

interface Evidence {
  readonly proven: boolean
  readonly agreed: number
  /**
   * Values that the syncer wrote and no commit had; without a syncer's write, all values that no
   * person changed by hand.
   */
  readonly contradicted: number
  /** People changed everything applied by hand. */
  readonly overwritten: boolean
  /** No field has an owner, so the applier is unknown. */
  readonly unowned: boolean
}

export class Coverage {
  private readonly evidence: ReadonlyMap<string, Evidence>
  private readonly locations: ReadonlyMap<string, string>
  private readonly claims: readonly Claim[]
  private readonly own: ReadonlySet<Claim>
  /** Applier's kind, by `getResourceKey`, for appliers limited to another namespace. */
  private readonly ofOtherNamespaces: ReadonlyMap<string, string>
  private readonly namespaces: ReadonlySet<string>
  private readonly anchored: boolean

  constructor(question: CoverageQuestion) {
    this.evidence = collectEvidence(question)
    this.claims = listClaims(question.live)
    this.locations = new Map(
      question.detected.map(({ id }) => [getResourceKey(id), getNamespace(id)]),
    )
    const namespaced = new Map(
      question.detected.map(({ id }) => [getResourceKey(id), id.namespace]),
    )
    const shown = [...this.evidence].flatMap(([key, { proven, agreed }]) =>
      proven && agreed > 0 ? [key] : [],
    )
    this.ofOtherNamespaces = indexObjectsOfOthers(this.claims, shown)
    const anchors = shown.filter((key) => !this.ofOtherNamespaces.has(key))
    this.anchored = anchors.length > 0
    this.own = new Set(this.claims.filter(({ objects }) => anchors.some((key) => objects.has(key))))
    this.namespaces = new Set(
      anchors.map((key) => namespaced.get(key) ?? '').filter((namespace) => namespace !== ''),
    )
  }

  /**
   * For undeclared objects. An inventory may list any object, so the object itself must have its
   * mark, unless the package is at home in its namespace.
   * @param claimed objects of the package, by `getResourceKey`, with the inventory's mark
   */
  hasListed(id: ResourceId, claimed: ReadonlySet<string>, bearsMark: boolean): boolean {
    return this.namespaces.has(id.namespace) || (bearsMark && this.isOwnInventory(claimed))
  }

  isOwnInventory(claimed: ReadonlySet<string>): boolean {
    const shown = [...claimed].map((key) =>
      this.ofOtherNamespaces.has(key) ? undefined : this.evidence.get(key),
    )
    return shown.some((evidence) => evidence?.proven === true && evidence.agreed > 0)
  }

  /** So that a merged decision may write it. */
  isProven(id: ResourceId): boolean {
    const key = getResourceKey(id)
    if (this.ofOtherNamespaces.has(key)) return false
    if (this.evidence.get(key)?.proven === true) return true
    const marks = this.claims.filter(({ objects }) => objects.has(key))
    if (marks.length > 0) return marks.some((claim) => this.own.has(claim))
    return this.namespaces.has(getNamespace(id))
  }

  /** Undefined if the package covers it, as far as known. */
  explainOutside(id: ResourceId): Failure | undefined {
    if (this.isProven(id) || (!this.anchored && this.isMostlyAgreeing(id))) return undefined
    const marked = this.claims.find(({ objects }) => objects.has(getResourceKey(id)))
    const kind = this.ofOtherNamespaces.get(getResourceKey(id))
    if (kind !== undefined)
      return createOutsideFailure(
        id,
        'TEN-OTHER-SYNCER',
        `its marks name a ${kind} of another namespace than most of the package, and a ${kind} applies only to its own`,
      )
    const { overwritten, unowned } = this.evidence.get(getResourceKey(id)) ?? {}
    if (marked === undefined && (overwritten === true || unowned === true)) return undefined
    if (marked !== undefined)
      return createOutsideFailure(
        id,
        'TEN-OTHER-SYNCER',
        'its marks name a syncer or an inventory that applied no content of the package',
      )
    return createOutsideFailure(
      id,
      'TEN-NOT-APPLIED',
      'no live object shows that the syncer of the package applied it, or anything else in its namespace',
    )
  }

  /**
   * The package was applied from uncommitted files, or completely changed by hand. Observed, but
   * not written to, unless git never had more than twice as many applied values as it has.
   */
  private isMostlyAgreeing(id: ResourceId): boolean {
    let [agreed, contradicted] = [0, 0]
    for (const key of this.listScope(id)) {
      const evidence = this.evidence.get(key)
      agreed += evidence?.agreed ?? 0
      contradicted += evidence?.contradicted ?? 0
    }
    return agreed * 2 >= contradicted
  }

  private listScope(id: ResourceId): Iterable<string> {
    const key = getResourceKey(id)
    const mark = this.claims.find(({ objects }) => objects.has(key))
    if (mark !== undefined) return mark.objects
    if (getNamespace(id) === '') return [key]
    const marked = new Set(this.claims.flatMap(({ objects }) => [...objects]))
    return [...this.locations].flatMap(([other, location]) =>
      location === getNamespace(id) && !marked.has(other) ? [other] : [],
    )
  }
}

/**
 * One package never has appliers of two namespaces, if they apply only to their own. It belongs to
 * the namespace with most proven objects; with a tie, this is unknown.
 */
function indexObjectsOfOthers(
  claims: readonly Claim[],
  shown: readonly string[],
): ReadonlyMap<string, string> {
  const namespaces = new Map<string, Map<string, string>>()
  for (const { tool, kind, namespace, objects } of claims)
    if (getApplierKind(tool).ownNamespaceOnly({ kind })) {
      const kinds = namespaces.get(namespace) ?? new Map<string, string>()
      for (const key of objects) kinds.set(key, kind)
      namespaces.set(namespace, kinds)
    }
  const counted = [...namespaces.values()].map((kinds) => ({
    kinds,
    count: shown.filter((key) => kinds.has(key)).length,
  }))
  const most = Math.max(0, ...counted.map(({ count }) => count))
  return new Map(counted.flatMap(({ kinds, count }) => (count < most ? [...kinds] : [])))
}

function getNamespace(id: ResourceId): string {
  return isNamespace(id) ? id.name : id.namespace
}

function collectEvidence({
  detected,
  decided,
  live,
  schemas,
  syncer,
}: CoverageQuestion): ReadonlyMap<string, Evidence> {
  const waiting = new Set(
    decided.flatMap(({ setAside }) => setAside.map(({ drift }) => formatLocation(drift))),
  )
  // An older content that came back was also once in git.
  for (const { items } of decided)
    for (const drift of items)
      if (drift.rolledBack !== undefined) waiting.add(formatLocation(drift))
  return new Map(
    detected.flatMap((verdict): [string, Evidence][] => {
      const key = getResourceKey(verdict.id)
      const state = live.get(key)
      const schema = schemas.get(key)
      if (state?.state !== 'present' || schema === undefined || verdict.desired === undefined)
        return []
      const { object } = verdict.desired
      const desired = isSecret(verdict.id) ? mergeSecretData(object) : object
      return [
        [
          key,
          collectObjectEvidence(verdict, { desired, live: state.object, schema }, syncer, waiting),
        ],
      ]
    }),
  )
}

interface Sides {
  readonly desired: JsonObject
  readonly live: JsonObject
  readonly schema: FieldSchema
}

function collectObjectEvidence(
  { items, mayBeBehind }: ObjectVerdict,
  { desired, live, schema }: Sides,
  syncer: SyncerManager | undefined,
  waiting: ReadonlySet<string>,
): Evidence {
  const managed = getManagedFields(live)
  const unowned = hasNoOwners(managed)
  const byManagers = syncer !== undefined && !unowned
  const own = managed.entries.filter(({ subresource }) => subresource === '')
  const wrote = !byManagers || own.some((entry) => isSyncer(entry, syncer))
  // Nothing shows who removed an absent object, and what is not live cannot be reported.
  const reported = items.filter(
    (drift) => drift.change !== 'removed' && !waiting.has(formatLocation(drift)),
  )
  // An Update owns the defaults, which nobody wrote.
  const written = reported.filter((drift) => !isServerDefault(drift, live))
  const bootstrapped = byManagers && !wrote && own.some((entry) => isBootstrapOf(entry, syncer))
  const contradicted = written.filter((drift) => {
    if (bootstrapped) return isBootstrapOf(drift.actor, syncer)
    return byManagers && wrote ? mayBeBehind?.has(drift) === true : !isByHand(drift)
  })
  const wanted = buildFieldSet(desired, schema)
  const differing = [...listDifferingLeaves(wanted, desired, live, schema)].length
  const agreed = listLeaves(wanted).length - differing
  const applied =
    bootstrapped ||
    (byManagers &&
      own.some((entry) => isSyncer(entry, syncer) && !isCreateOnlyManager(entry.manager)))
  const proven =
    (byManagers ? applied : wrote) && (byManagers ? contradicted : reported).length === 0
  const overwritten =
    byManagers && !wrote && managed.entries.length > 0 && managed.entries.every(isEdit)
  return { proven, agreed, contradicted: contradicted.length, overwritten, unowned }
}

function isEdit({ manager, operation, subresource }: FieldManager): boolean {
  const writer = classifyManager(manager)
  if (subresource !== '' || writer === 'controller') return true
  return (
    operation === 'Update' &&
    writer === 'human-tool' &&
    manager !== CLIENT_SIDE_APPLY &&
    manager !== KUBECTL_CREATE
  )
}

function formatLocation({ id, path }: Drift): string {
  return `${getResourceKey(id)}#${formatFieldPath(path)}`
}

function isByHand({ actor }: Drift): boolean {
  return actor.class === 'human-tool' && actor.operation === 'Update'
}
