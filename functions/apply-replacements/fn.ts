/**
 * Copies a field of one object into fields of others, as kustomize's `replacements` do
 * (https://github.com/kubernetes-sigs/kustomize/blob/api/v0.15.0/api/filters/replacement/replacement.go).
 */

import { matchesLabels, parseLabelSelector } from '../../src/krm/label-selector.ts'
import { failed, type KrmFunction, succeeded } from '../../src/render/kpt/krm-function.ts'
import { goQuote } from '../../src/text/go-quote.ts'
import { copyNode, entryOf, type YamlMap, type YamlNode, type YamlScalar, yamlList, yamlMap, yamlPlain } from '../../src/yaml/yaml-node.ts'
import { type FieldLocation, isTaggedNull, rawText, sourceField, splitFieldPath, targetFields } from './field-locations.ts'
import { impliedTag } from './implied-tag.ts'
import {
  type FieldOptions,
  type ObjectId,
  type ObjectSelector,
  type Replacement,
  ReplacementProblem,
  type ReplacementSource,
  type ReplacementTarget,
  readReplacements,
} from './read-replacements.ts'

const DEFAULT_FIELD_PATH = 'metadata.name'

export const applyReplacements: KrmFunction = ({ items, config }) => {
  const created = new Set<YamlNode>()
  try {
    for (const replacement of readReplacements(config)) replace(items, replacement, created)
  } catch (thrown) {
    if (thrown instanceof ReplacementProblem) return failed(items, thrown.message)
    throw thrown
  }
  return succeeded(items)
}

/** One after the other: a later replacement reads the result of an earlier one. */
function replace(items: readonly YamlMap[], { source, targets }: Replacement, created: Set<YamlNode>): void {
  if (source === undefined || targets === undefined) {
    throw new ReplacementProblem('replacements must specify a source and at least one target')
  }
  const value = sourceValue(items, source, created)
  for (const target of targets) {
    if (target.select === undefined) throw new ReplacementProblem('target must specify resources to select')
    for (const item of items) if (isTarget(item, target.select, target.reject)) writeInto(item, value, target, created)
  }
}

function sourceValue(items: readonly YamlMap[], source: ReplacementSource, created: Set<YamlNode>): YamlNode {
  const object = theOnlyOne(items, source)
  const secret = isSecret(object)
  const fieldPath = source.fieldPath === '' ? DEFAULT_FIELD_PATH : source.fieldPath
  const found = observing('error looking up replacement source', () => sourceField(object, splitFieldPath(fieldPath), { created, secret }))
  if (found === undefined || isNilOrEmpty(found, created)) {
    throw new ReplacementProblem(`fieldPath \`${fieldPath}\` is missing for replacement source ${idText(source.id)}`)
  }
  if (source.options === undefined || source.options.delimiter === '') return found
  if (found.kind !== 'scalar') throw new ReplacementProblem('delimiter option can only be used with scalar nodes')
  const { delimiter, index } = source.options
  const part = found.value.split(delimiter)[index]
  if (part === undefined) {
    // The original shows the value of a Secret here.
    const shown = secret ? '(not shown)' : found.value
    throw new ReplacementProblem(`options.index ${index} is out of bounds for value ${shown}`)
  }
  return { ...copyNode(found), value: part }
}

function theOnlyOne(items: readonly YamlMap[], source: ReplacementSource): YamlMap {
  const [first, second] = items.filter((item) => idsOf(item).some((id) => isSelected(id, source.id)))
  if (second !== undefined) throw new ReplacementProblem(`multiple matches for selector ${sourceText(source)}`)
  if (first === undefined) throw new ReplacementProblem(`nothing selected by ${sourceText(source)}`)
  return first
}

/** A reject takes away by its selectors or by its id, whichever matches: the original does not ask for both. */
function isTarget(item: YamlMap, select: ObjectSelector, reject: readonly ObjectSelector[]): boolean {
  const ids = idsOf(item)
  if (!matchesSelectors(item, select)) return false
  const rejecting = reject.filter((each) => each.annotationSelector !== '' || each.labelSelector !== '')
  if (rejecting.some((each) => matchesSelectors(item, each))) return false
  if (!ids.some((id) => isSelected(id, select.id))) return false
  return !reject.some(({ id }) => Object.values(id).some((part) => part !== '') && ids.some((each) => isSelected(each, id)))
}

function matchesSelectors(item: YamlMap, { annotationSelector, labelSelector }: ObjectSelector): boolean {
  const annotations = selects(annotationSelector, item, 'annotations')
  return selects(labelSelector, item, 'labels') && annotations
}

function selects(text: string, item: YamlMap, field: 'labels' | 'annotations'): boolean {
  const parsed = parseLabelSelector(text)
  if ('problem' in parsed) throw new ReplacementProblem(`unable to parse requirement: ${parsed.problem}`)
  return matchesLabels(parsed.selector, textsOf(metadataField(item, field)))
}

function writeInto(item: YamlMap, value: YamlNode, { fieldPaths, options }: ReplacementTarget, created: Set<YamlNode>): void {
  const secret = isSecret(item)
  // No path ends at the object itself.
  const whole: FieldLocation = { node: item, replace: () => undefined }
  const create = options?.create === true ? () => emptyLike(value) : undefined
  for (const fieldPath of fieldPaths.length === 0 ? [DEFAULT_FIELD_PATH] : fieldPaths) {
    const missing = `unable to find ${create === undefined ? '' : 'or create '}field ${goQuote(fieldPath)} in replacement target`
    const locations = observing(missing, () => targetFields(whole, splitFieldPath(fieldPath), { create, created, secret }))
    if (locations.length === 0) throw new ReplacementProblem(missing)
    for (const location of locations) writeAt(location, value, options, created)
  }
}

function writeAt({ node, replace }: FieldLocation, value: YamlNode, options: FieldOptions | undefined, created: Set<YamlNode>): void {
  const text = options === undefined || options.delimiter === '' ? rawText(value) : joined(node, value, options, created)
  if (node.kind !== 'scalar') {
    replace(copyNode(value))
    return
  }
  // Only the text is copied: the field keeps the type it has, so that a number becomes text where text stood, and nothing is
  // done for a text such as `no`, which is text to kpt and a boolean to kubectl. A field that was created has no type.
  const tag = created.has(node) ? '' : impliedTag(node)
  node.value = text
  node.tag = hasTagOfItsText(node, tag) ? '' : tag
}

/** Whether go-yaml leaves the tag away when it writes the node. A tag that stood in the file is always written. */
function hasTagOfItsText(node: YamlScalar, tag: string): boolean {
  const written = node.source !== undefined && 'tagged' in node.source
  return !written && node.style === 'plain' && impliedTag({ ...node, tag: '' }) === tag
}

/** The field with one part of it replaced; before the first or behind the last part the value becomes a new one. */
function joined(node: YamlNode, value: YamlNode, { delimiter, index }: FieldOptions, created: Set<YamlNode>): string {
  if (node.kind !== 'scalar') throw new ReplacementProblem('delimiter option can only be used with scalar nodes')
  const parts = node.value.split(delimiter)
  const part = isTaggedNull(value, created) ? '' : rawText(value)
  if (index < 0) parts.unshift(part)
  else if (index >= parts.length) parts.push(part)
  else parts[index] = part
  return parts.join(delimiter)
}

/** What is created for a value before the value is written: an alias has no empty form. */
function emptyLike(value: YamlNode): YamlNode {
  if (value.kind === 'list') return yamlList()
  if (value.kind === 'map') return yamlMap()
  return value.kind === 'alias' ? copyNode(value) : yamlPlain('')
}

/** Runs a search and prefixes its problems. */
function observing<T>(prefix: string, search: () => T): T {
  try {
    return search()
  } catch (thrown) {
    if (thrown instanceof ReplacementProblem) throw new ReplacementProblem(`${prefix}: ${thrown.message}`)
    throw thrown
  }
}

function isSecret(item: YamlMap): boolean {
  return rawFieldText(item, 'kind') === 'Secret'
}

const PREVIOUS = 'internal.config.kubernetes.io/previous'

/** The id of the object and, if kustomize noted it, its earlier id. */
function idsOf(item: YamlMap): readonly ObjectId[] {
  const apiVersion = rawFieldText(item, 'apiVersion')
  const slash = apiVersion.indexOf('/')
  const [group, version] = slash === -1 ? ['', apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)]
  const id = {
    group,
    version,
    kind: rawFieldText(item, 'kind'),
    name: metadataText(item, 'name'),
    namespace: metadataText(item, 'namespace'),
  }
  const annotations = textsOf(metadataField(item, 'annotations'))
  const [names, namespaces, kinds] = ['Names', 'Namespaces', 'Kinds'].map((each) => annotations.get(`${PREVIOUS}${each}`))
  if (names === undefined) return [id]
  const [allNames, allNamespaces, allKinds] = [names.split(','), (namespaces ?? '').split(','), (kinds ?? '').split(',')]
  if (allNames.length !== allNamespaces.length || allNames.length !== allKinds.length) {
    throw new ReplacementProblem('number of previous names, number of previous namespaces, number of previous kinds not equal')
  }
  const previous = allNames.map((name, at) => ({ ...id, name, namespace: allNamespaces[at] ?? '', kind: allKinds[at] ?? '' }))
  return [id, ...previous]
}

/** An empty part of the selector fits all; no namespace and `default` are the same one, also for objects that have none. */
function isSelected(id: ObjectId, selector: ObjectId): boolean {
  const plain = (['group', 'version', 'kind', 'name'] as const).every((part) => selector[part] === '' || selector[part] === id[part])
  return plain && (selector.namespace === '' || (selector.namespace || 'default') === (id.namespace || 'default'))
}

function idText({ group, version, kind, name, namespace }: ObjectId): string {
  return `${kind || '[noKind]'}.${version || '[noVer]'}.${group || '[noGrp]'}/${name || '[noName]'}.${namespace || '[noNs]'}`
}

function sourceText({ id, fieldPath, options }: ReplacementSource): string {
  const silent = options === undefined || (options.delimiter === '' && !options.create)
  const optionText = silent ? '' : `${options.delimiter}(${options.index}), create=${options.create}`
  return [idText(id), fieldPath, optionText].filter((part, at) => at === 0 || part !== '').join(':')
}

function isNilOrEmpty(node: YamlNode, created: ReadonlySet<YamlNode>): boolean {
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
  return new Map(node?.kind === 'map' ? node.entries.map(({ key, value }) => [rawText(key), rawText(value)]) : [])
}
