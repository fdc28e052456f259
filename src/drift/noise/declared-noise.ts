/** `mutation: ignore`, and values that the applier inserts. */
import { Failure } from '@backporch/kyaml/failure'
import { type FieldPath, findValueAt, indexOfStep } from '@backporch/kyaml/field'
import {
  getKey,
  getTextAt,
  isJsonArray,
  isJsonEqual,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { readYamlDocuments, type YamlDocument } from '@backporch/kyaml/read-yaml'
import { parseApiVersion } from '@backporch/kyaml/resource'
import { matchesParts } from '@backporch/kyaml/text'
import type { Drift } from '../compare/drift.ts'
import {
  describeWriter,
  isFromSyncer,
  isLive,
  isWrittenBy,
  type Judgement,
  muteDrift,
  type NoiseRule,
  type Surroundings,
  showDrift,
} from './noise-rule.ts'

const MUTATION = 'client.lifecycle.config.k8s.io/mutation'

/** Config Sync skips an object with the annotation in git and in the cluster (kpt-config-sync `pkg/diff`). */
function judgeMutation({ change }: Drift, { desired, live }: Surroundings): Judgement | undefined {
  if (change === 'missing' || change === 'unexpected') return undefined
  const [inGit, inCluster] = [
    getTextAt(desired, 'metadata', 'annotations', MUTATION),
    getTextAt(live, 'metadata', 'annotations', MUTATION),
  ]
  if (inGit !== 'ignore' && inCluster !== 'ignore') return undefined
  if (inGit !== 'ignore') return showDrift(`git does not have the annotation ${MUTATION}: ignore`)
  if (inCluster !== 'ignore')
    return showDrift(`the live object does not have the annotation ${MUTATION}: ignore`)
  return muteDrift(`git says that the object is created and then left alone (${MUTATION}: ignore)`)
}

const APPLY_TIME = 'config.kubernetes.io/apply-time-mutation'

interface Substitution {
  /** JSONPath. */
  readonly targetPath: string
  readonly token: string
  readonly source: {
    readonly group: string
    readonly kind: string
    readonly namespace: string
    readonly name: string
  }
  readonly sourcePath: string
}

function judgeApplyTime(drift: Drift, surroundings: Surroundings): Judgement | undefined {
  const { desired, syncer, liveOf } = surroundings
  const text = getTextAt(desired, 'metadata', 'annotations', APPLY_TIME) || undefined
  if (!isLive(drift) || text === undefined) return undefined
  const all = parseSubstitutions(text)
  if (all === undefined) return showDrift(`the annotation ${APPLY_TIME} cannot be read`)
  const here = all.filter(({ targetPath }) => isLocation(targetPath, drift.path, desired))
  if (here.length === 0) return undefined
  if (!isFromSyncer(drift, syncer) && !isWrittenBy(drift, /^(kpt(-.*)?|configsync(\.gke\.io)?)$/))
    return showDrift(`${describeWriter(drift)} wrote it, and not the syncer`)
  if (
    !canBecome(drift.git, drift.live, here, (substitution) => findSourceValue(substitution, liveOf))
  )
    return showDrift('the live value is not what the substitution gives')
  return muteDrift(`the applier puts the value in when it applies (${APPLY_TIME})`)
}

function findSourceValue(
  { source, sourcePath }: Substitution,
  liveOf: Surroundings['liveOf'],
): Json | undefined {
  const object = liveOf(source)
  return object === undefined ? undefined : readAt(object, parseSteps(sourcePath))
}

/** An unread source may have any value. */
function canBecome(
  git: Json | undefined,
  live: Json | undefined,
  all: readonly Substitution[],
  valueFrom: (from: Substitution) => Json | undefined,
): boolean {
  const whole = all.find(({ token }) => token === '')
  if (whole !== undefined) {
    const value = valueFrom(whole)
    return value === undefined || isJsonEqual(value, live)
  }
  if (typeof git !== 'string' || typeof live !== 'string') return false
  let parts = [git]
  const unknown: string[] = []
  for (const each of all) {
    const value = valueFrom(each)
    if (value === undefined || isJsonObject(value) || isJsonArray(value)) unknown.push(each.token)
    else parts = parts.map((part) => part.split(each.token).join(String(value)))
  }
  for (const token of unknown) parts = parts.flatMap((part) => part.split(token))
  return matchesParts(parts, live)
}

function parseSubstitutions(text: string): Substitution[] | undefined {
  let documents: readonly YamlDocument[]
  try {
    documents = readYamlDocuments(text, APPLY_TIME)
  } catch (thrown) {
    if (thrown instanceof Failure) return undefined
    throw thrown
  }
  const [document, second] = documents
  const list = document?.value
  if (
    list === undefined ||
    second !== undefined ||
    document?.aliases.length !== 0 ||
    !isJsonArray(list) ||
    !list.every(isJsonObject)
  )
    return undefined
  return list.map((each) => {
    const source = getKey(each, 'sourceRef')
    const group =
      getTextAt(source, 'group') || parseApiVersion(getTextAt(source, 'apiVersion')).group
    return {
      targetPath: getTextAt(each, 'targetPath'),
      token: getTextAt(each, 'token'),
      source: {
        group,
        kind: getTextAt(source, 'kind'),
        namespace: getTextAt(source, 'namespace'),
        name: getTextAt(source, 'name'),
      },
      sourcePath: getTextAt(each, 'sourcePath'),
    }
  })
}

type Step = string | number | { readonly key: string; readonly value: string }

/** Names, indexes, and `[?(@.key=="value")]`; undefined for other JSONPaths. */
function parseSteps(path: string): Step[] | undefined {
  const steps: Step[] = []
  const part =
    /\.([A-Za-z_][\w-]*)|\['([^'\\]*)'\]|\["([^"\\]*)"\]|\[(\d+)\]|\[\?\(@\.([\w-]+)\s*==\s*(?:"([^"\\]*)"|'([^'\\]*)')\)\]/y
  part.lastIndex = path.startsWith('$') ? 1 : 0
  while (part.lastIndex < path.length) {
    const match = part.exec(path)
    if (match === null) return undefined
    const [, name, single, double, index, key, left, right] = match
    if (key !== undefined) steps.push({ key, value: left ?? right ?? '' })
    else steps.push(index === undefined ? (name ?? single ?? double ?? '') : Number(index))
  }
  return steps.length === 0 ? undefined : steps
}

function readAt(object: JsonObject, steps: readonly Step[] | undefined): Json | undefined {
  if (steps === undefined) return undefined
  let value: Json | undefined = object
  for (const step of steps) {
    if (typeof step === 'string') value = isJsonObject(value) ? getKey(value, step) : undefined
    else if (!isJsonArray(value)) return undefined
    else if (typeof step === 'number') value = value[step]
    else value = value.find((item) => isJsonObject(item) && getKey(item, step.key) === step.value)
  }
  return value
}

/** Or a location above it, with git's list indexes. */
function isLocation(targetPath: string, path: FieldPath, desired: JsonObject): boolean {
  const steps = parseSteps(targetPath)
  if (steps === undefined || steps.length > path.length) return false
  return steps.every((step, index) => {
    const here = path[index]
    if (here === undefined) return false
    if (typeof step === 'string') return here.kind === 'field' && here.name === step
    if (typeof step !== 'number' && here.kind === 'item')
      return getKey(here.keys, step.key) === step.value
    const list = findValueAt(desired, path.slice(0, index))
    if (list === undefined) return false
    const position = indexOfStep(list, here)
    if (position === -1) return false
    if (typeof step === 'number') return position === step
    const item = isJsonArray(list) ? list[position] : undefined
    return isJsonObject(item) && getKey(item, step.key) === step.value
  })
}

export const DECLARED_RULES: readonly NoiseRule[] = [
  {
    name: 'mutation-ignore',
    reason: 'Git declares that the object is created once and then changed by others.',
    mutes:
      'every field of an object that has client.lifecycle.config.k8s.io/mutation: ignore in git and in the cluster; a missing object is shown.',
    link: 'https://cloud.google.com/kubernetes-engine/enterprise/config-sync/docs/how-to/managing-objects',
    judge: judgeMutation,
  },
  {
    name: 'apply-time-mutation',
    reason: 'The applier inserts values of other objects when it applies.',
    mutes:
      'the fields that config.kubernetes.io/apply-time-mutation names, with values that it can produce and that the syncer wrote; other values are shown.',
    link: 'https://kpt.dev/reference/annotations/apply-time-mutation/',
    judge: judgeApplyTime,
  },
]
