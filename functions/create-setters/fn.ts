/** krm-functions-catalog, `functions/go/create-setters`; results and errors use its texts. */
import { type FieldLocation, formatLocation, visitFields } from '@backporch/kpt/field'
import {
  createFailedOutput,
  createSuccess,
  type FunctionInput,
  type FunctionOutput,
  type FunctionResult,
  formatResultValue,
  getConfigData,
  getItemFile,
  type KrmFunction,
} from '@backporch/kpt/function'
import { Failure } from '@backporch/kyaml/failure'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import { goQuote } from '@backporch/kyaml/text'
import {
  resolveAlias,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
  type YamlScalar,
} from '@backporch/kyaml/yaml'
import { type Replacer, SuccessiveReplacer, TextReplacer } from './text-replacer.ts'

interface ListSetter {
  readonly name: string
  /** Sorted, because list order does not matter. */
  readonly values: readonly string[]
}

interface ScalarSetter {
  readonly name: string
  readonly value: string
}

interface Setters {
  readonly scalars: Replacer
  readonly lists: readonly ListSetter[]
  readonly isPassedOver: Release['isPassedOver']
}

interface Release {
  readonly inOrder: (setters: readonly ScalarSetter[]) => readonly ScalarSetter[]
  readonly replacerOf: (pairs: readonly (readonly [from: string, to: string])[]) => Replacer
  readonly isPassedOver: (node: YamlScalar, location: FieldLocation) => boolean
}

const RUNTIME_ANNOTATION = /\.annotations\.(internal\.)?config\.kubernetes\.io/

/** v0.1.4. */
export const createSetters: KrmFunction = (input) =>
  createWith(input, {
    // Longest first, so that a value inside another one does not interfere. Bytes, as in Go.
    inOrder: (setters) =>
      [...setters].sort((left, right) => countBytes(right.value) - countBytes(left.value)),
    replacerOf: (pairs) => new TextReplacer(pairs),
    isPassedOver: (node, location) =>
      RUNTIME_ANNOTATION.test(location.text) || node.value.includes('\n'),
  })

/** v0.1.0: in a multi-line text, the second line of the comment becomes text. */
export const createSettersEverywhere: KrmFunction = (input) =>
  createWith(input, {
    inOrder: sortSetters,
    replacerOf: (pairs) => new SuccessiveReplacer(pairs),
    isPassedOver: () => false,
  })

/**
 * Go's insertion sort with an inconsistent comparison: a setter stays after one whose name is in
 * its value. The original starts with a random order, this with the order of `data`.
 */
function sortSetters(setters: readonly ScalarSetter[]): readonly ScalarSetter[] {
  const sorted: ScalarSetter[] = []
  for (const setter of setters) {
    const behind = sorted.findLastIndex(({ name }) => setter.value.includes(name))
    sorted.splice(behind + 1, 0, setter)
  }
  return sorted
}

function createWith({ items, config }: FunctionInput, release: Release): FunctionOutput {
  const setters = parseSetters(getConfigData(config), release)
  if (typeof setters === 'string')
    return createFailedOutput(items, `failed to create setters: ${setters}`)
  const results: FunctionResult[] = []
  for (const item of items) {
    const run = new CommentRun(item, setters, results)
    visitFields(item, {
      entry: (entry, location) => run.visitEntry(entry, location),
      scalar: (node, position) => run.visitScalar(node, position),
    })
  }
  return results.length > 0
    ? createSuccess(items, results)
    : createFailedOutput(
        items,
        'failed to create setters: no matches for the input list of setters',
      )
}

function parseSetters(data: ReadonlyMap<string, string>, release: Release): Setters | string {
  if (data.size === 0) return 'config map cannot be empty'
  const scalars: ScalarSetter[] = []
  const lists: ListSetter[] = []
  for (const [name, value] of data) {
    const parsed = parseFirstNode(value)
    if (parsed === undefined) return 'parsing error'
    if (parsed.kind === 'list') lists.push({ name, values: listSortedTexts(parsed.items) })
    else if (parsed.kind === 'scalar') scalars.push({ name, value })
  }
  const pairs = release.inOrder(scalars).map(({ name, value }) => [value, `\${${name}}`] as const)
  return { scalars: release.replacerOf(pairs), lists, isPassedOver: release.isPassedOver }
}

class CommentRun {
  private readonly item: YamlMap
  private readonly setters: Setters
  private readonly results: FunctionResult[]
  private readonly file: string | undefined

  constructor(item: YamlMap, setters: Setters, results: FunctionResult[]) {
    this.item = item
    this.setters = setters
    this.results = results
    this.file = getItemFile(item).path || undefined
  }

  /**
   * A flow list becomes a block list if it gets a comment, or if it contains a scalar setter's
   * value, because its items will get comments.
   */
  visitEntry({ key, value }: YamlEntry, location: FieldLocation): undefined {
    if (value.kind !== 'list') return
    const texts = listSortedTexts(value.items)
    if (value.style === 'flow' && texts.some((text) => this.setters.scalars.occursIn(text)))
      value.style = 'block'
    const setter = this.setters.lists.find(({ values }) => isSame(values, texts))
    if (setter === undefined) return
    if (value.style === 'flow' && texts.length > 0) value.style = 'block'
    const comment = `kpt-set: \${${setter.name}}`
    const commented = value.style === 'flow' ? value : key
    commented.lineComment = `# ${comment}`
    this.report(
      location,
      comment,
      `[${texts.map((text) => this.formatShownValue(location, text, [setter.name])).join(' ')}]`,
    )
  }

  visitScalar(node: YamlScalar, location: FieldLocation): undefined {
    if (this.setters.isPassedOver(node, location)) return
    const pattern = this.setters.scalars.replace(node.value)
    if (pattern === undefined) return
    const comment = `kpt-set: ${pattern}`
    node.lineComment = convertToComment(comment)
    this.report(
      location,
      this.formatShownValue(location, comment),
      this.formatShownValue(location, node.value),
    )
  }

  private report(location: FieldLocation, comment: string, value: string): void {
    this.results.push({
      message: `Added line comment ${goQuote(comment)} for field with value ${goQuote(value)}`,
      severity: 'info',
      field: { path: formatLocation(location) },
      ...(this.file === undefined ? {} : { file: { path: this.file } }),
    })
  }

  private formatShownValue(
    location: FieldLocation,
    text: string,
    setters: readonly string[] = [],
  ): string {
    return formatResultValue(this.item, location.steps, text, setters)
  }
}

function listSortedTexts(items: readonly YamlNode[]): string[] {
  return items.map((item) => getScalarText(resolveAlias(item))).sort()
}

function getScalarText(node: YamlNode): string {
  return node.kind === 'scalar' ? node.value : ''
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((text, index) => text === right[index])
}

function parseFirstNode(text: string): YamlNode | undefined {
  try {
    return readYamlNodes(text, 'setter value')[0]
  } catch (thrown) {
    if (thrown instanceof Failure) return undefined
    throw thrown
  }
}

function countBytes(text: string): number {
  return new TextEncoder().encode(text).length
}

function convertToComment(text: string): string {
  return text.replace(/^(?=[^#\n])/gm, '# ')
}
