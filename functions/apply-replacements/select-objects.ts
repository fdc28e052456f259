import { matchesLabels, parseLabelSelector } from '@backporch/kyaml/resource'
import { findEntry, type YamlMap, type YamlNode } from '@backporch/kyaml/yaml'
import { getRawText, isTaggedNull } from './field-locations.ts'
import {
  type ObjectId,
  type ObjectPattern,
  type ObjectSelector,
  ReplacementProblem,
  type ReplacementSource,
} from './read-replacements.ts'

export function selectOnlyObject(items: readonly YamlMap[], source: ReplacementSource): YamlMap {
  const [first, second] = items.filter((item) =>
    listObjectIds(item).some((id) => isSelected(id, source.id)),
  )
  if (second !== undefined)
    throw new ReplacementProblem(`multiple matches for selector ${formatSource(source)}`)
  if (first === undefined)
    throw new ReplacementProblem(`nothing selected by ${formatSource(source)}`)
  return first
}

/** The original does not require selectors and id to match both. */
export function isTarget(
  item: YamlMap,
  select: ObjectSelector,
  reject: readonly ObjectSelector[],
  { rejectsObjects }: { readonly rejectsObjects: boolean },
): boolean {
  const ids = listObjectIds(item)
  if (!matchesSelectors(item, select)) return false
  const rejecting = reject.filter(
    (each) => each.annotationSelector !== undefined || each.labelSelector !== undefined,
  )
  if (rejecting.some((each) => matchesSelectors(item, each))) return false
  const byId = reject.filter(({ id }) => Object.values(id).some((part) => part !== undefined))
  const isRejected = (id: ObjectId): boolean => byId.some((each) => isSelected(id, each.id))
  if (rejectsObjects && ids.some(isRejected)) return false
  return ids.some((id) => isSelected(id, select.id) && !isRejected(id))
}

function matchesSelectors(
  item: YamlMap,
  { annotationSelector, labelSelector }: ObjectSelector,
): boolean {
  const annotations = selects(annotationSelector, item, 'annotations')
  return selects(labelSelector, item, 'labels') && annotations
}

function selects(
  text: string | undefined,
  item: YamlMap,
  field: 'labels' | 'annotations',
): boolean {
  if (text === undefined) return true
  const parsed = parseLabelSelector(text)
  if ('problem' in parsed)
    throw new ReplacementProblem(`unable to parse requirement: ${parsed.problem}`)
  return matchesLabels(parsed.selector, buildTextMap(findMetadataField(item, field)))
}

export function isSecret(item: YamlMap): boolean {
  return getRawFieldText(item, 'kind') === 'Secret'
}

const PREVIOUS = 'internal.config.kubernetes.io/previous'

function listObjectIds(item: YamlMap): readonly ObjectId[] {
  const apiVersion = getRawFieldText(item, 'apiVersion')
  const slash = apiVersion.indexOf('/')
  const [group, version] =
    slash === -1 ? ['', apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)]
  const id = {
    group,
    version,
    kind: getRawFieldText(item, 'kind'),
    name: getMetadataText(item, 'name'),
    namespace: getMetadataText(item, 'namespace'),
  }
  const annotations = buildTextMap(findMetadataField(item, 'annotations'))
  const [names, namespaces, kinds] = ['Names', 'Namespaces', 'Kinds'].map((each) =>
    annotations.get(`${PREVIOUS}${each}`),
  )
  if (names === undefined) return [id]
  const [allNames, allNamespaces, allKinds] = [
    names.split(','),
    (namespaces ?? '').split(','),
    (kinds ?? '').split(','),
  ]
  if (allNames.length !== allNamespaces.length || allNames.length !== allKinds.length) {
    throw new ReplacementProblem(
      'number of previous names, number of previous namespaces, number of previous kinds not equal',
    )
  }
  const previous = allNames.map((name, at) => ({
    ...id,
    name,
    namespace: allNamespaces[at] ?? '',
    kind: allKinds[at] ?? '',
  }))
  return [id, ...previous]
}

/** No namespace equals `default`, also for cluster-scoped objects. */
function isSelected(id: ObjectId, selector: ObjectPattern): boolean {
  const plain = (['group', 'version', 'kind', 'name'] as const).every(
    (part) => selector[part] === undefined || selector[part] === id[part],
  )
  return (
    plain &&
    (selector.namespace === undefined || selector.namespace === (id.namespace || 'default'))
  )
}

export function formatObjectId({ group, version, kind, name, namespace }: ObjectPattern): string {
  return `${kind || '[noKind]'}.${version || '[noVer]'}.${group || '[noGrp]'}/${name || '[noName]'}.${namespace || '[noNs]'}`
}

function formatSource({ id, fieldPath, options }: ReplacementSource): string {
  const silent = options === undefined || (options.delimiter === undefined && !options.create)
  const optionText = silent
    ? ''
    : `${options.delimiter ?? ''}(${options.index}), create=${options.create}`
  return [formatObjectId(id), fieldPath ?? '', optionText]
    .filter((part, at) => at === 0 || part !== '')
    .join(':')
}

export function isNilOrEmpty(node: YamlNode, created: ReadonlySet<YamlNode>): boolean {
  if (node.kind === 'map') return node.entries.length === 0
  if (node.kind === 'list') return node.items.length === 0
  return isTaggedNull(node, created)
}

function getRawFieldText(item: YamlMap, key: string): string {
  const found = findEntry(item, key)?.value
  return found === undefined ? '' : getRawText(found)
}

function findMetadataField(item: YamlMap, key: string): YamlNode | undefined {
  const metadata = findEntry(item, 'metadata')?.value
  return metadata?.kind === 'map' ? findEntry(metadata, key)?.value : undefined
}

function getMetadataText(item: YamlMap, key: string): string {
  const found = findMetadataField(item, key)
  return found === undefined || isNilOrEmpty(found, new Set()) ? '' : getRawText(found)
}

function buildTextMap(node: YamlNode | undefined): ReadonlyMap<string, string> {
  return new Map(
    node?.kind === 'map'
      ? node.entries.map(({ key, value }) => [getRawText(key), getRawText(value)])
      : [],
  )
}
