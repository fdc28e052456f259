/**
 * v0.1 and v0.2, kustomize's namespace transformer (kptdev/krm-functions-catalog
 * `functions/go/set-namespace` at `v0.2.0`).
 */
import { type FieldSpec, visitField } from '@backporch/kpt/field'
import { createFailedOutput, createSuccess, type KrmFunction } from '@backporch/kpt/function'
import { writeYamlNode } from '@backporch/kyaml/edit-yaml'
import { isNamespacedKind } from '@backporch/kyaml/resource'
import {
  createYamlPlain,
  findEntry,
  findNodeAt,
  findTextAt,
  isNull,
  type YamlMap,
  type YamlScalar,
} from '@backporch/kyaml/yaml'
import { findDuplicate } from '../../src/sources/kustomize/files/kustomize-resources.ts'
import { convertThroughJson } from '../../src/sources/kustomize/files/through-json.ts'
import {
  convertNodeToText,
  readMoreFields,
} from '../../src/sources/kustomize/files/transformer-config.ts'

/** v0.1.4. */
export const setNamespaceOfKustomize: KrmFunction = createKustomizeSetter(() => undefined)
/** v0.2.0. */
export const setNamespaceOfAccounts: KrmFunction = createKustomizeSetter(
  (object, namespace, accounts) =>
    setInSubjects(
      object,
      (subject) =>
        findTextAt(subject, 'kind') === ACCOUNT && accounts.has(findTextAt(subject, 'name') ?? ''),
      (node) => replaceWritten(node, namespace),
    ),
)

const ACCOUNT = 'ServiceAccount'
const OWN_FIELD: FieldSpec = { path: 'metadata/namespace', create: true }
/** kustomize api v0.8.11 `konfig/builtinpluginconsts/namespace.go`. */
const USUAL_FIELDS: readonly FieldSpec[] = [
  { kind: 'Namespace', path: 'metadata/name', create: true },
  {
    group: 'apiregistration.k8s.io',
    kind: 'APIService',
    path: 'spec/service/namespace',
    create: true,
  },
  {
    group: 'apiextensions.k8s.io',
    kind: 'CustomResourceDefinition',
    path: 'spec/conversion/webhook/clientConfig/service/namespace',
  },
]

type After = (
  object: YamlMap,
  namespace: string,
  accounts: ReadonlySet<string>,
) => string | undefined

/** Every object is new because it went through JSON. Includes local objects. */
function createKustomizeSetter(after: After): KrmFunction {
  return ({ items, config }) => {
    const read = readConfig(config)
    if ('problem' in read)
      return createFailedOutput(items, `failed to configure function: ${read.problem}`)
    const objects = items.filter(({ entries }) => entries.length > 0)
    const bad = findDuplicate(objects)
    if (bad !== undefined) return createFailedOutput(items, `failed to run function: ${bad}`)
    const accounts = new Set(
      objects
        .filter((item) => findTextAt(item, 'kind') === ACCOUNT)
        .map((item) => findTextAt(item, 'metadata', 'name') ?? ''),
    )
    const made: YamlMap[] = []
    for (const item of objects) {
      const object = changeNamespace(item, read)
      const problem = typeof object === 'string' ? object : after(object, read.namespace, accounts)
      if (problem !== undefined)
        return createFailedOutput(
          items,
          `failed to run function: failed to run transformer: ${problem}`,
        )
      if (typeof object !== 'string') made.push({ ...object, writes: item.writes })
    }
    return createSuccess(made)
  }
}

interface Config {
  readonly namespace: string
  readonly fields: readonly FieldSpec[]
}

function readConfig(config: YamlMap | undefined): Config | { readonly problem: string } {
  const [apiVersion, kind] = [findTextAt(config, 'apiVersion'), findTextAt(config, 'kind') ?? '']
  const isMap = apiVersion === 'v1' && kind === 'ConfigMap'
  const isOwn = apiVersion === 'fn.kpt.dev/v1alpha1' && /^SetNamespace(?:Config)?$/.test(kind)
  if (config === undefined || !(isMap || isOwn))
    return { problem: '`functionConfig` must be a `ConfigMap` or `SetNamespace`' }
  const given = findNodeAt(config, 'namespace')
  const namespace = isMap
    ? findTextAt(config, 'data', 'namespace')
    : given && convertNodeToText(given)
  const more = isMap ? [] : readMoreFields(config, 'additionalNamespaceFields')
  if ('problem' in more) return more
  if (!namespace) return { problem: 'input namespace cannot be empty' }
  return { namespace, fields: [...more.filter((field) => !isHandledApart(field)), ...USUAL_FIELDS] }
}

/** Config for these has no effect. */
function isHandledApart({ path, kind }: FieldSpec): boolean {
  return path === OWN_FIELD.path || (path === 'subjects' && isBinding(kind ?? ''))
}

function isBinding(kind: string): boolean {
  return kind === 'RoleBinding' || kind === 'ClusterRoleBinding'
}

function changeNamespace(item: YamlMap, { namespace, fields }: Config): YamlMap | string {
  const copy = convertThroughJson(item)
  if (typeof copy === 'string') return copy
  const { object } = copy
  const isCluster =
    isNamespacedKind(findTextAt(object, 'apiVersion') ?? '', findTextAt(object, 'kind') ?? '') ===
    false
  const setAt = (field: FieldSpec): string | undefined =>
    visitField(object, field, 'scalar', (node, path) => {
      if (node.kind !== 'scalar')
        return `wrong Node Kind for ${path.join('.')} expected: ScalarNode`
      setScalar(node, namespace)
      return undefined
    })
  const problems = [
    isCluster ? undefined : setAt(OWN_FIELD),
    setInSubjects(
      object,
      (subject) => findTextAt(subject, 'name') === 'default',
      (node) => setScalar(node, namespace),
    ),
    ...fields.map(setAt),
  ]
  const problem = problems.find((each) => each !== undefined)
  if (problem !== undefined) return problem
  const again = convertThroughJson(object)
  return typeof again === 'string' ? again : again.object
}

/** Text stays text; otherwise YAML decides the type of the new value. */
function setScalar(node: YamlScalar, namespace: string): void {
  if (node.tag !== '!!str') node.tag = ''
  node.value = namespace
}

/** Quotes stay; without quotes YAML decides the type of the new text. */
function replaceWritten(node: YamlScalar, namespace: string): void {
  const [first] = writeYamlNode(node)
  if (first === '"') node.style = 'double'
  else if (first === "'") node.style = 'single'
  node.tag = ''
  node.value = namespace
}

function setInSubjects(
  object: YamlMap,
  isMeant: (subject: YamlMap) => boolean,
  set: (node: YamlScalar) => void,
): string | undefined {
  if (!isBinding(findTextAt(object, 'kind') ?? '')) return undefined
  const subjects = findNodeAt(object, 'subjects')
  if (subjects === undefined || isNull(subjects)) return undefined
  if (subjects.kind !== 'list') return 'wrong Node Kind for subjects expected: SequenceNode'
  for (const subject of subjects.items) {
    if (isNull(subject)) continue
    if (subject.kind !== 'map') return 'wrong Node Kind for subjects expected: MappingNode'
    const name = findEntry(subject, 'name')?.value
    if (name !== undefined && name.kind !== 'scalar')
      return 'wrong Node Kind for name expected: ScalarNode'
    if (!isMeant(subject)) continue
    const entry = findEntry(subject, 'namespace') ?? {
      key: createYamlPlain('namespace'),
      value: createYamlPlain(''),
    }
    if (entry.value.kind !== 'scalar')
      return 'wrong Node Kind for subjects.namespace expected: ScalarNode'
    if (!subject.entries.includes(entry)) subject.entries.push(entry)
    set(entry.value)
  }
  return undefined
}
