/** kptdev/krm-functions-catalog `functions/go/ensure-name-substring` */
import {
  describeObject,
  type FieldSpec,
  getGroupVersionKind,
  isSelectedBy,
  readItemAnnotations,
  restyleAnnotations,
  visitField,
} from '@backporch/kpt/field'
import { createFailedOutput, createSuccess, type KrmFunction } from '@backporch/kpt/function'
import { findNodeAt, findTextAt, mapAt, type YamlMap } from '@backporch/kyaml/yaml'
import { findDuplicate } from '../../src/sources/kustomize/files/kustomize-resources.ts'
import { type NameConfig, readNameConfig } from './name-config.ts'
import { NAME_REFERENCES } from './name-references.ts'
import { Renamed, repairReferences, setName } from './repair-references.ts'

const UNNAMED: readonly Omit<FieldSpec, 'path'>[] = [
  { kind: 'CustomResourceDefinition' },
  { group: 'apiregistration.k8s.io', kind: 'APIService' },
  { kind: 'Namespace' },
  { group: 'kpt.dev', kind: 'Kptfile' },
]

const NAME_FIELDS: readonly FieldSpec[] = [{ path: 'metadata/name' }]

const DEPENDS_ON = 'config.kubernetes.io/depends-on'
const NAMESPACED = /^[-.\w]*\/namespaces\/[-.\w]*\/[-.\w]*\/[-.\w]*$/
const CLUSTER_SCOPED = /^[-.\w]*\/[-.\w]*\/[-.\w]*$/

/** kustomize removes these at the end. */
const TRACKS =
  'previousKinds previousNames prefixes suffixes previousNamespaces allowNameChange allowKindChange refBy generatorBehavior needsHashSuffix'
    .split(' ')
    .map((name) => `internal.config.kubernetes.io/${name}`)

/** v0.2.0. Also renames local-config objects and objects without kind or name. */
export const ensureNameSubstring: KrmFunction = ({ items, config }) => {
  const read = readNameConfig(config)
  if ('problem' in read)
    return createFailedOutput(items, `failed to load the \`functionConfig\`: ${read.problem}`)
  const objects = items.filter(({ entries }) => entries.length > 0)
  const bad = findDuplicate(objects)
  if (bad !== undefined)
    return createFailedOutput(items, `failed to convert items to resource map: ${bad}`)
  const known = new Set(objects.map(getDependencyKey))
  const renamed = new Renamed()
  for (const item of objects) {
    const problem = rename(item, read, known, renamed)
    if (problem !== undefined)
      return createFailedOutput(items, `failed to transform name substring: ${problem}`)
  }
  const problem = repairReferences(objects, renamed, NAME_REFERENCES)
  if (problem !== undefined)
    return createFailedOutput(items, `failed to fix name back reference: ${problem}`)
  for (const item of objects) {
    const annotations = readItemAnnotations(item)
    if (annotations.size === 0 && !renamed.has(item)) continue
    for (const name of TRACKS) annotations.delete(name)
    restyleAnnotations(item, annotations)
  }
  return createSuccess(objects)
}

function rename(
  item: YamlMap,
  config: NameConfig,
  known: ReadonlySet<string>,
  renamed: Renamed,
): string | undefined {
  const own = getGroupVersionKind(item)
  if (UNNAMED.some((each) => isSelectedBy(own, each))) return undefined
  for (const field of [...NAME_FIELDS, ...config.fields]) {
    if (!isSelectedBy(own, field)) continue
    const isName = field.path === 'metadata/name'
    const has = isName
      ? (findTextAt(item, 'metadata', 'name') ?? '').includes(config.substring)
      : containsSubstring(item, field, config.substring)
    if (typeof has === 'string') return has
    if (has) continue
    if (isName) renamed.add(item)
    const problem = visitField(item, field, 'scalar', (node, path) => {
      if (node.kind !== 'scalar')
        return `wrong Node Kind for ${path.join('.')} expected: ScalarNode`
      setName(node, addSubstring(node.value, config))
      return undefined
    })
    if (problem !== undefined) return problem
    renameDependency(item, config, known)
  }
  return undefined
}

function addSubstring(name: string, { substring, mode }: NameConfig): string {
  return mode === 'prepend' ? substring + name : name + substring
}

function containsSubstring(item: YamlMap, field: FieldSpec, substring: string): boolean | string {
  const names = field.path.split('/').filter((name) => name.trim() !== '')
  for (const [index] of names.entries()) {
    if (findNodeAt(item, ...names.slice(0, index))?.kind === 'list')
      return `unable to lookup path ${field.path} in ${describeObject(item)}: wrong Node Kind for ${names.slice(0, index).join('.')} expected: MappingNode was SequenceNode`
  }
  let has = false
  visitField(item, { ...field, path: field.path, create: false }, 'scalar', (node) => {
    has ||= node.kind === 'scalar' && node.value.includes(substring)
    return undefined
  })
  return has
}

function getDependencyKey(item: YamlMap): string {
  const { group, kind } = getGroupVersionKind(item)
  return `${group}/${kind}/${findTextAt(item, 'metadata', 'name') ?? ''}`
}

function renameDependency(item: YamlMap, config: NameConfig, known: ReadonlySet<string>): void {
  const dependency = readItemAnnotations(item).get(DEPENDS_ON)
  if (dependency === undefined) return
  const segments = dependency.split('/')
  const [kind, name] = NAMESPACED.test(dependency)
    ? [3, 4]
    : CLUSTER_SCOPED.test(dependency)
      ? [1, 2]
      : []
  if (kind === undefined || name === undefined) return
  if (!known.has(`${segments[0] ?? ''}/${segments[kind] ?? ''}/${segments[name] ?? ''}`)) return
  const annotations = mapAt(item, 'metadata', 'annotations')
  const node = findNodeAt(annotations, DEPENDS_ON)
  if (node !== undefined)
    setName(node, segments.with(name, addSubstring(segments[name] ?? '', config)).join('/'))
}
