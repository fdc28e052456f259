import type { Failure } from '@backporch/kyaml/failure'
import {
  filterObjects,
  getPartAt,
  getTextAt,
  isJsonArray,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import type { NamedApplier, OwnResource, SyncerSource } from './syncer.ts'

/** A DNS subdomain (RFC 1123). */
export function isName(text: string): boolean {
  return text.length <= 253 && /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(text)
}

/** @param namespaces where the syncer's resource may be; a single one is its namespace */
export function createNamedApplier(
  group: string,
  kind: string,
  namespaces: readonly string[],
  name: string,
): NamedApplier {
  const wanted = namespaces.map((namespace) => ({
    id: { group, kind, namespace, name },
    apiVersion: '',
  }))
  return { kind, namespace: namespaces.length === 1 ? (namespaces[0] ?? '') : '', name, wanted }
}

export function createUnlistedApplier(name: string, namespace = ''): NamedApplier {
  return { kind: '', namespace, name, wanted: [] }
}

export function findOwn(
  own: readonly OwnResource[],
):
  | { readonly object: JsonObject; readonly wanted: OwnResource['wanted'] }
  | { readonly failure: Failure | undefined } {
  for (const { wanted, state } of own)
    if (state.state === 'present') return { object: state.object, wanted }
  const unread = own.flatMap(({ state }) => (state.state === 'unreadable' ? [state.failure] : []))
  return { failure: unread[0] }
}

function findCondition(object: JsonObject, type: string, status: string): JsonObject | undefined {
  return filterObjects(getPartAt(object, 'status', 'conditions')).find(
    (one) => getPartAt(one, 'type') === type && getPartAt(one, 'status') === status,
  )
}

export function hasCondition(object: JsonObject, type: string, status: string): boolean {
  return findCondition(object, type, status) !== undefined
}

export function findConditionReason(
  object: JsonObject,
  type: string,
  status: 'True' | 'False',
): string | undefined {
  const found = findCondition(object, type, status)
  return found === undefined ? undefined : getTextAt(found, 'reason') || 'no reason given'
}

/** Type and reason only, because a message may quote anything. */
export function findConditionProblem(
  title: string,
  object: JsonObject,
  ...wrong: readonly (readonly [string, string])[]
): string | undefined {
  for (const [type, status] of wrong) {
    const found = findCondition(object, type, status)
    if (found === undefined) continue
    const reason = getTextAt(found, 'reason')
    // A condition's reason is one word (Kubernetes API conventions).
    return `${title} says ${type} is ${status}: ${/^[A-Za-z][A-Za-z0-9_,:]{0,99}$/.test(reason) ? reason : 'no reason'}`
  }
  return undefined
}

/** As `10m0s`. */
export function findDuration(object: JsonObject, ...names: readonly string[]): string | undefined {
  const value = getTextAt(object, ...names)
  return /^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+$/.test(value) && value.length <= 30
    ? value
    : undefined
}

export function parseSeconds(text: Json | undefined): number | undefined {
  const parts =
    typeof text === 'string'
      ? /^(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})(?:\.\d+)?s)?$/.exec(text)
      : null
  if (parts === null) return undefined
  const [hours = 0, minutes = 0, seconds = 0] = parts.slice(1).map((part) => Number(part ?? 0))
  return hours * 3_600 + minutes * 60 + seconds
}

/** From `main@sha1:<40 hex>`, `main/<40 hex>` or a commit; undefined for a chart version or tag. */
export function parseCommit(revision: Json | undefined): string | undefined {
  return typeof revision === 'string' ? /(?:^|[:/])([0-9a-f]{40})$/.exec(revision)?.[1] : undefined
}

/** `./apps/web/` is `apps/web`. Empty for the root, undefined outside the repository. */
export function parseSyncFolder(path: Json | undefined): string | undefined {
  if (typeof path !== 'string') return undefined
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  return parts.includes('..') ? undefined : parts.join('/')
}

export function isFilled(value: Json | undefined): boolean {
  if (isJsonArray(value)) return value.length > 0
  return value !== undefined && value !== null && value !== ''
}

/** An unknown source may choose namespaces. */
export const UNKNOWN_SOURCE: SyncerSource = {
  folder: undefined,
  transformed: undefined,
  choosesNamespace: true,
}
