/**
 * Undeclared fields that the control plane writes, by kind, path and value: defaults, allocations, bindings and counts. They have no owner in an
 * object without managers, and are no edits.
 */
import {
  type FieldPath,
  type FieldSchema,
  field,
  formatFieldPath,
  valueAt,
} from '@backporch/kyaml/field'
import { type Json, type JsonObject, jsonEquals, parseJson, partOf } from '@backporch/kyaml/json'
import { metadataText, type ResourceId } from '@backporch/kyaml/resource'
import { wordSet } from '@backporch/kyaml/text'
import { LAST_APPLIED } from '../../syncers/kubectl.ts'
import { UNKNOWN_ACTOR } from '../attribute/actor.ts'
import { isCounted } from '../compare/unowned-count.ts'
import { CONTROL_PLANE_RULES } from '../noise/control-plane.ts'
import { DEFAULTED_RULES } from '../noise/defaulted-fields.ts'
import { NO_SCALERS } from '../noise/scaler.ts'

/** The object of the field, live and in git. */
export interface UnownedSubject {
  readonly id: ResourceId
  readonly apiVersion: string
  readonly desired: JsonObject
  readonly live: JsonObject
  readonly schema: FieldSchema
}

const RULES = [
  ...DEFAULTED_RULES,
  ...CONTROL_PLANE_RULES.filter(({ name }) =>
    [
      'namespace-defaults',
      'service-allocation',
      'volume-binding',
      'deployment-revision',
      'service-account-tokens',
    ].includes(name),
  ),
]

export function isServerWritten(path: FieldPath, value: Json, subject: UnownedSubject): boolean {
  const { id, apiVersion, desired, live, schema } = subject
  if (
    value === null ||
    isSchemaDefault(path, value, desired, schema) ||
    isLastApplied(path, value, id)
  )
    return true
  if (
    isJobsOwn(path, value, id, live) ||
    (isCounted(id) && value === 1 && formatFieldPath(path) === 'spec.replicas')
  )
    return true
  const drift = {
    id,
    apiVersion,
    uid: '',
    change: 'added',
    path,
    git: undefined,
    live: value,
    liveUnread: false,
    actor: UNKNOWN_ACTOR,
  } as const
  const reported = { ...drift, risk: 'low', reason: '', notes: [] } as const
  const surroundings = {
    desired,
    live,
    managed: { entries: [], unreadable: [] },
    syncer: undefined,
    scalers: NO_SCALERS,
    liveOf: () => undefined,
  }
  return RULES.some((rule) => rule.judge(reported, surroundings)?.mutes === true)
}

/** Labels and the selector by which a Job finds its Pods. Source: kubernetes/kubernetes `pkg/registry/batch/job/strategy.go`. */
function isJobsOwn(
  path: FieldPath,
  value: Json,
  { group, kind, name }: ResourceId,
  live: JsonObject,
): boolean {
  if (group !== 'batch' || kind !== 'Job') return false
  const uid = metadataText(live, 'uid')
  const text = formatFieldPath(path)
  if (text === 'spec.selector')
    return jsonEquals(value, { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } })
  const key =
    /^(?:spec\.template\.)?metadata\.labels(?:\.|\["batch\.kubernetes\.io\/)(controller-uid|job-name)(?:"\])?$/.exec(
      text,
    )?.[1]
  return key !== undefined && value === (key === 'job-name' ? name : uid)
}

/** Whether the value is the default of the location, or part of the default of an absent map above. */
function isSchemaDefault(
  path: FieldPath,
  value: Json,
  desired: JsonObject,
  schema: FieldSchema,
): boolean {
  let here = schema
  for (const [depth, step] of path.entries()) {
    if (step.kind !== 'field') {
      here = here.items()
      continue
    }
    const declared = valueAt(desired, path.slice(0, depth + 1)) !== undefined
    const byDefault = declared ? undefined : here.defaultOf(step.name)
    const rest = path.slice(depth + 1)
    if (
      byDefault !== undefined &&
      jsonEquals(rest.length === 0 ? byDefault : valueAt(byDefault, rest), value)
    )
      return true
    here = here.child(step.name)
  }
  return false
}

const LAST_APPLIED_PATH = [field('metadata'), field('annotations'), field(LAST_APPLIED)]

/** Whether it is the last-applied annotation of this object; its other changes are reported themselves. */
export function isLastApplied(path: FieldPath, value: Json, { kind, name }: ResourceId): boolean {
  if (
    !jsonEquals(path as unknown as Json, LAST_APPLIED_PATH as unknown as Json) ||
    typeof value !== 'string'
  )
    return false
  try {
    const applied = parseJson(value)
    return partOf(applied, 'kind') === kind && partOf(applied, 'metadata', 'name') === name
  } catch {
    return false
  }
}

/**
 * Kinds with known defaults, whose other undeclared fields are edits: kinds that are stored as sent, and custom ones, which have their defaults in
 * the schema.
 */
const STORED_AS_SENT = wordSet(`
  /Namespace /ServiceAccount /ConfigMap /Secret rbac.authorization.k8s.io/Role rbac.authorization.k8s.io/ClusterRole
  rbac.authorization.k8s.io/RoleBinding rbac.authorization.k8s.io/ClusterRoleBinding policy/PodDisruptionBudget
`)
const METADATA = new Set(['labels', 'annotations', 'finalizers', 'ownerReferences'])

/** Whether only an edit, or an admission webhook, explains a field that is not server-written. */
export function isSomebodys(
  path: FieldPath,
  { id, schema }: Pick<UnownedSubject, 'id' | 'schema'>,
): boolean {
  const [first, second] = path
  if (first?.kind === 'field' && first.name === 'metadata')
    return second?.kind === 'field' && METADATA.has(second.name)
  if (STORED_AS_SENT.has(`${id.group}/${id.kind}`)) return true
  const custom = id.group.includes('.') && !id.group.endsWith('.k8s.io')
  return custom && schema.typed !== true && schema.kind === 'object'
}
