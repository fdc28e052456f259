import { matchesLabels, parseLabelSelector } from '@backporch/kyaml/resource'
import { entryOf, type YamlMap, type YamlNode } from '@backporch/kyaml/yaml'
import { isTaggedNull, rawText } from './field-locations.ts'
import {
  type ObjectId,
  type ObjectSelector,
  ReplacementProblem,
  type ReplacementSource,
} from './read-replacements.ts'

export function theOnlyOne(items: readonly YamlMap[], source: ReplacementSource): YamlMap {
  const [first, second] = items.filter((item) =>
    idsOf(item).some((id) => isSelected(id, source.id)),
  )
  if (second !== undefined)
    throw new ReplacementProblem(`multiple matches for selector ${sourceText(source)}`)
  if (first === undefined) throw new ReplacementProblem(`nothing selected by ${sourceText(source)}`)
  return first
}

/** The original does not require selectors and id to match both. */
export function isTarget(
  item: YamlMap,
  select: ObjectSelector,
  reject: readonly ObjectSelector[],
  { rejectsObjects }: { readonly rejectsObjects: boolean },
): boolean {
  const ids = idsOf(item)
  if (!matchesSelectors(item, select)) return false
  const rejecting = reject.filter(
    (each) => each.annotationSelector !== '' || each.labelSelector !== '',
  )
  if (rejecting.some((each) => matchesSelectors(item, each))) return false
  const byId = reject.filter(({ id }) => Object.values(id).some((part) => part !== ''))
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

function selects(text: string, item: YamlMap, field: 'labels' | 'annotations'): boolean {
  const parsed = parseLabelSelector(text)
  if ('problem' in parsed)
    throw new ReplacementProblem(`unable to parse requirement: ${parsed.problem}`)
  return matchesLabels(parsed.selector, textsOf(metadataField(item, field)))
}

export function isSecret(item: YamlMap): boolean {
  return rawFieldText(item, 'kind') === 'Secret'
}

const PREVIOUS = 'internal.config.kubernetes.io/previous'

function idsOf(item: YamlMap): readonly ObjectId[] {
  const apiVersion = rawFieldText(item, 'apiVersion')
  const slash = apiVersion.indexOf('/')
  const [group, version] =
    slash === -1 ? ['', apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)]
  const id = {
    group,
    version,
    kind: rawFieldText(item, 'kind'),
    name: metadataText(item, 'name'),
    namespace: metadataText(item, 'namespace'),
  }
  const annotations = textsOf(metadataField(item, 'annotations'))
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
function isSelected(id: ObjectId, selector: ObjectId): boolean {
  const plain = (['group', 'version', 'kind', 'name'] as const).every(
    (part) => selector[part] === '' || selector[part] === id[part],
  )
  return (
    plain &&
    (selector.namespace === '' || (selector.namespace || 'default') === (id.namespace || 'default'))
  )
}

export function idText({ group, version, kind, name, namespace }: ObjectId): string {
  return `${kind || '[noKind]'}.${version || '[noVer]'}.${group || '[noGrp]'}/${name || '[noName]'}.${namespace || '[noNs]'}`
}

function sourceText({ id, fieldPath, options }: ReplacementSource): string {
  const silent = options === undefined || (options.delimiter === '' && !options.create)
  const optionText = silent
    ? ''
    : `${options.delimiter}(${options.index}), create=${options.create}`
  return [idText(id), fieldPath, optionText].filter((part, at) => at === 0 || part !== '').join(':')
}

export function isNilOrEmpty(node: YamlNode, created: ReadonlySet<YamlNode>): boolean {
  if (node.kind === 'map') return node.entries.length === 0
  if (node.kind === 'list') return node.items.length === 0
  return isTaggedNull(node, created)
}

function rawFieldText(item: YamlMap, key: string): string {
  const found = entryOf(item, key)?.value
  return found === undefined ? '' : rawText(found)
}

function metadataField(item: YamlMap, key: string): YamlNode | undefined {
  const metadata = entryOf(item, 'metadata')?.value
  return metadata?.kind === 'map' ? entryOf(metadata, key)?.value : undefined
}

function metadataText(item: YamlMap, key: string): string {
  const found = metadataField(item, key)
  return found === undefined || isNilOrEmpty(found, new Set()) ? '' : rawText(found)
}

function textsOf(node: YamlNode | undefined): ReadonlyMap<string, string> {
  return new Map(
    node?.kind === 'map'
      ? node.entries.map(({ key, value }) => [rawText(key), rawText(value)])
      : [],
  )
}
