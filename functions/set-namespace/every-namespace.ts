/** Releases up to v0.4.1: rewrite every namespace even if unchanged. */
import { readText, textOrEmpty, writeText } from '@backporch/kpt/field'
import {
  copyNode,
  entryOf,
  isNull,
  resolved,
  setEntry,
  type YamlList,
  type YamlMap,
  type YamlNode,
  yamlList,
  yamlMap,
} from '@backporch/kyaml/yaml'
import {
  annotationText,
  DEPENDS_ON,
  NAMESPACE_SEGMENT,
  NAMESPACED_DEPENDENCY,
  SERVICE_PATH,
  WEBHOOK_PATH,
} from './namespace-location.ts'
import { ALIAS_PROBLEM, meetsAlias } from './sdk-problems.ts'

export type Scoped = (item: YamlMap) => boolean

/** Empty if the field is missing or not text. */
export interface VisitedNamespace {
  readonly namespace: string
  readonly isName: boolean
}

type Visit = (visited: VisitedNamespace) => string

const NAME_PATH = ['metadata', 'name']
const OWN_PATH = ['metadata', 'namespace']

function specialPath(item: YamlMap): readonly string[] | undefined {
  const [apiVersion, kind] = [textOrEmpty(item, 'apiVersion'), textOrEmpty(item, 'kind')]
  if (apiVersion === 'v1' && kind === 'Namespace') return NAME_PATH
  if (apiVersion === 'apiextensions.k8s.io/v1' && kind === 'CustomResourceDefinition')
    return WEBHOOK_PATH
  return apiVersion === 'apiregistration.k8s.io/v1' && kind === 'APIService'
    ? SERVICE_PATH
    : undefined
}

function hasSubjects(item: YamlMap): boolean {
  return /^(?:Cluster)?RoleBinding$/.test(textOrEmpty(item, 'kind'))
}

/** `visitProblem` must be undefined for the objects. */
export function visitNamespaces(objects: readonly YamlMap[], isScoped: Scoped, visit: Visit): void {
  const visitAt = (at: YamlMap, path: readonly string[]): void => {
    const read = readText(at, path)
    writeText(
      at,
      path,
      visit({ namespace: read.is === 'text' ? read.text : '', isName: path === NAME_PATH }),
    )
  }
  for (const item of objects) {
    const path = specialPath(item)
    if (path !== undefined) visitAt(item, path)
    else if (hasSubjects(item)) {
      const subjects = subjectsOf(item)
      for (const subject of subjects.items)
        if (subject.kind === 'map' && entryOf(subject, 'namespace') !== undefined)
          visitAt(subject, ['namespace'])
      restyle(subjects)
    }
    if (isScoped(item)) visitAt(item, OWN_PATH)
  }
}

function subjectsOf(item: YamlMap): YamlList {
  const found = entryOf(item, 'subjects')?.value
  if (found?.kind === 'list') return found
  const created = yamlList()
  setEntry(item, 'subjects', created)
  return created
}

/** YAML 1.1 reads `12:30` as a base-60 number, so go-yaml quotes it. */
const BASE_60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/

/**
 * Block style, like a list that was JSON. Comments and key order stay because kpt restores them;
 * sources stay because they locate a value in its file.
 */
function restyle(node: YamlNode): void {
  if (node.kind === 'alias') return
  node.anchor = ''
  if (node.kind === 'scalar') {
    if (isNull(node)) node.value = 'null'
    else if (readText(yamlMap([['text', node]]), ['text']).is !== 'text') return
    node.tag = isNull(node) ? '' : '!!str'
    node.style = node.value.includes('\n')
      ? 'literal'
      : BASE_60.test(node.value)
        ? 'double'
        : 'plain'
    return
  }
  if (node.kind === 'map') for (const entry of node.entries) entry.value = expanded(entry.value)
  else node.items = node.items.map(expanded)
  const below =
    node.kind === 'map' ? node.entries.flatMap(({ key, value }) => [key, value]) : node.items
  if (below.length === 0) return
  // A block cannot have a comment after it.
  if (node.style === 'flow') node.lineComment = ''
  node.style = 'block'
  below.forEach(restyle)
}

function expanded(node: YamlNode): YamlNode {
  return node.kind === 'alias' ? copyNode(resolved(node)) : node
}

/** Why the original fails on the object. */
export function visitProblem(item: YamlMap, isScoped: Scoped): string | undefined {
  const paths = [specialPath(item), isScoped(item) ? OWN_PATH : undefined].filter(
    (path) => path !== undefined,
  )
  for (const path of paths) {
    if (meetsAlias(item, path)) return ALIAS_PROBLEM
    if (readText(item, path).is === 'other') return wrongType(path)
  }
  return specialPath(item) === undefined && hasSubjects(item) ? subjectsProblem(item) : undefined
}

function subjectsProblem(item: YamlMap): string | undefined {
  const subjects = entryOf(item, 'subjects')?.value
  if (subjects === undefined) return undefined
  if (subjects.kind === 'alias') return ALIAS_PROBLEM
  if (subjects.kind !== 'list') return wrongType(['subjects'])
  for (const subject of subjects.items) {
    if (subject.kind !== 'map') return wrongType(['subjects'])
    if (meetsAlias(subject, ['namespace'])) return ALIAS_PROBLEM
  }
  // An alias needs its anchor in the list, on a value that is not replaced.
  const nodes = nodesOf(subjects)
  const replaced = new Set(subjects.items.map((subject) => entryOf(subject, 'namespace')?.value))
  const anchored = new Set(nodes.filter((node) => !replaced.has(node)))
  return nodes.every((node) => node.kind !== 'alias' || anchored.has(node.target))
    ? undefined
    : wrongType(['subjects'])
}

function nodesOf(node: YamlNode): readonly YamlNode[] {
  const below =
    node.kind === 'map'
      ? node.entries.flatMap(({ key, value }) => [key, value])
      : node.kind === 'list'
        ? node.items
        : []
  return [node, ...below.flatMap(nodesOf)]
}

function wrongType(path: readonly string[]): string {
  return `SubObject has unmatched field type: \`${path.join('/')}`
}

interface DependencyChange {
  readonly namespace: string
  readonly earlier: ReadonlySet<string>
  readonly isScoped: Scoped
}

/**
 * Without a group, the original uses the version as the group: a core object has the group `v1`.
 */
export function updateDependencies(
  objects: readonly YamlMap[],
  { namespace, earlier, isScoped }: DependencyChange,
): void {
  const visited = objects.filter((item) => isVisited(item, isScoped))
  const known = new Set(visited.map(dependencyKey))
  for (const item of visited) {
    const dependency = annotationText(item, DEPENDS_ON)
    if (!NAMESPACED_DEPENDENCY.test(dependency)) continue
    const segments = dependency.split('/')
    const [group = '', , own = '', kind = '', name = ''] = segments
    if (!known.has(JSON.stringify([group, kind, name])) || !earlier.has(own)) continue
    writeText(
      item,
      ['metadata', 'annotations', DEPENDS_ON],
      segments.with(NAMESPACE_SEGMENT, namespace).join('/'),
    )
  }
}

function dependencyKey(item: YamlMap): string {
  const [group = ''] = textOrEmpty(item, 'apiVersion').split('/')
  return JSON.stringify([group, textOrEmpty(item, 'kind'), textOrEmpty(item, 'metadata', 'name')])
}

/** A binding may have none. */
function isVisited(item: YamlMap, isScoped: Scoped): boolean {
  if (isScoped(item) || specialPath(item) !== undefined) return true
  return (
    hasSubjects(item) &&
    subjectsOf(item).items.some((subject) => entryOf(subject, 'namespace') !== undefined)
  )
}
