/** krm-functions-catalog, `functions/go/apply-setters` v0.2.0; results and errors use its texts. */
import {
  containsAnySetter,
  expandPattern,
  extractSetterValues,
  type FieldLocation,
  findOnlySetter,
  findSetterPattern,
  formatLocation,
  type SetterPattern,
  visitFields,
} from '@backporch/kpt/field'
import {
  createFailedOutput,
  createSuccess,
  type FunctionResult,
  formatResultValue,
  getConfigData,
  getItemFile,
  type KrmFunction,
  REDACTED,
} from '@backporch/kpt/function'
import { Failure } from '@backporch/kyaml/failure'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import { goQuote } from '@backporch/kyaml/text'
import type { YamlEntry, YamlList, YamlMap, YamlNode, YamlScalar } from '@backporch/kyaml/yaml'

const NO_MATCHES = 'no matches for input setter(s)'

/** Replaces setters in the order of `data`; the original's order is random. */
export const applySetters: KrmFunction = ({ items, config }) => {
  const setters = getConfigData(config)
  const results: FunctionResult[] = []
  for (const item of items) {
    const run = new SetterRun(item, setters, results)
    const problem = visitFields(item, {
      entry: (entry, location) => run.visitEntry(entry, location),
      scalar: (node, position) => run.visitScalar(node, position),
    })
    if (problem !== undefined)
      return createFailedOutput(items, `failed to apply setters: ${problem}`)
  }
  return createSuccess(
    items,
    results.length > 0 ? results : [{ message: NO_MATCHES, severity: 'info' }],
  )
}

/** v0.1.1: a run without setters, or one that sets no field, is an error. */
export const applySettersOrFail: KrmFunction = (input) => {
  const { items, config } = input
  if (getConfigData(config).size === 0)
    return createFailedOutput(items, 'failed to apply setters: input setters list cannot be empty')
  const output = applySetters(input)
  return output.exitCode === 0 && output.results[0]?.message === NO_MATCHES
    ? createFailedOutput(items, 'failed to apply setters: no matches for the input list of setters')
    : output
}

class SetterRun {
  private readonly item: YamlMap
  private readonly setters: ReadonlyMap<string, string>
  private readonly results: FunctionResult[]
  private readonly file: string | undefined

  constructor(item: YamlMap, setters: ReadonlyMap<string, string>, results: FunctionResult[]) {
    this.item = item
    this.setters = setters
    this.results = results
    this.file = getItemFile(item).path || undefined
  }

  /** The comment is at the key of a block list, and after the bracket of a flow list. */
  visitEntry({ key, value }: YamlEntry, location: FieldLocation): string | undefined {
    if (value.kind !== 'list') return undefined
    const lineComment = value.style === 'flow' ? value.lineComment : key.lineComment
    const pattern = this.findKnownPattern(lineComment)
    if (pattern === undefined) return undefined
    const setter = findOnlySetter(pattern)
    if (setter === undefined)
      return `invalid setter pattern for array node: ${goQuote(pattern.text)}`
    const given = this.setters.get(setter) ?? ''
    if (given === '') {
      emptyList(value, lineComment)
      key.lineComment = ''
    } else {
      const items = listItems(given)
      if (items === undefined) {
        return `input to array setter must be an array of values, but found ${goQuote(this.formatShownValue(location, pattern, given))}`
      }
      value.items = items
      value.style = 'block'
      // go-yaml then repeats the comment of a flow list after the next node. Removing it here has
      // no effect, because kpt restores the comments from before the function.
      key.lineComment = lineComment
    }
    this.report(location, pattern, given)
    return undefined
  }

  visitScalar(node: YamlScalar, location: FieldLocation): string | undefined {
    const pattern = this.findKnownPattern(node.lineComment)
    if (pattern === undefined) return undefined
    const expanded = expandPattern(pattern, this.setters, extractSetterValues(pattern, node.value))
    if (expanded.is === 'unresolved')
      return `values for setters [${this.formatReferences(expanded.references)}] must be provided`
    if (expanded.is === 'too-long') return `the value of ${goQuote(pattern.text)} is too long`
    node.value = expanded.text
    if (expanded.text === '') node.style = 'double'
    // The new text decides the type: "3" becomes a number, unless the old text was quoted.
    node.tag = ''
    this.report(location, pattern, expanded.text)
    return undefined
  }

  private findKnownPattern(lineComment: string): SetterPattern | undefined {
    const pattern = findSetterPattern(lineComment)
    return pattern !== undefined && containsAnySetter(pattern, this.setters.keys())
      ? pattern
      : undefined
  }

  private report(location: FieldLocation, pattern: SetterPattern, value: string): void {
    this.results.push({
      message: `set field value to ${goQuote(this.formatShownValue(location, pattern, value))}`,
      severity: 'info',
      field: { path: formatLocation(location) },
      ...(this.file === undefined ? {} : { file: { path: this.file } }),
    })
  }

  private formatShownValue(location: FieldLocation, pattern: SetterPattern, value: string): string {
    return formatResultValue(this.item, location.steps, value, pattern.setters)
  }

  /** A reference may come from a value, and a credential must not be reported. */
  private formatReferences(references: readonly string[]): string {
    return references
      .map((each) => (formatResultValue(this.item, [], each) === REDACTED ? REDACTED : each))
      .join(' ')
  }
}

/** An empty list is in flow style, where the comment belongs to the list. */
function emptyList(list: YamlList, lineComment: string): void {
  list.items = []
  list.style = 'flow'
  list.lineComment = lineComment
}

function listItems(text: string): YamlNode[] | undefined {
  try {
    const [first] = readYamlNodes(text, 'setter value')
    return first?.kind === 'list' ? first.items.map(removeSource) : undefined
  } catch (thrown) {
    if (thrown instanceof Failure) return undefined
    throw thrown
  }
}

/** Locations in a setter value are not locations in the package. */
function removeSource(node: YamlNode): YamlNode {
  delete node.source
  if (node.kind === 'list') node.items.forEach(removeSource)
  if (node.kind === 'map')
    for (const { key, value } of node.entries) [key, value].forEach(removeSource)
  return node
}
