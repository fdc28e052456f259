/** docs/adr/0018-syncers-that-change-their-name.md, docs/facts/applier-managers.md */
import {
  buildFieldSet,
  countCovered,
  type FieldManager,
  type FieldSchema,
  getManagedFields,
  isSameManager,
  isSettleManager,
  type ManagedFieldsEntry,
  ownsPath,
} from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { compareText } from '@backporch/kyaml/text'
import { usesHelm } from '../../syncers/helm.ts'
import {
  BEFORE_FIRST_APPLY,
  CLIENT_SIDE_APPLY,
  isCreateOnlyManager,
  LAST_APPLIED,
  writesManifest,
} from '../../syncers/kubectl.ts'
import {
  findManagerNames,
  findManagerProgram,
  findSyncerOfManager,
  isSameProgram,
} from '../../syncers/registry.ts'
import type { Actor, SyncerManager } from '../compare/drift.ts'
import { findLastApplied } from '../compare/last-applied.ts'
import { classifyManager } from './actor.ts'

interface AppliedObject {
  readonly desired: JsonObject
  readonly live: JsonObject
  readonly schema: FieldSchema
}

/**
 * The applier with most desired fields, all names of one tool together; undefined if no live object
 * was applied. Among appliers with at least half as many fields, GitOps tools rank first and tools
 * of people last, because a person who applies with force owns more than the syncer. Of two GitOps
 * tools the later one has taken over. An applier wrote with operation Apply, or updated under a
 * client-side applier's name or with the last-applied annotation.
 * @param given the configured field manager
 */
export function findSyncer(
  objects: readonly AppliedObject[],
  given?: string,
): SyncerManager | undefined {
  const writers = listWriters(objects)
  const tools = omitBootstraps(groupTools(writers, objects.length))
  if (given !== undefined) {
    const named = writers.filter(({ manager }) => manager.manager === given)
    const manager = [...named].sort(compareFields)[0]?.manager ?? {
      manager: given,
      operation: 'Apply',
      subresource: '',
    }
    return addFormerManagers(manager, writers)
  }
  const most = Math.max(0, ...tools.map(({ fields }) => fields))
  const [first] = tools.filter(({ fields }) => fields * 2 >= most).sort(compareRank)
  const [member] = [...(first?.members ?? [])].sort(compareFields)
  return member === undefined ? undefined : addFormerManagers(member.manager, writers)
}

/**
 * The controller takes over what a bootstrap applied (`flux`), object by object. It is the syncer
 * from its first object on.
 */
function omitBootstraps(tools: readonly Tool[]): readonly Tool[] {
  const productOf = ({ members: [first] }: Tool): string | undefined =>
    first && findSyncerOfManager(first.manager.manager)
  const isController = ({ members }: Tool): boolean =>
    members.some(({ manager }) => isRepeatingWriter(manager))
  const controlled = new Set(tools.filter(isController).map(productOf))
  return tools.filter(
    (tool) =>
      isController(tool) || !controlled.has(productOf(tool)) || productOf(tool) === undefined,
  )
}

/** `flux bootstrap` applies as `flux`. A person may run it later, so its writes stay visible. */
export function isBootstrapOf(
  entry: Pick<Actor, 'manager' | 'operation'>,
  syncer: SyncerManager,
): boolean {
  if (entry.operation !== 'Apply' || isRepeatingWriter(entry) || !isRepeatingWriter(syncer))
    return false
  const product = findSyncerOfManager(syncer.manager)
  return product !== undefined && product === findSyncerOfManager(entry.manager)
}

function isRepeatingWriter({ manager }: Pick<Actor, 'manager'>): boolean {
  return (findManagerNames(manager)?.repeats ?? 'none') !== 'none'
}

interface Writer {
  readonly manager: FieldManager
  /** Others may be former names of the syncer. */
  applies: boolean
  objects: number
  /** Desired ones that it declares. */
  fields: number
  /** RFC 3339 UTC; empty without a time. */
  first: string
  last: string
}

interface Tool {
  readonly members: readonly Writer[]
  readonly rank: number
  readonly fields: number
  readonly first: string
}

function listWriters(objects: readonly AppliedObject[]): Writer[] {
  const writers = new Map<string, Writer>()
  for (const { desired, live, schema } of objects) {
    const wanted = buildFieldSet(desired, schema)
    const { entries } = getManagedFields(live)
    const retainingTool = findLastAppliedOwner(entries)
    for (const entry of entries) {
      // Writes for the syncer.
      if (isSettleManager(entry.manager) || entry.subresource !== '') continue
      const { manager, operation, subresource, time } = entry
      const key = `${operation} ${manager}`
      const none = { applies: false, objects: 0, fields: 0, first: time, last: time }
      const writer = writers.get(key) ?? { manager: { manager, operation, subresource }, ...none }
      const keepsLastApplied = entry === retainingTool
      const applied = keepsLastApplied ? findLastApplied(live) : undefined
      const declared =
        applied === undefined ? 0 : countCovered(wanted, buildFieldSet(applied, schema))
      writer.applies ||= keepsLastApplied || isApplier(entry)
      writer.objects += 1
      writer.fields += Math.max(declared, countCovered(wanted, entry.fields))
      if (time < writer.first) writer.first = time
      if (time > writer.last) writer.last = time
      writers.set(key, writer)
    }
  }
  return [...writers.values()]
}

function findLastAppliedOwner(
  entries: readonly ManagedFieldsEntry[],
): ManagedFieldsEntry | undefined {
  const owner = entries.find(
    ({ operation, fields }) => operation === 'Update' && ownsPath(fields, LAST_APPLIED_PATH),
  )
  if (owner === undefined || classifyManager(owner.manager) !== 'human-tool') return owner
  return (
    entries.find(
      ({ manager, operation }) => manager === CLIENT_SIDE_APPLY && operation === 'Update',
    ) ?? owner
  )
}

const LAST_APPLIED_PATH = ['metadata', 'annotations', LAST_APPLIED].map((name) => ({
  kind: 'field' as const,
  name,
}))

function isApplier({ manager, operation }: ManagedFieldsEntry): boolean {
  const isKubectl = writesManifest({ manager, operation }) && !isCreateOnlyManager(manager)
  return operation === 'Apply' || isKubectl || classifyManager(manager) === 'gitops'
}

/** Another tool may have taken over the release. */
export function writesThroughHelm(syncer: SyncerManager | undefined): boolean {
  return syncer !== undefined && usesHelm(syncer.manager)
}

function groupTools(writers: readonly Writer[], objects: number): Tool[] {
  const groups = new Map<string, Writer[]>()
  for (const writer of writers) {
    // A create or replace can come from anybody.
    if (!writer.applies && !(isCreateOnlyManager(writer.manager.manager) && isKubectlOf(writers)))
      continue
    const { manager, operation } = writer.manager
    // A name that people also use is one tool per operation, except one person's kubectl.
    const ofPeople = writesManifest(writer.manager) ? 'kubectl' : `${operation} ${manager}`
    const name =
      findManagerProgram(manager) ?? (classifyManager(manager) === 'gitops' ? manager : ofPeople)
    groups.set(name, [...(groups.get(name) ?? []), writer])
  }
  const tools = [...groups.values()].map((members) => ({
    members,
    rank: Math.min(...members.map(({ manager }) => getRank(manager))),
    fields: members.reduce((sum, { fields }) => sum + fields, 0),
    first: members.reduce(
      (earliest, { first }) => (first < earliest ? first : earliest),
      members[0]?.first ?? '',
    ),
  }))
  const declaring = tools.filter(({ fields }) => fields > 0)
  if (declaring.some(({ rank }) => rank < PEOPLE)) return declaring
  // Its entry stays.
  const emptied = tools.filter(
    ({ rank, members }) => rank === 0 && members.some((member) => member.objects * 2 >= objects),
  )
  return emptied.length > 0 ? emptied : declaring
}

const PEOPLE = 2

function isKubectlOf(writers: readonly Writer[]): boolean {
  return writers.some(
    ({ manager }) => writesManifest(manager) && !isCreateOnlyManager(manager.manager),
  )
}

function getRank({ manager }: FieldManager): number {
  const found = classifyManager(manager)
  return found === 'gitops' ? 0 : found === 'human-tool' ? PEOPLE : 1
}

function compareRank(left: Tool, right: Tool): number {
  return (
    left.rank - right.rank ||
    (left.rank === 0 ? compareText(right.first, left.first) : 0) ||
    right.fields - left.fields ||
    compareWriters(left.members[0], right.members[0])
  )
}

function compareFields(left: Writer, right: Writer): number {
  return right.fields - left.fields || compareWriters(left, right)
}

/** The order of the entries has no effect. */
function compareWriters(left: Writer | undefined, right: Writer | undefined): number {
  if (left === undefined || right === undefined) return 0
  return (
    compareText(left.manager.operation, right.manager.operation) ||
    compareText(left.manager.manager, right.manager.manager)
  )
}

function addFormerManagers(syncer: FieldManager, writers: readonly Writer[]): SyncerManager {
  const own = writers.filter(({ manager }) => isSameTool(manager, syncer))
  const first = own.reduce(
    (earliest, writer) => (writer.first < earliest ? writer.first : earliest),
    own[0]?.first ?? '',
  )
  const fields = own.reduce((sum, writer) => sum + writer.fields, 0)
  const former = writers
    .filter(
      (writer) =>
        !isSameManager(writer.manager, syncer) && isFormer(writer, syncer, { first, fields }),
    )
    .sort(compareWriters)
    .map(({ manager }) => manager)
  return former.length === 0 ? syncer : { ...syncer, former }
}

/**
 * Names of people never are, because their writes stay visible. A former GitOps tool updated, so
 * that it also owns the server's defaults, and wrote nothing since the syncer began.
 */
function isFormer(
  writer: Writer,
  syncer: FieldManager,
  own: { readonly first: string; readonly fields: number },
): boolean {
  const { manager, operation } = writer.manager
  if (manager === BEFORE_FIRST_APPLY && operation === 'Update') return true
  if (isSameTool(writer.manager, syncer)) return true
  if (operation !== 'Update' || classifyManager(manager) !== 'gitops') return false
  return writer.fields * 2 >= own.fields && writer.fields > 0 && writer.last <= own.first
}

function isSameTool(left: FieldManager, right: FieldManager): boolean {
  return (
    isSameManager(left, right) ||
    isSameProgram(left.manager, right.manager) ||
    (writesManifest(left) && writesManifest(right))
  )
}
