/**
 * A `kpt.dev/v1alpha1` ResourceGroup with the fields and words of kpt and Config Sync
 * (docs/facts/resource-group.md).
 */
import {
  filterObjects,
  getKey,
  getPartAt,
  getTextAt,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { isSensitive } from '@backporch/kyaml/redaction'
import { formatResourceId, getResourceKey, type ResourceId } from '@backporch/kyaml/resource'
import { STATUS_WORDS, type StatusWord } from './kstatus-fields.ts'

const RESOURCE_GROUP_API_VERSION = 'kpt.dev/v1alpha1'
const INVENTORY_ID = 'cli-utils.sigs.k8s.io/inventory-id'

/**
 * `unverified`: drift is unknown. `waiting`: the syncer is behind, which is no drift. `stuck`: it
 * is overdue.
 */
export type MemberDrift = 'in-sync' | 'drifted' | 'unverified' | 'waiting' | 'stuck'

const LATE = { waiting: 'Behind', stuck: 'Stuck' } as const

export interface GroupMember {
  readonly id: ResourceId
  readonly status: StatusWord
  readonly drift: MemberDrift
  /** Without values: `2 differences to git`. */
  readonly message: string
  /** kstatus' sentence; absent for Current and NotFound, and if it has the form of a credential. */
  readonly health?: string
}

export interface GroupSource {
  readonly name: string
  /** Both are undefined without an inventory. */
  readonly namespace: string | undefined
  readonly inventoryId: string | undefined
  readonly commit: string
  readonly members: readonly GroupMember[]
  /** The unit may include more than the members. */
  readonly drift: MemberDrift
  /** Including undeclared objects. */
  readonly drifted: readonly ResourceId[]
  /** RFC 3339 UTC, also of all changed conditions. */
  readonly at: string
  /** Unchanged conditions keep their time. */
  readonly previous: JsonObject | undefined
}

/**
 * For a unit that can no longer be observed.
 * @param at as in `GroupSource`
 */
export function markResourceGroupUnobserved(previous: JsonObject, at: string): JsonObject {
  const members = readResourceGroup(previous).map(
    ({ id }): GroupMember => ({
      id,
      status: 'Unknown',
      drift: 'unverified',
      message: '',
      health: 'not read',
    }),
  )
  const unknown = {
    name: '',
    namespace: undefined,
    inventoryId: undefined,
    commit: '',
    members,
    drift: 'unverified',
    drifted: [],
    at,
    previous,
  } as const
  return { ...previous, status: getGroupStatus(buildResourceGroup(unknown)) }
}

/** The order of keys is part of the bytes. */
interface Condition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
}

/** Members are sorted by id. The same state gives the same bytes at any time. */
export function buildResourceGroup(source: GroupSource): JsonObject {
  const members = source.members.toSorted((a, b) =>
    getResourceKey(a.id) < getResourceKey(b.id) ? -1 : 1,
  )
  const before = new Map(
    (source.previous === undefined ? [] : listStatuses(source.previous)).map((each) => [
      getResourceKey(getResourceId(each)),
      each,
    ]),
  )
  const { namespace, inventoryId, commit, previous, at } = source
  return {
    apiVersion: RESOURCE_GROUP_API_VERSION,
    kind: 'ResourceGroup',
    metadata: {
      name: source.name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(inventoryId === undefined ? {} : { labels: { [INVENTORY_ID]: inventoryId } }),
      annotations: { 'config.kubernetes.io/local-config': 'true' },
      generation: 1,
    },
    spec: {
      descriptor: { type: 'package', revision: commit },
      resources: members.map(({ id }) => getIdFields(id)),
    },
    status: {
      // One document has spec and status, so the generation is always observed.
      observedGeneration: 1,
      resourceStatuses: members.map((member) =>
        createStatusFields(member, before.get(getResourceKey(member.id)), at),
      ),
      conditions: dateConditions(groupConditions(members, source), getGroupStatus(previous), at),
    },
  }
}

function createStatusFields(
  member: GroupMember,
  previous: JsonObject | undefined,
  at: string,
): JsonObject {
  const { id, status, drift } = member
  const conditions = dateConditions(createConditions(member), previous ?? {}, at)
  return {
    ...getIdFields(id),
    status,
    strategy: 'Apply',
    ...createActuationFields(status, drift),
    ...(conditions.length === 0 ? {} : { conditions }),
  }
}

/**
 * Actuation: the object has git's content. Reconcile: its state, by Config Sync's table. An
 * unverified object has neither.
 */
function createActuationFields(status: StatusWord, drift: MemberDrift): JsonObject {
  if (drift === 'unverified') return {}
  if (drift === 'drifted' || drift === 'waiting' || drift === 'stuck')
    return { actuation: 'Pending', reconcile: 'Pending' }
  const reconcile: { readonly [status in StatusWord]: string } = {
    Current: 'Succeeded',
    InProgress: 'Pending',
    Failed: 'Failed',
    Terminating: 'Failed',
    NotFound: 'Failed',
    Unknown: 'Pending',
  }
  return { actuation: 'Succeeded', reconcile: reconcile[status] }
}

const LONGEST_MESSAGE = 256

/** Without credentials of a foreign condition. */
export function formatHealthMessage({ id, status, health }: GroupMember): string | undefined {
  if (status === 'Current' || status === 'NotFound' || health === undefined) return undefined
  return isSensitive({ id, path: [] }, health) ? undefined : health.slice(0, LONGEST_MESSAGE)
}

function createConditions(member: GroupMember): readonly Condition[] {
  const { status, drift, message } = member
  const conditions: Condition[] = []
  if (status !== 'Current' && status !== 'NotFound') {
    const type = status === 'Failed' ? 'Stalled' : 'Reconciling'
    conditions.push({
      type,
      status: getCertainty(status),
      reason: status,
      message: formatHealthMessage(member) ?? '',
    })
  }
  if (drift === 'drifted')
    conditions.push({ type: 'Drifted', status: 'True', reason: 'DriftDetected', message })
  if (drift === 'waiting' || drift === 'stuck')
    conditions.push({ type: 'Drifted', status: 'False', reason: LATE[drift], message })
  if (drift === 'unverified')
    conditions.push({ type: 'Drifted', status: 'Unknown', reason: 'Unverified', message })
  return conditions
}

function getCertainty(status: StatusWord): 'True' | 'Unknown' {
  return status === 'Unknown' ? 'Unknown' : 'True'
}

/** The order is an API: printer columns of the ResourceGroup CRD read the first two. */
function groupConditions(
  members: readonly GroupMember[],
  { drift, drifted }: Pick<GroupSource, 'drift' | 'drifted'>,
): readonly Condition[] {
  const idsOf = (some: readonly GroupMember[]) => some.map(({ id }) => id)
  const having = (...words: readonly StatusWord[]) =>
    idsOf(members.filter(({ status }) => words.includes(status)))
  const unverified = idsOf(members.filter((member) => member.drift === 'unverified'))
  const unread = having('Unknown')
  return [
    markUnknown(
      createCondition(
        'Reconciling',
        having('InProgress', 'Terminating'),
        'InProgress',
        'NotReconciling',
      ),
      unread,
    ),
    markUnknown(
      createCondition('Stalled', having('Failed'), 'ComponentFailed', 'NotStalled'),
      unread,
    ),
    drift === 'unverified'
      ? { type: 'Drifted', status: 'Unknown', reason: 'Unverified', message: nameSome(unverified) }
      : createCondition(
          'Drifted',
          drifted,
          'DriftDetected',
          drift === 'waiting' || drift === 'stuck' ? LATE[drift] : 'InSync',
        ),
  ]
}

function createCondition(
  type: string,
  members: readonly ResourceId[],
  yes: string,
  no: string,
): Condition {
  const holds = members.length > 0
  return {
    type,
    status: holds ? 'True' : 'False',
    reason: holds ? yes : no,
    message: nameSome(members),
  }
}

function markUnknown(known: Condition, unread: readonly ResourceId[]): Condition {
  if (known.status === 'True' || unread.length === 0) return known
  return { ...known, status: 'Unknown', reason: 'Unknown', message: nameSome(unread) }
}

const NAMED = 5

function nameSome(members: readonly ResourceId[]): string {
  const names = members.slice(0, NAMED).map(formatResourceId)
  const rest = members.length - names.length
  return rest > 0 ? `${names.join(', ')} and ${rest} more` : names.join(', ')
}

/** The earlier time if type, status and reason are the same. */
function dateConditions(
  conditions: readonly Condition[],
  previous: JsonObject,
  at: string,
): JsonObject[] {
  const earlier = filterObjects(getKey(previous, 'conditions'))
  return conditions.map((each) => {
    const same = earlier.find((old) =>
      (['type', 'status', 'reason'] as const).every((name) => getKey(old, name) === each[name]),
    )
    return { ...each, lastTransitionTime: getTextAt(same, 'lastTransitionTime') || at }
  })
}

function getIdFields({ group, kind, namespace, name }: ResourceId): JsonObject {
  return { group, kind, namespace, name }
}

function getGroupStatus(group: JsonObject | undefined): JsonObject {
  const status = getPartAt(group, 'status')
  return isJsonObject(status) ? status : {}
}

function listStatuses(group: JsonObject): readonly JsonObject[] {
  return filterObjects(getPartAt(group, 'status', 'resourceStatuses'))
}

function getResourceId(status: JsonObject): ResourceId {
  const text = (name: string): string => getTextAt(status, name)
  return {
    group: text('group'),
    kind: text('kind'),
    namespace: text('namespace'),
    name: text('name'),
  }
}

/** In its order. An unknown status word counts as Unknown, and a missing state as unverified. */
export function readResourceGroup(group: Json): readonly GroupMember[] {
  return isJsonObject(group) ? listStatuses(group).map(readMember) : []
}

function readMember(fields: JsonObject): GroupMember {
  const conditions = filterObjects(getKey(fields, 'conditions'))
  const drifted = conditions.find((each) => getTextAt(each, 'type') === 'Drifted')
  const health = conditions.find((each) =>
    ['Reconciling', 'Stalled'].includes(getTextAt(each, 'type')),
  )
  const phrases = getTextAt(health, 'message') || undefined
  return {
    id: getResourceId(fields),
    status: STATUS_WORDS.find((each) => each === getTextAt(fields, 'status')) ?? 'Unknown',
    drift: readDrift(fields, drifted),
    message: getTextAt(drifted, 'message'),
    ...(phrases === undefined ? {} : { health: phrases }),
  }
}

function readDrift(fields: JsonObject, condition: JsonObject | undefined): MemberDrift {
  const word = getTextAt(condition, 'status')
  if (word === 'True') return 'drifted'
  const reason = getTextAt(condition, 'reason')
  if (word === 'False')
    return (['waiting', 'stuck'] as const).find((late) => reason === LATE[late]) ?? 'in-sync'
  return condition === undefined && getTextAt(fields, 'actuation') === 'Succeeded'
    ? 'in-sync'
    : 'unverified'
}
