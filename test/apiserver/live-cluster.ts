import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ConnectedCluster, connectCluster } from '@backporch/cluster/connect-cluster'
import {
  buildFieldSet,
  type FieldPath,
  type FieldSchema,
  getManagedFields,
  listLeaves,
  stepKey,
} from '@backporch/kyaml/field'
import { getKey, isJsonObject, type Json, type JsonObject } from '@backporch/kyaml/json'
import {
  type LiveState,
  type Resource,
  readResource,
  type WantedObject,
} from '@backporch/kyaml/resource'
import type { Clock } from '@backporch/system/clock'
import type { ControlPlane } from '../controlplane/control-plane.ts'

export const realClock: Clock = {
  now: () => new Date(),
  sleep: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }),
}

/** The real time, and what was slept. With `longest`, no sleep takes longer than these milliseconds. */
export function recordingClock(
  longest = Number.POSITIVE_INFINITY,
): Clock & { readonly slept: readonly number[] } {
  const slept: number[] = []
  return {
    ...realClock,
    slept,
    sleep: (milliseconds, signal) => {
      slept.push(milliseconds)
      return realClock.sleep(Math.min(milliseconds, longest), signal)
    },
  }
}

export function resourceOf(object: JsonObject): Resource {
  const resource = readResource(object)
  assert.ok('id' in resource)
  return resource
}

export function wanted(
  apiVersion: string,
  kind: string,
  namespace: string,
  name: string,
): WantedObject {
  return {
    apiVersion,
    id: {
      group: apiVersion.includes('/') ? apiVersion.replace(/\/.*/, '') : '',
      kind,
      namespace,
      name,
    },
  }
}

export async function create(plane: ControlPlane, path: string, body: unknown): Promise<void> {
  const { status, body: answer } = await plane.request('POST', path, { body })
  assert.equal(status, 201, JSON.stringify(answer))
}

export function verdict(state: LiveState | undefined): string {
  return state?.state === 'unreadable' ? state.failure.code : (state?.state ?? 'no answer')
}

export async function connect(plane: ControlPlane, user?: string): Promise<ConnectedCluster> {
  const kubeconfig = user === undefined ? plane.kubeconfig : await plane.kubeconfigFor(user)
  return connectCluster({ kubeconfig, environment: {}, clock: realClock, version: 'test' })
}

export async function bind(
  plane: ControlPlane,
  namespace: string,
  role: string,
  user: string,
): Promise<void> {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: role }
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }]
  await create(plane, `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`, {
    metadata: { name: role },
    roleRef,
    subjects,
  })
}

export function at(object: Json, ...names: readonly string[]): Json | undefined {
  return names.reduce<Json | undefined>(
    (value, name) => (isJsonObject(value) ? getKey(value, name) : undefined),
    object,
  )
}

/** The fields that we say a manifest declares are those that the server says its applier owns. */
export function assertSameOwnership(
  desired: JsonObject,
  answer: JsonObject,
  manager: string,
  schema: FieldSchema,
): void {
  const entry = getManagedFields(answer).entries.find(
    (one) => one.manager === manager && one.operation === 'Apply',
  )
  assert.ok(entry !== undefined, 'no Apply entry')
  const text = (paths: readonly FieldPath[]) =>
    paths.map((path) => path.map(stepKey).join(' ')).sort()
  assert.deepEqual(
    text(listLeaves(buildFieldSet(desired, schema))),
    text(listLeaves(entry.fields)),
    String(desired['kind']),
  )
}
