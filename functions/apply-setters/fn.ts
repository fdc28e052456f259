/**
 * Sets fields that carry a setter comment (krm-functions-catalog, `functions/go/apply-setters` v0.2.0; the texts of its
 * results and errors are its own).
 */
import {
  expandPattern,
  extractSetterValues,
  type FieldLocation,
  namesAnySetter,
  onlySetter,
  type SetterPattern,
  setterPatternOf,
  shownLocation,
  visitFields,
} from '@backporch/kpt/field'
import {
  configData,
  type FunctionResult,
  failed,
  fileOf,
  type KrmFunction,
  REDACTED,
  resultValue,
  succeeded,
} from '@backporch/kpt/function'
import { Failure } from '@backporch/kyaml/failure'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import { goQuote } from '@backporch/kyaml/text'
import type { YamlEntry, YamlList, YamlMap, YamlNode, YamlScalar } from '@backporch/kyaml/yaml'

const NO_MATCHES = 'no matches for input setter(s)'

/** The config's `data` names setters and their values. Setters are replaced in its order, which the original leaves to chance. */
export const applySetters: KrmFunction = ({ items, config }) => {
  const setters = configData(config)
  const results: FunctionResult[] = []
  for (const item of items) {
    const run = new SetterRun(item, setters, results)
    const problem = visitFields(item, {
      entry: (entry, location) => run.entry(entry, location),
      scalar: (node, position) => run.scalar(node, position),
    })
    if (problem !== undefined) return failed(items, `failed to apply setters: ${problem}`)
  }
  return succeeded(
    items,
    results.length > 0 ? results : [{ message: NO_MATCHES, severity: 'info' }],
  )
}

/** Release v0.1.1: a run without setters, or that sets no field, is an error. */
export const applySettersOrFail: KrmFunction = (input) => {
  const { items, config } = input
  if (configData(config).size === 0)
    return failed(items, 'failed to apply setters: input setters list cannot be empty')
  const output = applySetters(input)
  return output.exitCode === 0 && output.results[0]?.message === NO_MATCHES
    ? failed(items, 'failed to apply setters: no matches for the input list of setters')
    : output
}

/** The setters over one object. */
class SetterRun {
  private readonly item: YamlMap
  private readonly setters: ReadonlyMap<string, string>
  private readonly results: FunctionResult[]
  private readonly file: string

  constructor(item: YamlMap, setters: ReadonlyMap<string, string>, results: FunctionResult[]) {
    this.item = item
    this.setters = setters
    this.results = results
    this.file = fileOf(item).path
  }

  /** A list as a whole: the comment stands at the key of a block list, and behind the bracket of a flow list. */
  entry({ key, value }: YamlEntry, location: FieldLocation): string | undefined {
    if (value.kind !== 'list') return undefined
    const lineComment = value.style === 'flow' ? value.lineComment : key.lineComment
    const pattern = this.givenPattern(lineComment)
    if (pattern === undefined) return undefined
    const setter = onlySetter(pattern)
    if (setter === undefined)
      return `invalid setter pattern for array node: ${goQuote(pattern.text)}`
    const given = this.setters.get(setter) ?? ''
    if (given === '') {
      emptyList(value, lineComment)
      key.lineComment = ''
    } else {
      const items = listItems(given)
      if (items === undefined) {
        return `input to array setter must be an array of values, but found ${goQuote(this.shown(location, pattern, given))}`
      }
      value.items = items
      value.style = 'block'
      // A list in flow style keeps the comment too, and go-yaml then writes it again after the next node.
      // Taken away here, kpt would bring it back: it gives every node the comments that it had before the function.
      key.lineComment = lineComment
    }
    this.report(location, pattern, given)
    return undefined
  }

  scalar(node: YamlScalar, location: FieldLocation): string | undefined {
    const pattern = this.givenPattern(node.lineComment)
    if (pattern === undefined) return undefined
    const expanded = expandPattern(pattern, this.setters, extractSetterValues(pattern, node.value))
    if (expanded.is === 'unresolved')
      return `values for setters [${this.named(expanded.references)}] must be provided`
    if (expanded.is === 'too-long') return `the value of ${goQuote(pattern.text)} is too long`
    node.value = expanded.text
    if (expanded.text === '') node.style = 'double'
    // Without a tag the type is that of the new text: "3" becomes a number, unless the old one was quoted.
    node.tag = ''
    this.report(location, pattern, expanded.text)
    return undefined
  }

  /** The pattern of a comment, where one of the given setters stands in it. */
  private givenPattern(lineComment: string): SetterPattern | undefined {
    const pattern = setterPatternOf(lineComment)
    return pattern !== undefined && namesAnySetter(pattern, this.setters.keys())
      ? pattern
      : undefined
  }

  private report(location: FieldLocation, pattern: SetterPattern, value: string): void {
    this.results.push({
      message: `set field value to ${goQuote(this.shown(location, pattern, value))}`,
      severity: 'info',
      field: { path: shownLocation(location) },
      ...(this.file === '' ? {} : { file: { path: this.file } }),
    })
  }

  private shown(location: FieldLocation, pattern: SetterPattern, value: string): string {
    return resultValue(this.item, location.steps, value, pattern.setters)
  }

  /** A reference may come from a value, and a credential is not reported. */
  private named(references: readonly string[]): string {
    return references
      .map((each) => (resultValue(this.item, [], each) === REDACTED ? REDACTED : each))
      .join(' ')
  }
}

/** An empty list can be written in flow style only, and there the comment is the list's. */
function emptyList(list: YamlList, lineComment: string): void {
  list.items = []
  list.style = 'flow'
  list.lineComment = lineComment
}

/** The items of a list written as text, or undefined where it is no list. */
function listItems(text: string): YamlNode[] | undefined {
  try {
    const [first] = readYamlNodes(text, 'setter value')
    return first?.kind === 'list' ? first.items.map(withoutSource) : undefined
  } catch (thrown) {
    if (thrown instanceof Failure) return undefined
    throw thrown
  }
}

/** Locations in the value of a setter are not locations of the package. */
function withoutSource(node: YamlNode): YamlNode {
  delete node.source
  if (node.kind === 'list') node.items.forEach(withoutSource)
  if (node.kind === 'map')
    for (const { key, value } of node.entries) [key, value].forEach(withoutSource)
  return node
}
