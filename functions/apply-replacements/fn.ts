/**
 * kustomize `replacements`
 * (https://github.com/kubernetes-sigs/kustomize/blob/api/v0.19.0/api/filters/replacement/replacement.go,
 * and the same file of api v0.10.1).
 */
import { createFailedOutput, createSuccess, type KrmFunction } from '@backporch/kpt/function'
import { goQuote } from '@backporch/kyaml/text'
import {
  copyNode,
  createYamlList,
  createYamlMap,
  createYamlPlain,
  type YamlMap,
  type YamlNode,
  type YamlScalar,
} from '@backporch/kyaml/yaml'
import {
  findFieldAt,
  getRawText,
  isTaggedNull,
  listFieldsAt,
  splitFieldPath,
} from './field-locations.ts'
import {
  type FieldOptions,
  getImpliedTag,
  type Replacement,
  ReplacementProblem,
  type ReplacementSource,
  type ReplacementTarget,
  readReplacements,
} from './read-replacements.ts'
import {
  formatObjectId,
  isNilOrEmpty,
  isSecret,
  isTarget,
  selectOnlyObject,
} from './select-objects.ts'

const DEFAULT_FIELD_PATH = 'metadata.name'

interface ReleaseRules {
  readonly starIsName: boolean
  /** Whether a reject excludes an object by any of its ids, or only the id that matches. */
  readonly rejectsObjects: boolean
  readonly write: (
    item: YamlMap,
    value: YamlNode,
    target: ReplacementTarget,
    created: Set<YamlNode>,
  ) => void
}

/** v0.1.2 (kustomize api v0.19): every field must exist and gets the text of the value. */
export const applyReplacements = createReplacementFunction({
  starIsName: false,
  rejectsObjects: true,
  write: writeTexts,
})

/**
 * v0.1.0 and v0.1.1 (kustomize api v0.10.1): one existing field per path becomes the value, with
 * quotes and comments.
 */
export const applyReplacementsAsWritten = createReplacementFunction({
  starIsName: true,
  rejectsObjects: false,
  write: writeNodes,
})

function createReplacementFunction(rules: ReleaseRules): KrmFunction {
  return ({ items, config }) => {
    const created = new Set<YamlNode>()
    try {
      for (const replacement of readReplacements(config))
        replace(items, replacement, rules, created)
    } catch (thrown) {
      if (thrown instanceof ReplacementProblem) return createFailedOutput(items, thrown.message)
      throw thrown
    }
    return createSuccess(items)
  }
}

function replace(
  items: readonly YamlMap[],
  { source, targets }: Replacement,
  rules: ReleaseRules,
  created: Set<YamlNode>,
): void {
  if (source === undefined || targets === undefined) {
    throw new ReplacementProblem('replacements must specify a source and at least one target')
  }
  const value = resolveSourceValue(items, source, rules, created)
  for (const target of targets) {
    if (target.select === undefined)
      throw new ReplacementProblem('target must specify resources to select')
    for (const item of items)
      if (isTarget(item, target.select, target.reject, rules))
        rules.write(item, value, target, created)
  }
}

function resolveSourceValue(
  items: readonly YamlMap[],
  source: ReplacementSource,
  { starIsName }: ReleaseRules,
  created: Set<YamlNode>,
): YamlNode {
  const object = selectOnlyObject(items, source)
  const secret = isSecret(object)
  const fieldPath = source.fieldPath ?? DEFAULT_FIELD_PATH
  const found = prefixProblems('error looking up replacement source', () =>
    findFieldAt(object, splitFieldPath(fieldPath), {
      starIsName,
      create: undefined,
      created,
      secret,
    }),
  )
  if (found === undefined || isNilOrEmpty(found, created)) {
    throw new ReplacementProblem(
      `fieldPath \`${fieldPath}\` is missing for replacement source ${formatObjectId(source.id)}`,
    )
  }
  if (!isJoined(source.options)) return found
  if (found.kind !== 'scalar')
    throw new ReplacementProblem('delimiter option can only be used with scalar nodes')
  const { delimiter, index } = source.options
  const part = found.value.split(delimiter)[index]
  if (part === undefined) {
    // The original shows the value of a Secret.
    const shown = secret ? '(not shown)' : found.value
    throw new ReplacementProblem(`options.index ${index} is out of bounds for value ${shown}`)
  }
  const copy = copyNode(found)
  setText(copy, part, getImpliedTag(copy))
  return copy
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
    const fields = prefixProblems(missing, () =>
      listFieldsAt(item, splitFieldPath(fieldPath), { create, created, secret }),
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
  const text = isJoined(options)
    ? joinDelimitedValue(field, value, options, created)
    : getRawText(value)
  // The field keeps its type: a number becomes text in a text field. A text such as `no`, which
  // kubectl reads as a boolean, gets no special handling. A created field has no type.
  if (field.kind === 'scalar') setText(field, text, created.has(field) ? '' : getImpliedTag(field))
  else replaceNode(field, copyNode(value), created)
}

function writeNodes(
  item: YamlMap,
  value: YamlNode,
  { fieldPaths, options }: ReplacementTarget,
  created: Set<YamlNode>,
): void {
  const create = options?.create === true ? () => emptyLike(value) : undefined
  for (const fieldPath of fieldPaths.length === 0 ? [DEFAULT_FIELD_PATH] : fieldPaths) {
    const field = findFieldAt(item, splitFieldPath(fieldPath), {
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
      const text = joinDelimitedValue(field, value, options, created)
      if (copy.kind === 'scalar') setText(copy, text, getImpliedTag(copy))
    }
    replaceNode(field, copy, created)
  }
  const alias = findUnknownAlias(item, new Set())
  if (alias !== undefined) throw new ReplacementProblem(`unknown anchor '${alias}' referenced`)
}

/** Like Go's `*node = *other`: references to the node see the new content. */
function replaceNode(node: YamlNode, other: YamlNode, created: Set<YamlNode>): void {
  created.delete(node)
  const { source, writes } = node
  for (const key of Object.keys(node))
    if (!Object.hasOwn(other, key)) Reflect.deleteProperty(node, key)
  Object.assign(node, other)
  // The field keeps the location in its own file.
  node.writes = writes
  if (source !== undefined && node.source !== undefined) {
    const { path, document, start, end } = source
    node.source = { ...node.source, path, document, start, end }
  }
}

function findUnknownAlias(node: YamlNode, anchors: Set<string>): string | undefined {
  if (node.kind === 'alias') return anchors.has(node.name) ? undefined : node.name
  if (node.anchor !== '') anchors.add(node.anchor)
  const below =
    node.kind === 'map'
      ? node.entries.flatMap(({ key, value }) => [key, value])
      : node.kind === 'list'
        ? node.items
        : []
  for (const each of below) {
    const found = findUnknownAlias(each, anchors)
    if (found !== undefined) return found
  }
  return undefined
}

/** @param tag resolved by go-yaml at read time; empty for a node without a type */
function setText(node: YamlScalar, text: string, tag: string): void {
  node.value = text
  node.tag = hasTagOfItsText(node, tag) ? '' : tag
}

/** A tag from the file is always written. */
function hasTagOfItsText(node: YamlScalar, tag: string): boolean {
  const written = node.source !== undefined && 'tagged' in node.source
  return !written && node.style === 'plain' && getImpliedTag({ ...node, tag: '' }) === tag
}

type Joining = FieldOptions & { readonly delimiter: string }

function isJoined(options: FieldOptions | undefined): options is Joining {
  return options?.delimiter !== undefined
}

/** Before the first or after the last part, the value becomes a new part. */
function joinDelimitedValue(
  node: YamlNode,
  value: YamlNode,
  { delimiter, index }: Joining,
  created: Set<YamlNode>,
): string {
  if (node.kind !== 'scalar')
    throw new ReplacementProblem('delimiter option can only be used with scalar nodes')
  const parts = node.value.split(delimiter)
  const part = isTaggedNull(value, created) ? '' : getRawText(value)
  if (index < 0) parts.unshift(part)
  else if (index >= parts.length) parts.push(part)
  else parts[index] = part
  return parts.join(delimiter)
}

function emptyLike(value: YamlNode): YamlNode {
  if (value.kind === 'list') return createYamlList()
  if (value.kind === 'map') return createYamlMap()
  return value.kind === 'alias' ? copyNode(value) : createYamlPlain('')
}

function prefixProblems<T>(prefix: string, search: () => T): T {
  try {
    return search()
  } catch (thrown) {
    if (thrown instanceof ReplacementProblem)
      throw new ReplacementProblem(`${prefix}: ${thrown.message}`)
    throw thrown
  }
}
