/**
 * krm-functions-catalog, `functions/go/search-replace` v0.2.0; result and error texts are the
 * original's.
 */
import { type FieldLocation, formatLocation, visitFields } from '@backporch/kpt/field'
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
import { writeYamlNode } from '@backporch/kyaml/edit-yaml'
import { goQuote } from '@backporch/kyaml/text'
import type { YamlEntry, YamlMap, YamlScalar } from '@backporch/kyaml/yaml'
import { RE2JS, RE2JSException } from 're2js'
import { isPlainPath, matchesFieldPattern } from './field-pattern.ts'
import { compileFilePattern } from './file-pattern.ts'
import { type Kyaml, putAtPath } from './put-at-path.ts'

const KEYS = [
  'by-value',
  'by-file-path',
  'by-value-regex',
  'by-path',
  'put-value',
  'put-comment',
] as const
const KEYS_WITHOUT_FILES = KEYS.filter((key) => key !== 'by-file-path')

type Key = (typeof KEYS)[number]

interface Release {
  readonly kyaml: Kyaml
  readonly keys: readonly Key[]
  readonly otherKeys: 'refused' | 'ignored'
  readonly needsCondition: boolean
}

/** An empty text counts as absent. */
interface Search {
  readonly value: string | undefined
  readonly expression: RE2JS | undefined
  readonly path: string | undefined
  readonly isInFile: (path: string) => boolean
  readonly putValue: string | undefined
  readonly putComment: string | undefined
}

/** v0.2.4. */
export const searchReplace = createSearchReplace({
  kyaml: '0.21',
  keys: KEYS,
  otherKeys: 'refused',
  needsCondition: false,
})

/** v0.2.0: YAML decides the type of a new value, so `5` is a number. */
export const searchReplaceAsWritten = createSearchReplace({
  kyaml: '0.10',
  keys: KEYS,
  otherKeys: 'refused',
  needsCondition: false,
})

/** v0.1.1: without `by-file-path`. */
export const searchReplaceInAllFiles = createSearchReplace({
  kyaml: '0.10',
  keys: KEYS_WITHOUT_FILES,
  otherKeys: 'refused',
  needsCondition: true,
})

/** v0.1.0: ignores unknown keys. */
export const searchReplaceWithAnyKeys = createSearchReplace({
  kyaml: '0.10',
  keys: KEYS_WITHOUT_FILES,
  otherKeys: 'ignored',
  needsCondition: false,
})

function createSearchReplace(release: Release): KrmFunction {
  return ({ items, config }) => {
    const search = readSearch(getConfigData(config), release, items.length > 0)
    if (typeof search === 'string') return createFailedOutput(items, formatProblem(search))
    const results: FunctionResult[] = []
    for (const item of items) {
      if (!search.isInFile(getItemFile(item).path)) continue
      const problem = new SearchRun(item, search, results).run(release.kyaml)
      if (problem !== undefined) return createFailedOutput(items, formatProblem(problem))
    }
    return createSuccess(
      items,
      results.length > 0 ? results : [{ message: 'no matches', severity: 'info' }],
    )
  }
}

function formatProblem(problem: string): string {
  return `failed to perform search-replace operation: ${goQuote(problem)}`
}

function readSearch(
  data: ReadonlyMap<string, string>,
  release: Release,
  isUsed: boolean,
): Search | string {
  const keys: ReadonlySet<string> = new Set(release.keys)
  const unknown = [...data.keys()].find((key) => !keys.has(key))
  if (unknown !== undefined && release.otherKeys === 'refused')
    return `invalid matcher ${goQuote(unknown)}, must be one of [${release.keys.map(goQuote).join(' ')}]`
  const given = (key: Key) => (keys.has(key) && data.get(key)) || undefined
  const conditions = ['by-value', 'by-value-regex', 'by-path'] as const
  if (release.needsCondition && conditions.every((key) => given(key) === undefined))
    return `at least one of [${conditions.map(goQuote).join(', ')}] must be provided`
  const [value, pattern] = [given('by-value'), given('by-value-regex')]
  if (value !== undefined && pattern !== undefined)
    return 'only one of ["by-value", "by-value-regex"] can be provided'
  const expression = pattern === undefined ? undefined : compileExpression(pattern)
  if (typeof expression === 'string') return expression
  const file = given('by-file-path')
  const isInFile = file === undefined || !isUsed ? () => true : compileFilePattern(file)
  if (isInFile === undefined) return 'syntax error in pattern'
  return {
    value,
    expression,
    path: given('by-path'),
    isInFile,
    putValue: given('put-value'),
    putComment: given('put-comment'),
  }
}

function compileExpression(text: string): RE2JS | string {
  try {
    return RE2JS.compile(text)
  } catch (thrown) {
    if (thrown instanceof RE2JSException) return thrown.message
    throw thrown
  }
}

class SearchRun {
  private readonly item: YamlMap
  private readonly search: Search
  private readonly results: FunctionResult[]
  private readonly file: string | undefined

  constructor(item: YamlMap, search: Search, results: FunctionResult[]) {
    this.item = item
    this.search = search
    this.results = results
    this.file = getItemFile(item).path || undefined
  }

  run(kyaml: Kyaml): string | undefined {
    const { value, expression, path, putValue, putComment } = this.search
    const isPut = value === undefined && expression === undefined
    if (isPut && path !== undefined && putValue !== undefined && isPlainPath(path)) {
      const problem = putAtPath(this.item, path.split('.'), putValue, kyaml)
      if (problem !== undefined) return problem
      const steps = path.split('.').map((name) => ({ kind: 'field', name }) as const)
      this.report(path, formatResultValue(this.item, steps, putValue))
      return undefined
    }
    return visitFields(this.item, {
      ...(putComment === undefined
        ? {}
        : { entry: (entry, location) => this.visitEntry(entry, location) }),
      scalar: (node, position) => this.visitScalar(node, position),
    })
  }

  /** The key is compared as written, so a quoted or commented key never matches. */
  private visitEntry({ key, value }: YamlEntry, location: FieldLocation): undefined {
    const { path, putComment } = this.search
    if (value.kind !== 'list' || value.items.length === 0) return
    if (path === undefined || putComment === undefined) return
    const above = location.text.slice(0, location.text.length - nameLength(location))
    if (!matchesFieldPattern(path, above + writeYamlNode(key).trim())) return
    key.lineComment = convertToComment(putComment)
    value.style = 'flow'
    const written = writeYamlNode(value).trim()
    value.style = 'block'
    this.report(`${path} # ${putComment}`, formatResultValue(this.item, location.steps, written))
  }

  private visitScalar(node: YamlScalar, location: FieldLocation): string | undefined {
    if (!this.matches(node.value, location)) return undefined
    const { putComment, putValue } = this.search
    if (putComment !== undefined) {
      const comment = this.expandGroups(node.value, putComment)
      if (comment === undefined) return 'unable to resolve capture groups'
      node.lineComment = convertToComment(comment)
    }
    if (putValue !== undefined) {
      const value = this.expandGroups(node.value, putValue)
      if (value === undefined) return 'unable to resolve capture groups'
      node.value = value
      node.tag = ''
    }
    if (this.file !== undefined) {
      const isHidden = formatResultValue(this.item, location.steps, node.value) === REDACTED
      this.report(formatLocation(location), isHidden ? REDACTED : writeYamlNode(node).trim())
    }
    return undefined
  }

  private matches(value: string, location: FieldLocation): boolean {
    const { expression, path } = this.search
    const byPath = path !== undefined && matchesFieldPattern(path, location.text)
    if (this.search.value === undefined && expression === undefined) return byPath
    // Not anchored, contrary to the original's documentation.
    const byValue = this.search.value === value || expression?.matcher(value).find() === true
    return byValue && (byPath || path === undefined)
  }

  /** Undefined if a group such as `${1}` remains. */
  private expandGroups(value: string, text: string): string | undefined {
    const { expression } = this.search
    if (expression === undefined) return text
    const matcher = expression.matcher(value)
    let resolved = text
    if (matcher.find()) {
      for (let group = 1; group <= matcher.groupCount(); group += 1) {
        const found = matcher.group(group) ?? ''
        resolved = resolved.replaceAll(`\${${group}}`, () => found)
      }
    }
    return /\$\{[0-9]+\}/.test(resolved) ? undefined : resolved
  }

  private report(path: string, value: string): void {
    const { putComment, putValue } = this.search
    const isChange = putComment !== undefined || putValue !== undefined
    this.results.push({
      message: `${isChange ? 'Mutated field value to' : 'Matched field value'} ${goQuote(value)}`,
      severity: 'info',
      field: { path },
      ...(this.file === undefined ? {} : { file: { path: this.file } }),
    })
  }
}

function nameLength({ steps }: FieldLocation): number {
  const last = steps.at(-1)
  return last?.kind === 'field' ? last.name.length : 0
}

/** go-yaml writes each comment line with its own `#`. */
function convertToComment(text: string): string {
  return text.replace(/^(?=[^#\n])/gm, '# ')
}
