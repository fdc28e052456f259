/** Differences do not change, so no fingerprint depends on the writer. */
import { getManagedFields, type ManagedFields } from '@backporch/kyaml/field'
import { type AuditedWrite, getResourceKey } from '@backporch/kyaml/resource'
import { SYNCERS } from '../../syncers/registry.ts'
import type {
  Actor,
  Confidence,
  Drift,
  FieldOwner,
  ObjectVerdict,
  SyncerManager,
} from '../compare/drift.ts'
import { isSyncer, listOwners } from './actor.ts'
import { type ActorRule, classify, findActorRule } from './actor-classes.ts'
import { type AuditMatch, findAuditMatch, isControlPlaneUser } from './audit-match.ts'

export interface Attribution {
  readonly syncer: SyncerManager | undefined
  readonly rules: readonly ActorRule[]
  /** By `getResourceKey`, oldest first; empty without an audit log. */
  readonly writes: ReadonlyMap<string, readonly AuditedWrite[]>
}

const MOST_OTHERS = 5

export function attribute(verdict: ObjectVerdict, by: Attribution): ObjectVerdict {
  if (verdict.items.length === 0 && verdict.setAside.length === 0) return verdict
  const managed = verdict.live === undefined ? undefined : getManagedFields(verdict.live)
  const writes = by.writes.get(getResourceKey(verdict.id)) ?? []
  const accounts = findSyncerAccounts(writes, by.syncer)
  const attributed = (drift: Drift): Actor => {
    const others = managed === undefined ? [] : listOtherOwners(drift, managed, by)
    const shared = others.length === 0 ? {} : { others }
    const auditMatch = writes.length === 0 ? undefined : findAuditMatch(drift, writes, by.syncer)
    const { actor } = drift
    if (auditMatch !== undefined)
      return { ...createAuditedActor(auditMatch, drift, accounts, by.rules), ...shared }
    return {
      ...actor,
      ...(actor.confidence === 'none' ? {} : { class: classify(actor, by.rules) }),
      ...shared,
    }
  }
  const named = (drift: Drift): Drift => ({ ...drift, actor: attributed(drift) })
  return {
    ...verdict,
    items: verdict.items.map(named),
    setAside: verdict.setAside.map((aside) => ({ ...aside, drift: named(aside.drift) })),
  }
}

function listOtherOwners(
  { actor, path }: Drift,
  managed: ManagedFields,
  { syncer, rules }: Attribution,
): FieldOwner[] {
  if (path.length === 0 || actor.confidence !== 'field-manager') return []
  return listOwners(managed, path)
    .filter((entry) => !isSyncer(entry, syncer) && !isActor(entry, actor))
    .slice(0, MOST_OTHERS)
    .map((entry) => ({
      manager: entry.manager,
      operation: entry.operation,
      subresource: entry.subresource,
      class: classify(entry, rules),
      at: entry.time || undefined,
    }))
}

function isActor(
  entry: Pick<FieldOwner, 'manager' | 'operation' | 'subresource'>,
  actor: Actor,
): boolean {
  return (
    entry.manager === actor.manager &&
    entry.operation === actor.operation &&
    entry.subresource === actor.subresource
  )
}

const CONFIDENCE: Readonly<Record<AuditMatch['proof'], Confidence>> = {
  proven: 'audit',
  'by-time': 'audit-time',
  perhaps: 'last-writer',
}

function createAuditedActor(
  { write, proof }: AuditMatch,
  { actor, change }: Drift,
  accounts: ReadonlySet<string>,
  rules: readonly ActorRule[],
): Actor {
  const { user, actingAs } = write
  const owned = change !== 'missing' && change !== 'removed' && actor.confidence !== 'none'
  const { manager, operation, subresource } = owned ? actor : deriveWriteActor(write)
  const writer = { manager, operation, subresource, user: getPerson(write) }
  return {
    manager,
    operation,
    subresource,
    class: classifyWriter(writer, user, accounts, rules),
    // A manager's time is that of its last write to any field.
    at:
      proof === 'by-time' && actor.at !== undefined
        ? actor.at
        : new Date(write.answeredAt).toISOString().replace(/\.\d+Z$/, 'Z'),
    confidence: CONFIDENCE[proof],
    user,
    ...(actingAs === '' || actingAs === user ? {} : { actingAs }),
  }
}

function deriveWriteActor({
  manager,
  verb,
  object,
}: AuditedWrite): Pick<Actor, 'manager' | 'operation' | 'subresource'> {
  const operation =
    verb === 'update' || verb === 'patch' || verb === 'create' ? 'Update' : undefined
  return {
    manager: manager === '' ? 'unknown' : manager,
    operation,
    subresource: object.subresource,
  }
}

/** A console acts as its user; a person may act as an administrator. */
function getPerson({ user, actingAs }: Pick<AuditedWrite, 'user' | 'actingAs'>): string {
  return actingAs !== '' && user.startsWith('system:serviceaccount:') ? actingAs : user
}

function classifyWriter(
  writer: {
    readonly manager: string
    readonly operation: Actor['operation']
    readonly subresource: string
    readonly user: string
  },
  account: string,
  accounts: ReadonlySet<string>,
  rules: readonly ActorRule[],
): Actor['class'] {
  const rule = findActorRule(writer, rules)
  if (rule !== undefined) return rule.class
  const byTable = classify(writer)
  if (writer.user === account && (accounts.has(account) || isGitopsAccount(account)))
    return 'gitops'
  if (isControlPlaneUser(account)) return 'controller'
  return byTable === 'unknown' && writer.user.startsWith('system:serviceaccount:')
    ? 'controller'
    : byTable
}

/** Writes under other names also count as the syncer's. */
function findSyncerAccounts(
  writes: readonly AuditedWrite[],
  syncer: SyncerManager | undefined,
): ReadonlySet<string> {
  const users = new Set(
    writes.flatMap(({ manager, user }) =>
      syncer !== undefined && manager === syncer.manager ? [user] : [],
    ),
  )
  return new Set([...users].filter((user) => user.startsWith('system:serviceaccount:')))
}

/** As installed. */
function isGitopsAccount(user: string): boolean {
  const namespace = /^system:serviceaccount:([^:]+):/.exec(user)?.[1]
  return namespace !== undefined && SYNCERS.some(({ accounts }) => accounts.includes(namespace))
}
