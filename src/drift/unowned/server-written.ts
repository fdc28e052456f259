/** In an object without managers these have no owner, and are no edits. */
import {
  createFieldStep,
  type FieldPath,
  type FieldSchema,
  findValueAt,
  formatFieldPath,
} from '@backporch/kyaml/field'
import {
  getPartAt,
  isJsonEqual,
  type Json,
  type JsonObject,
  parseJson,
} from '@backporch/kyaml/json'
import { getMetadataText, type ResourceId } from '@backporch/kyaml/resource'
import { createWordSet } from '@backporch/kyaml/text'
import { LAST_APPLIED } from '../../syncers/kubectl.ts'
import { UNKNOWN_ACTOR } from '../attribute/actor.ts'
import { isCounted } from '../compare/unowned-count.ts'
import { CONTROL_PLANE_RULES } from '../noise/control-plane.ts'
import { DEFAULTED_RULES } from '../noise/defaulted-fields.ts'
import { NO_SCALERS } from '../noise/scaler.ts'

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
    uid: undefined,
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

/** kubernetes/kubernetes `pkg/registry/batch/job/strategy.go`. */
function isJobsOwn(
  path: FieldPath,
  value: Json,
  { group, kind, name }: ResourceId,
  live: JsonObject,
): boolean {
  if (group !== 'batch' || kind !== 'Job') return false
  const uid = getMetadataText(live, 'uid')
  const text = formatFieldPath(path)
  if (text === 'spec.selector')
    return isJsonEqual(value, { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } })
  const key =
    /^(?:spec\.template\.)?metadata\.labels(?:\.|\["batch\.kubernetes\.io\/)(controller-uid|job-name)(?:"\])?$/.exec(
      text,
    )?.[1]
  return key !== undefined && value === (key === 'job-name' ? name : uid)
}

function isSchemaDefault(
  path: FieldPath,
  value: Json,
  desired: JsonObject,
  schema: FieldSchema,
): boolean {
  let here = schema
  for (const [depth, step] of path.entries()) {
    if (step.kind !== 'field') {
      here = here.getItemSchema()
      continue
    }
    const declared = findValueAt(desired, path.slice(0, depth + 1)) !== undefined
    const byDefault = declared ? undefined : here.findDefault(step.name)
    const rest = path.slice(depth + 1)
    if (
      byDefault !== undefined &&
      isJsonEqual(rest.length === 0 ? byDefault : findValueAt(byDefault, rest), value)
    )
      return true
    here = here.getChildSchema(step.name)
  }
  return false
}

const LAST_APPLIED_PATH = [
  createFieldStep('metadata'),
  createFieldStep('annotations'),
  createFieldStep(LAST_APPLIED),
]

/** Of this object; its other changes are reported separately. */
export function isLastApplied(path: FieldPath, value: Json, { kind, name }: ResourceId): boolean {
  if (
    !isJsonEqual(path as unknown as Json, LAST_APPLIED_PATH as unknown as Json) ||
    typeof value !== 'string'
  )
    return false
  try {
    const applied = parseJson(value)
    return getPartAt(applied, 'kind') === kind && getPartAt(applied, 'metadata', 'name') === name
  } catch {
    return false
  }
}

/**
 * Their other undeclared fields are edits: they are stored as sent, or their schema has the
 * defaults.
 */
const STORED_AS_SENT = createWordSet(`
  /Namespace /ServiceAccount /ConfigMap /Secret rbac.authorization.k8s.io/Role rbac.authorization.k8s.io/ClusterRole
  rbac.authorization.k8s.io/RoleBinding rbac.authorization.k8s.io/ClusterRoleBinding policy/PodDisruptionBudget
`)
const METADATA = new Set(['labels', 'annotations', 'finalizers', 'ownerReferences'])

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
