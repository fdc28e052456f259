/**
 * Copies a field of one object into fields of others, as kustomize's `replacements` do
 * (https://github.com/kubernetes-sigs/kustomize/blob/api/v0.19.0/api/filters/replacement/replacement.go, and the same file of api v0.10.1).
 */
import { failed, type KrmFunction, succeeded } from '@backporch/kpt/function'
import { matchesLabels, parseLabelSelector } from '@backporch/kyaml/resource'
import { goQuote } from '@backporch/kyaml/text'
import {
  copyNode,
  entryOf,
  type YamlMap,
  type YamlNode,
  type YamlScalar,
  yamlList,
  yamlMap,
  yamlPlain,
} from '@backporch/kyaml/yaml'
import { fieldAt, fieldsAt, isTaggedNull, rawText, splitFieldPath } from './field-locations.ts'
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

/** What the releases do differently. */
interface ReleaseRules {
  /** Whether `*` in the path of a source is a name. */
  readonly starIsName: boolean
  /** Whether a reject takes away an object by any of its ids, or only the id that it matches. */
  readonly rejectsObjects: boolean
  readonly write: (
    item: YamlMap,
    value: YamlNode,
    target: ReplacementTarget,
    created: Set<YamlNode>,
  ) => void
}

/** v0.1.2, with kustomize api v0.19: every field must exist, and gets the text of the value. */
export const applyReplacements = replacementsWith({
  starIsName: false,
  rejectsObjects: true,
  write: writeTexts,
})

/** v0.1.0 and v0.1.1, with kustomize api v0.10.1: one field of each path that exists becomes the value, with its quotes and comments. */
export const applyReplacementsAsWritten = replacementsWith({
  starIsName: true,
  rejectsObjects: false,
  write: writeNodes,
})

function replacementsWith(rules: ReleaseRules): KrmFunction {
  return ({ items, config }) => {
    const created = new Set<YamlNode>()
    try {
      for (const replacement of readReplacements(config))
        replace(items, replacement, rules, created)
    } catch (thrown) {
      if (thrown instanceof ReplacementProblem) return failed(items, thrown.message)
      throw thrown
    }
    return succeeded(items)
  }
}

/** One after the other: a later replacement reads the result of an earlier one. */
function replace(
  items: readonly YamlMap[],
  { source, targets }: Replacement,
  rules: ReleaseRules,
  created: Set<YamlNode>,
): void {
  if (source === undefined || targets === undefined) {
    throw new ReplacementProblem('replacements must specify a source and at least one target')
  }
  const value = sourceValue(items, source, rules, created)
  for (const target of targets) {
    if (target.select === undefined)
      throw new ReplacementProblem('target must specify resources to select')
    for (const item of items)
      if (isTarget(item, target.select, target.reject, rules))
        rules.write(item, value, target, created)
  }
}

function sourceValue(
  items: readonly YamlMap[],
  source: ReplacementSource,
  { starIsName }: ReleaseRules,
  created: Set<YamlNode>,
): YamlNode {
  const object = theOnlyOne(items, source)
  const secret = isSecret(object)
  const fieldPath = source.fieldPath === '' ? DEFAULT_FIELD_PATH : source.fieldPath
  const found = observing('error looking up replacement source', () =>
    fieldAt(object, splitFieldPath(fieldPath), { starIsName, create: undefined, created, secret }),
  )
  if (found === undefined || isNilOrEmpty(found, created)) {
    throw new ReplacementProblem(
      `fieldPath \`${fieldPath}\` is missing for replacement source ${idText(source.id)}`,
    )
  }
  if (!isJoined(source.options)) return found
  if (found.kind !== 'scalar')
    throw new ReplacementProblem('delimiter option can only be used with scalar nodes')
  const { delimiter, index } = source.options
  const part = found.value.split(delimiter)[index]
  if (part === undefined) {
    // The original shows the value of a Secret here.
    const shown = secret ? '(not shown)' : found.value
    throw new ReplacementProblem(`options.index ${index} is out of bounds for value ${shown}`)
  }
  const copy = copyNode(found)
  setText(copy, part, impliedTag(copy))
  return copy
}

function theOnlyOne(items: readonly YamlMap[], source: ReplacementSource): YamlMap {
  const [first, second] = items.filter((item) =>
    idsOf(item).some((id) => isSelected(id, source.id)),
  )
  if (second !== undefined)
    throw new ReplacementProblem(`multiple matches for selector ${sourceText(source)}`)
  if (first === undefined) throw new ReplacementProblem(`nothing selected by ${sourceText(source)}`)
  return first
}

/** A reject takes away by its selectors or by its id, whichever matches: the original does not ask for both. */
function isTarget(
  item: YamlMap,
  select: ObjectSelector,
  reject: readonly ObjectSelector[],
  { rejectsObjects }: ReleaseRules,
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

function writeTexts(
  item: YamlMap,
  value: YamlNode,
  { fieldPaths, options }: ReplacementTarget,
  created: Set<YamlNode>,
): void {
  const secret = isSecret(item)
  const create = options?.create === true ? () => emptyLike(value) : undefined
  for (const fieldPath of fieldPaths.length === 0 ? [DEFAULT_FIELD_PATH] : fieldPaths) {
    const missing = `unable to find ${create === undefined ? '' : 'or create '}field ${goQuote(fieldPath)} in replacement target`
    const fields = observing(missing, () =>
      fieldsAt(item, splitFieldPath(fieldPath), { create, created, secret }),
    )
    if (fields.length === 0) throw new ReplacementProblem(missing)
    for (const field of fields) writeText(field, value, options, created)
  }
}

function writeText(
  field: YamlNode,
  value: YamlNode,
  options: FieldOptions | undefined,
  created: Set<YamlNode>,
): void {
  const text = isJoined(options) ? joined(field, value, options, created) : rawText(value)
  // Only the text is copied: the field keeps the type it has, so that a number becomes text where text stood, and nothing is
  // done for a text such as `no`, which is text to kpt and a boolean to kubectl. A field that was created has no type.
  if (field.kind === 'scalar') setText(field, text, created.has(field) ? '' : impliedTag(field))
  else become(field, copyNode(value), created)
}

function writeNodes(
  item: YamlMap,
  value: YamlNode,
  { fieldPaths, options }: ReplacementTarget,
  created: Set<YamlNode>,
): void {
  const create = options?.create === true ? () => emptyLike(value) : undefined
  for (const fieldPath of fieldPaths.length === 0 ? [DEFAULT_FIELD_PATH] : fieldPaths) {
    const field = fieldAt(item, splitFieldPath(fieldPath), {
      starIsName: true,
      create,
      created,
      secret: isSecret(item),
    })
    if (field === undefined) continue
    if (field === item)
      throw new ReplacementProblem(
        `the field path ${goQuote(fieldPath)} is that of the whole object`,
      )
    const copy = copyNode(value)
    if (isJoined(options)) {
      const text = joined(field, value, options, created)
      if (copy.kind === 'scalar') setText(copy, text, impliedTag(copy))
    }
    become(field, copy, created)
  }
  const alias = unknownAlias(item, new Set())
  if (alias !== undefined) throw new ReplacementProblem(`unknown anchor '${alias}' referenced`)
}

/** As Go's `*node = *other`: what refers to the node has the other content. */
function become(node: YamlNode, other: YamlNode, created: Set<YamlNode>): void {
  created.delete(node)
  const { source, writes } = node
  for (const key of Object.keys(node))
    if (!Object.hasOwn(other, key)) Reflect.deleteProperty(node, key)
  Object.assign(node, other)
  // The field stays where its own file declares it, and not where the content is copied from.
  node.writes = writes
  if (source !== undefined && node.source !== undefined) {
    const { path, document, start, end } = source
    node.source = { ...node.source, path, document, start, end }
  }
}

/** The name of an alias without an anchor before it, after the replacement of either. */
function unknownAlias(node: YamlNode, anchors: Set<string>): string | undefined {
  if (node.kind === 'alias') return anchors.has(node.name) ? undefined : node.name
  if (node.anchor !== '') anchors.add(node.anchor)
  const below =
    node.kind === 'map'
      ? node.entries.flatMap(({ key, value }) => [key, value])
      : node.kind === 'list'
        ? node.items
        : []
  for (const each of below) {
    const found = unknownAlias(each, anchors)
    if (found !== undefined) return found
  }
  return undefined
}

/** @param tag what go-yaml resolved it to when it read it; empty for a node without a type */
function setText(node: YamlScalar, text: string, tag: string): void {
  node.value = text
  node.tag = hasTagOfItsText(node, tag) ? '' : tag
}

/** Whether go-yaml leaves the tag away when it writes the node. A tag that stood in the file is always written. */
function hasTagOfItsText(node: YamlScalar, tag: string): boolean {
  const written = node.source !== undefined && 'tagged' in node.source
  return !written && node.style === 'plain' && impliedTag({ ...node, tag: '' }) === tag
}

function isJoined(options: FieldOptions | undefined): options is FieldOptions {
  return options !== undefined && options.delimiter !== ''
}

/** The field with one part of it replaced; before the first or behind the last part the value becomes a new one. */
function joined(
  node: YamlNode,
  value: YamlNode,
  { delimiter, index }: FieldOptions,
  created: Set<YamlNode>,
): string {
  if (node.kind !== 'scalar')
    throw new ReplacementProblem('delimiter option can only be used with scalar nodes')
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
    if (thrown instanceof ReplacementProblem)
      throw new ReplacementProblem(`${prefix}: ${thrown.message}`)
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

/** An empty part of the selector fits all; no namespace and `default` are the same one, also for objects that have none. */
function isSelected(id: ObjectId, selector: ObjectId): boolean {
  const plain = (['group', 'version', 'kind', 'name'] as const).every(
    (part) => selector[part] === '' || selector[part] === id[part],
  )
  return (
    plain &&
    (selector.namespace === '' || (selector.namespace || 'default') === (id.namespace || 'default'))
  )
}

function idText({ group, version, kind, name, namespace }: ObjectId): string {
  return `${kind || '[noKind]'}.${version || '[noVer]'}.${group || '[noGrp]'}/${name || '[noName]'}.${namespace || '[noNs]'}`
}

function sourceText({ id, fieldPath, options }: ReplacementSource): string {
  const silent = options === undefined || (options.delimiter === '' && !options.create)
  const optionText = silent
    ? ''
    : `${options.delimiter}(${options.index}), create=${options.create}`
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
  return new Map(
    node?.kind === 'map'
      ? node.entries.map(({ key, value }) => [rawText(key), rawText(value)])
      : [],
  )
}
