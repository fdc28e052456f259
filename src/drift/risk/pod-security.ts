/** kubernetes.io, "Pod Security Standards", Baseline and Restricted. */
import type { FieldPath } from '@backporch/kyaml/field'
import {
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import type { ResourceId } from '@backporch/kyaml/resource'
import { createWordSet } from '@backporch/kyaml/text'
import type { RiskSubject } from '../compare/drift.ts'

const WORKLOAD_KINDS = createWordSet(`
  CronJob DaemonSet Deployment DeploymentConfig Job Pod PodTemplate ReplicaSet ReplicationController StatefulSet
`)

const RESTRICTING = createWordSet(`
  allowPrivilegeEscalation appArmorProfile hostIPC hostNetwork hostPID hostPath hostPort hostProcess hostUsers podSecurityContext
  procMount runAsNonRoot runAsUser seLinuxOptions seccompProfile securityContext shareProcessNamespace
`)

/** By the kind, or by the path, as in custom resources. */
export function isPodLocation(id: ResourceId, path: string): boolean {
  return (
    WORKLOAD_KINDS.has(id.kind) ||
    /(^|\.)(template\.(spec|metadata)|podTemplate|podSpec)\b|ontainers\[/.test(path)
  )
}

/**
 * A field that is written out but frees nothing (`privileged: false` in an added container) does
 * not count.
 */
export function isPodSecurityChange({ id, change, path, git, live }: RiskSubject): boolean {
  const [first] = path
  if (change === 'unexpected') return isFreeingPods(live)
  // A removed object runs nothing, and only specifications concern pods.
  if (change === 'missing' || first?.kind !== 'field' || !['spec', 'template'].includes(first.name))
    return false
  if (hasRestrictionName(id, path)) return true
  if (live !== undefined && git !== undefined)
    return listFacts(git).join('\n') !== listFacts(live).join('\n')
  // A removed template removes its restrictions too.
  if (live === undefined) return path.at(-1)?.kind !== 'item' && listFacts(git).length > 0
  return isFreeingPods(live)
}

function hasRestrictionName(id: ResourceId, path: FieldPath): boolean {
  const names = path.flatMap((step) => (step.kind === 'field' ? [step.name] : []))
  if (names.some((name) => RESTRICTING.has(name))) return true
  return (
    WORKLOAD_KINDS.has(id.kind) &&
    names.some((name) => name === 'privileged' || name === 'capabilities' || name === 'sysctls')
  )
}

function listFacts(value: Json | undefined): string[] {
  const facts: string[] = []
  visit(value, (key, below) => {
    if (RESTRICTING.has(key))
      facts.push(
        `${key}=${JSON.stringify(below, (_name, part) => (typeof part === 'bigint' ? String(part) : part))}`,
      )
  })
  return facts.sort()
}

function isFreeingPods(value: Json | undefined): boolean {
  let frees = false
  visit(value, (key, below) => {
    frees ||= isFreeing(key, below)
  })
  return frees
}

function isFreeing(key: string, value: Json): boolean {
  switch (key) {
    case 'privileged':
    case 'allowPrivilegeEscalation':
    case 'hostNetwork':
    case 'hostPID':
    case 'hostIPC':
    case 'hostProcess':
      return value === true
    case 'runAsNonRoot':
      return value === false
    case 'runAsUser':
      return value === 0
    case 'hostPort':
      return value !== 0
    case 'hostPath':
      return true
    case 'procMount':
      return value !== 'Default'
    case 'capabilities':
      return isJsonObject(value) && isNotEmpty(getKey(value, 'add'))
    case 'sysctls':
      return isNotEmpty(value)
    case 'seccompProfile':
    case 'appArmorProfile':
      return isJsonObject(value) && getKey(value, 'type') === 'Unconfined'
    case 'seLinuxOptions':
      return (
        isJsonObject(value) &&
        ['user', 'role', 'type'].some((name) => getKey(value, name) !== undefined)
      )
    default:
      return false
  }
}

function isNotEmpty(value: Json | undefined): boolean {
  return isJsonArray(value) && value.length > 0
}

export function hasKey(value: Json | undefined, keys: readonly string[]): boolean {
  let found = false
  visit(value, (key) => {
    found ||= keys.includes(key)
  })
  return found
}

function visit(value: Json | undefined, each: (key: string, below: Json) => void): void {
  const waiting: (Json | undefined)[] = [value]
  for (let next = waiting.pop(); next !== undefined || waiting.length > 0; next = waiting.pop()) {
    if (isJsonArray(next)) waiting.push(...next)
    else if (isJsonObject(next))
      for (const [key, below] of Object.entries(next as JsonObject)) {
        each(key, below)
        waiting.push(below)
      }
  }
}
