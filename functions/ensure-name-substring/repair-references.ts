/** kustomize v0.15 `api/filters/nameref/nameref.go` */
import {
  createKyamlText,
  describeObject,
  type FieldSpec,
  getGroupVersionKind,
  isSelectedBy,
  visitField,
} from '@backporch/kpt/field'
import {
  createYamlPlain,
  findNodeAt,
  findTextAt,
  isNull,
  listItemsAt,
  resolveAlias,
  type YamlMap,
  type YamlNode,
} from '@backporch/kyaml/yaml'
import {
  CLUSTER,
  deriveEffectiveNamespace,
} from '../../src/sources/kustomize/files/kustomize-resources.ts'
import type { NameReferences } from './name-references.ts'

type Target = NameReferences['target']

export class Renamed {
  private readonly byName = new Map<string, YamlMap[]>()
  private readonly items = new Set<YamlMap>()

  /** Call before the name changes. */
  add(item: YamlMap): void {
    const others = this.byName.get(getName(item))
    if (others === undefined) this.byName.set(getName(item), [item])
    else others.push(item)
    this.items.add(item)
  }

  has(item: YamlMap): boolean {
    return this.items.has(item)
  }

  listItemsByName(name: string): readonly YamlMap[] {
    return this.byName.get(name) ?? []
  }
}

export function repairReferences(
  items: readonly YamlMap[],
  renamed: Renamed,
  references: readonly NameReferences[],
): string | undefined {
  for (const item of items) {
    const own = getGroupVersionKind(item)
    let repair: ReferenceRepair | undefined
    for (const { target, fields } of references)
      for (const field of fields) {
        if (!isSelectedBy(own, field)) continue
        repair ??= new ReferenceRepair(item, renamed)
        const problem = repair.repair(field, target)
        if (problem !== undefined)
          return `updating name reference in '${field.path}' field of '${describeObject(item)}': ${problem}`
      }
  }
  return undefined
}

type Found = { readonly item: YamlMap } | { readonly problem: string } | undefined

class ReferenceRepair {
  private readonly referrer: YamlMap
  private readonly renamed: Renamed
  private readonly namespace: string
  private readonly accountNamespaces: ReadonlySet<string>

  constructor(referrer: YamlMap, renamed: Renamed) {
    this.referrer = referrer
    this.renamed = renamed
    this.namespace = deriveEffectiveNamespace(referrer)
    this.accountNamespaces = listAccountNamespaces(referrer)
  }

  repair(field: FieldSpec, target: Target): string | undefined {
    const role = field.path.endsWith('roleRef/name') ? this.findRoleRef() : undefined
    return visitField(this.referrer, { ...field, create: false }, 'scalar', (node) => {
      if (isNull(node)) return undefined
      if (node.kind === 'scalar') return this.repairName(node, target, role)
      if (node.kind === 'map') return this.repairMap(node, target, role)
      if (node.kind === 'alias') return 'node must be a scalar, sequence or map'
      for (const each of node.items) {
        const problem = this.repairItem(resolveAlias(each), target, role)
        if (problem !== undefined) return problem
      }
      return undefined
    })
  }

  private repairItem(node: YamlNode, target: Target, role: Target | undefined): string | undefined {
    if (isNull(node)) return undefined
    if (node.kind === 'scalar') return this.repairName(node, target, role)
    return node.kind === 'map'
      ? this.repairMap(node, target, role)
      : 'an item is expected to be either a string or a map of string'
  }

  private repairName(node: YamlNode, target: Target, role: Target | undefined): string | undefined {
    if (node.kind !== 'scalar') return undefined
    const found = this.find(node.value, target, role, () => true, getName)
    if (found === undefined || 'problem' in found) return found?.problem
    setName(node, getName(found.item))
    return undefined
  }

  private repairMap(map: YamlMap, target: Target, role: Target | undefined): string | undefined {
    const name = findNodeAt(map, 'name')
    if (name === undefined) return "path config error; no 'name' field in node"
    const namespace = findNodeAt(map, 'namespace')
    const within = namespace?.kind === 'scalar' ? namespace.value : undefined
    const isThere = (item: YamlMap): boolean =>
      within === undefined || (deriveEffectiveNamespace(item) === within && within !== CLUSTER)
    const found = this.find(
      name.kind === 'scalar' ? name.value : '',
      target,
      role,
      isThere,
      (item) => JSON.stringify([getName(item), getNamespace(item)]),
    )
    if (found === undefined || 'problem' in found) return found?.problem
    setName(name, getName(found.item))
    const to = getNamespace(found.item)
    if (to === '') return undefined
    if (namespace === undefined)
      map.entries.push({ key: createYamlPlain('namespace'), value: createKyamlText(to) })
    else setName(namespace, to)
    return undefined
  }

  /** Several count as one if the relevant parts are equal. */
  private find(
    name: string,
    target: Target,
    role: Target | undefined,
    isThere: (item: YamlMap) => boolean,
    taken: (item: YamlMap) => string,
  ): Found {
    const candidates = this.renamed.listItemsByName(name).filter((item) => {
      const own = getGroupVersionKind(item)
      return (
        this.mayName(item) &&
        isThere(item) &&
        isSelectedBy(own, target) &&
        (role === undefined || isSelectedBy(own, role))
      )
    })
    const [first, ...others] = candidates
    if (first === undefined || others.length === 0) return first && { item: first }
    // The original compares the text added to the names, so only a renamed object can then refer to
    // one.
    if (!this.renamed.has(this.referrer)) return undefined
    if (others.every((item) => taken(item) === taken(first))) return { item: first }
    return {
      problem: `found multiple possible referrals: ${candidates.map(describeObject).join(', ')}`,
    }
  }

  /** A RoleBinding may name the namespace of an account; no other reference crosses namespaces. */
  private mayName(item: YamlMap): boolean {
    const namespace = deriveEffectiveNamespace(item)
    if (this.namespace === CLUSTER || namespace === CLUSTER || namespace === this.namespace)
      return true
    return (
      findTextAt(item, 'kind') === 'ServiceAccount' &&
      this.accountNamespaces.has(getNamespace(item))
    )
  }

  private findRoleRef(): Target | undefined {
    const [group, kind] = [
      findTextAt(this.referrer, 'roleRef', 'apiGroup'),
      findTextAt(this.referrer, 'roleRef', 'kind'),
    ]
    return group === undefined || kind === undefined ? undefined : { group, kind }
  }
}

function listAccountNamespaces(item: YamlMap): ReadonlySet<string> {
  if (findTextAt(item, 'kind') !== 'RoleBinding') return new Set()
  const accounts = listItemsAt(item, 'subjects').filter(
    (subject) => findTextAt(subject, 'kind') === 'ServiceAccount',
  )
  return new Set(accounts.flatMap((subject) => findTextAt(subject, 'namespace') ?? []))
}

function getName(item: YamlMap): string {
  return findTextAt(item, 'metadata', 'name') ?? ''
}

function getNamespace(item: YamlMap): string {
  return findTextAt(item, 'metadata', 'namespace') ?? ''
}

/** Keeps the quotes; the new text decides the type. */
export function setName(node: YamlNode, name: string): void {
  if (node.kind === 'scalar' && node.value !== name) Object.assign(node, { value: name, tag: '' })
}
