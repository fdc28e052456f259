/** kustomize `api/types/fieldspec.go`, `api/filters/fieldspec/fieldspec.go`. */
import { parseApiVersion } from '@backporch/kyaml/resource'
import {
  createYamlList,
  createYamlMap,
  createYamlPlain,
  findEntry,
  findTextAt,
  isNull,
  resolveAlias,
  type YamlMap,
  type YamlNode,
} from '@backporch/kyaml/yaml'

/** An undefined or empty part matches anything. */
export interface FieldSpec {
  readonly group?: string
  readonly version?: string
  readonly kind?: string
  /** `\/` is a slash in a name. A list stands for each of its items, with or without `[]`. */
  readonly path: string
  readonly create?: boolean
}

interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

export function getGroupVersionKind(item: YamlMap): GroupVersionKind {
  return {
    ...parseApiVersion(findTextAt(item, 'apiVersion') ?? ''),
    kind: findTextAt(item, 'kind') ?? '',
  }
}

export function isSelectedBy(
  own: GroupVersionKind,
  { group, version, kind }: Omit<FieldSpec, 'path'>,
): boolean {
  const matches = (wanted: string | undefined, is: string): boolean =>
    wanted === undefined || wanted === '' || wanted === is
  return matches(group, own.group) && matches(version, own.version) && matches(kind, own.kind)
}

export function splitFieldPath(path: string): readonly string[] {
  const names: string[] = []
  for (const part of path.replace(/^\/(?=.)/, '').split('/')) {
    const last = names.at(-1)
    if (last?.endsWith('\\')) names[names.length - 1] = `${last.slice(0, -1)}/${part}`
    else names.push(part)
  }
  return names
}

type FieldVisit = (node: YamlNode, path: readonly string[]) => string | undefined

/**
 * Does nothing if a field is absent or null, unless the spec says `create`; the last node then has
 * the kind `created`. @returns the problem, or undefined
 */
export function visitField(
  item: YamlMap,
  spec: FieldSpec,
  created: 'map' | 'scalar',
  visit: FieldVisit,
): string | undefined {
  if (!isSelectedBy(getGroupVersionKind(item), spec)) return undefined
  const problem = new FieldWalk(spec.create === true, created, visit).walk(
    item,
    splitFieldPath(spec.path),
    [],
  )
  return problem === undefined
    ? undefined
    : `considering field '${spec.path}' of object ${describeObject(item)}: ${problem}`
}

class FieldWalk {
  private readonly create: boolean
  private readonly created: 'map' | 'scalar'
  private readonly visit: FieldVisit

  constructor(create: boolean, created: 'map' | 'scalar', visit: FieldVisit) {
    this.create = create
    this.created = created
    this.visit = visit
  }

  walk(node: YamlNode, names: readonly string[], path: readonly string[]): string | undefined {
    const [name, ...rest] = names
    const at = resolveAlias(node)
    if (name === undefined) return this.visit(at, path)
    if (isNull(at)) return undefined
    if (at.kind === 'map') return this.setBelow(at, name, rest, path)
    if (at.kind === 'scalar') return 'expected sequence or mapping node'
    for (const item of at.items) {
      const problem = this.walk(item, names, path)
      if (problem !== undefined) return `visit traversal on path: [${names.join(' ')}]: ${problem}`
    }
    return undefined
  }

  private setBelow(
    map: YamlMap,
    name: string,
    rest: readonly string[],
    path: readonly string[],
  ): string | undefined {
    const isList = name.endsWith('[]')
    const field = isList ? name.slice(0, -2) : name
    if (field === '') return 'cannot set or create an empty field name'
    const creates = this.create && !isList
    let entry = findEntry(map, field)
    if (entry === undefined) {
      if (!creates) return undefined
      entry = {
        key: createYamlPlain(field),
        value:
          rest.length === 0 && this.created === 'scalar' ? createYamlPlain('') : createYamlMap(),
      }
      map.entries.push(entry)
    } else if (isNull(entry.value) && (isList || creates)) {
      if (isList) entry.value = createYamlList()
      else if (rest.length > 0 || this.created === 'map') entry.value = createYamlMap()
    }
    return this.walk(entry.value, rest, [...path, field])
  }
}

/** As kustomize names an object. */
export function describeObject(item: YamlMap): string {
  const { group, version, kind } = getGroupVersionKind(item)
  const or = (text: string | undefined, none: string): string =>
    text === undefined || text === '' ? none : text
  const name = or(findTextAt(item, 'metadata', 'name'), '[noName]')
  const namespace = or(findTextAt(item, 'metadata', 'namespace'), '[noNs]')
  return `${or(kind, '[noKind]')}.${or(version, '[noVer]')}.${or(group, '[noGrp]')}/${name}.${namespace}`
}
