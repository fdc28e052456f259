/** Releases up to v0.4.1: rewrite every namespace even if unchanged. */
import { getTextOrEmpty, readText, writeText } from '@backporch/kpt/field'
import {
  copyNode,
  createYamlList,
  createYamlMap,
  findEntry,
  isNull,
  resolveAlias,
  setEntry,
  type YamlList,
  type YamlMap,
  type YamlNode,
} from '@backporch/kyaml/yaml'
import {
  DEPENDS_ON,
  getAnnotationText,
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

function findSpecialPath(item: YamlMap): readonly string[] | undefined {
  const [apiVersion, kind] = [getTextOrEmpty(item, 'apiVersion'), getTextOrEmpty(item, 'kind')]
  if (apiVersion === 'v1' && kind === 'Namespace') return NAME_PATH
  if (apiVersion === 'apiextensions.k8s.io/v1' && kind === 'CustomResourceDefinition')
    return WEBHOOK_PATH
  return apiVersion === 'apiregistration.k8s.io/v1' && kind === 'APIService'
    ? SERVICE_PATH
    : undefined
}

function hasSubjects(item: YamlMap): boolean {
  return /^(?:Cluster)?RoleBinding$/.test(getTextOrEmpty(item, 'kind'))
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
    const path = findSpecialPath(item)
    if (path !== undefined) visitAt(item, path)
    else if (hasSubjects(item)) {
      const subjects = ensureSubjects(item)
      for (const subject of subjects.items)
        if (subject.kind === 'map' && findEntry(subject, 'namespace') !== undefined)
          visitAt(subject, ['namespace'])
      restyle(subjects)
    }
    if (isScoped(item)) visitAt(item, OWN_PATH)
  }
}

function ensureSubjects(item: YamlMap): YamlList {
  const found = findEntry(item, 'subjects')?.value
  if (found?.kind === 'list') return found
  const created = createYamlList()
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
    else if (readText(createYamlMap([['text', node]]), ['text']).is !== 'text') return
    node.tag = isNull(node) ? '' : '!!str'
    node.style = node.value.includes('\n')
      ? 'literal'
      : BASE_60.test(node.value)
        ? 'double'
        : 'plain'
    return
  }
  if (node.kind === 'map') for (const entry of node.entries) entry.value = expandAlias(entry.value)
  else node.items = node.items.map(expandAlias)
  const below =
    node.kind === 'map' ? node.entries.flatMap(({ key, value }) => [key, value]) : node.items
  if (below.length === 0) return
  // A block cannot have a comment after it.
  if (node.style === 'flow') node.lineComment = ''
  node.style = 'block'
  below.forEach(restyle)
}

function expandAlias(node: YamlNode): YamlNode {
  return node.kind === 'alias' ? copyNode(resolveAlias(node)) : node
}

/** Why the original fails on the object. */
export function visitProblem(item: YamlMap, isScoped: Scoped): string | undefined {
  const paths = [findSpecialPath(item), isScoped(item) ? OWN_PATH : undefined].filter(
    (path) => path !== undefined,
  )
  for (const path of paths) {
    if (meetsAlias(item, path)) return ALIAS_PROBLEM
    if (readText(item, path).is === 'other') return describeWrongType(path)
  }
  return findSpecialPath(item) === undefined && hasSubjects(item)
    ? findSubjectsProblem(item)
    : undefined
}

function findSubjectsProblem(item: YamlMap): string | undefined {
  const subjects = findEntry(item, 'subjects')?.value
  if (subjects === undefined) return undefined
  if (subjects.kind === 'alias') return ALIAS_PROBLEM
  if (subjects.kind !== 'list') return describeWrongType(['subjects'])
  for (const subject of subjects.items) {
    if (subject.kind !== 'map') return describeWrongType(['subjects'])
    if (meetsAlias(subject, ['namespace'])) return ALIAS_PROBLEM
  }
  // An alias needs its anchor in the list, on a value that is not replaced.
  const nodes = listNodes(subjects)
  const replaced = new Set(subjects.items.map((subject) => findEntry(subject, 'namespace')?.value))
  const anchored = new Set(nodes.filter((node) => !replaced.has(node)))
  return nodes.every((node) => node.kind !== 'alias' || anchored.has(node.target))
    ? undefined
    : describeWrongType(['subjects'])
}

function listNodes(node: YamlNode): readonly YamlNode[] {
  const below =
    node.kind === 'map'
      ? node.entries.flatMap(({ key, value }) => [key, value])
      : node.kind === 'list'
        ? node.items
        : []
  return [node, ...below.flatMap(listNodes)]
}

function describeWrongType(path: readonly string[]): string {
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
  const known = new Set(visited.map(getDependencyKey))
  for (const item of visited) {
    const dependency = getAnnotationText(item, DEPENDS_ON)
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

function getDependencyKey(item: YamlMap): string {
  const [group = ''] = getTextOrEmpty(item, 'apiVersion').split('/')
  return JSON.stringify([
    group,
    getTextOrEmpty(item, 'kind'),
    getTextOrEmpty(item, 'metadata', 'name'),
  ])
}

/** A binding may have none. */
function isVisited(item: YamlMap, isScoped: Scoped): boolean {
  if (isScoped(item) || findSpecialPath(item) !== undefined) return true
  return (
    hasSubjects(item) &&
    ensureSubjects(item).items.some((subject) => findEntry(subject, 'namespace') !== undefined)
  )
}
