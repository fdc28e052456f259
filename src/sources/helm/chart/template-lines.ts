import type { FieldPath } from '@backporch/kyaml/field'
import {
  createRootScope,
  deduplicatePaths,
  getItemsOperand,
  parseReading,
  type Reading,
  type Scope,
} from './template-actions.ts'

export interface TemplateLine {
  readonly path: string
  /** From 1. */
  readonly number: number
  /** Columns before the key, or before a bare line's output. */
  readonly indent: number
  /** Columns before the hyphen; undefined for other lines. */
  readonly item: number | undefined
  /** Undefined for a key that actions write. */
  readonly key: string | undefined
  readonly hasKey: boolean
  /** With `ACTION_MARK` for each action. */
  readonly value: string
  readonly isBare: boolean
  readonly isEmpty: boolean
  readonly readings: readonly Reading[]
  readonly controls: readonly FieldPath[]
}

export const ACTION_MARK = '\u0001'
const ACTION =
  /\{\{-?\s*(?:\/\*[\s\S]*?\*\/|((?:"(?:\\.|[^"\\])*"|`[^`]*`|(?!-?\}\})[\s\S])*?))\s*-?\}\}/g
const CONTROL = /^(if|with|range|else|end|define|block|break|continue)\b\s*/

export interface Definition {
  readonly path: string
  readonly text: string
  readonly before: number
}

export function parseDefinitions(path: string, text: string): ReadonlyMap<string, Definition> {
  const found = new Map<string, Definition>()
  const open: ({ readonly name: string; readonly from: number } | undefined)[] = []
  for (const match of text.matchAll(ACTION)) {
    const keyword = CONTROL.exec(match[1] ?? '')?.[1]
    const after = match.index + match[0].length
    if (keyword === 'define' || keyword === 'block')
      open.push({ name: /^\w+\s+"([^"]+)"/.exec(match[1] ?? '')?.[1] ?? '', from: after })
    else if (keyword === 'if' || keyword === 'with' || keyword === 'range') open.push(undefined)
    else if (keyword === 'end') {
      const opened = open.pop()
      if (opened === undefined) continue
      const before = text.slice(0, opened.from).split('\n').length - 1
      found.set(opened.name, { path, text: text.slice(opened.from, match.index), before })
    }
  }
  return found
}

export function listTemplateLines(
  { path, text, before }: Definition,
  scope: Scope,
): readonly TemplateLine[] {
  const state = new Scopes(scope)
  const starts: {
    readonly reading: Reading | undefined
    readonly controls: readonly FieldPath[]
    readonly indent: number | undefined
  }[] = []
  let [marked, from] = ['', 0]
  for (const match of text.matchAll(ACTION)) {
    const body = match[1] ?? ''
    const isInside = state.isInside()
    const reading = state.read(body)
    const indent = /\bn?indent\s+(\d+)/.exec(body)?.[1]
    const isHidden = isInside || state.isInside()
    starts.push({
      reading: isHidden ? undefined : reading,
      controls: state.scope.controls,
      indent: indent === undefined ? undefined : Number(indent),
    })
    const between = text.slice(from, match.index)
    marked +=
      (isInside ? between.replaceAll(/[^\n]/g, '') : between) +
      ACTION_MARK +
      match[0].replaceAll(/[^\n]/g, '')
    from = match.index + match[0].length
  }
  marked += text.slice(from)
  let next = 0
  let controls = scope.controls
  return marked.split('\n').map((line, at): TemplateLine => {
    const own = [...line].filter((each) => each === ACTION_MARK).map(() => starts[next++])
    controls = own.at(-1)?.controls ?? controls
    const plain = line.replaceAll(ACTION_MARK, '').trim()
    const [, space = '', hyphens = '', name, value = ''] =
      /^(\s*)((?:- +)*)((?:"[^"]*"|'[^']*'|[^\s:"'#{[][^\s:]*)):(?:\s+(.*)|)$/.exec(
        line.trimEnd(),
      ) ?? []
    const isBare = plain === ''
    const leading = /^\s*/.exec(line)?.[0].length ?? 0
    const dash = /^\s*-(?:\s|$)/.test(line)
    return {
      path,
      number: before + at + 1,
      indent:
        name === undefined
          ? (own.findLast((each) => each?.indent !== undefined)?.indent ?? leading + (dash ? 2 : 0))
          : space.length + hyphens.length,
      item: dash ? leading : undefined,
      hasKey: name !== undefined,
      key:
        name === undefined || name.includes(ACTION_MARK)
          ? undefined
          : name.replace(/^(["'])(.*)\1$/, '$2'),
      value: name === undefined ? line.trim().replace(/^(?:- +)+/, '') : value,
      isBare: isBare && own.length > 0,
      isEmpty: isBare && own.length === 0,
      readings: own.flatMap((each) => each?.reading ?? []),
      controls: own[0]?.controls ?? controls,
    }
  })
}

class Scopes {
  scope: Scope
  private readonly open: { readonly before: Scope; readonly isDefinition: boolean }[] = []

  constructor(scope: Scope) {
    this.scope = scope
  }

  isInside(): boolean {
    return this.open.some(({ isDefinition }) => isDefinition)
  }

  read(body: string): Reading | undefined {
    const keyword = CONTROL.exec(body)?.[1]
    const rest = body.replace(CONTROL, '')
    if (keyword === 'end') {
      // A variable assigned in a block keeps its value after it.
      this.scope = this.open.pop()?.before ?? this.scope
      return undefined
    }
    if (keyword === 'else') {
      this.readElse(rest)
      return undefined
    }
    if (keyword === 'define' || keyword === 'block') {
      this.open.push({ before: this.scope, isDefinition: true })
      return undefined
    }
    if (keyword === 'if' || keyword === 'with' || keyword === 'range') {
      this.open.push({ before: this.scope, isDefinition: false })
      this.begin(keyword, rest)
      return undefined
    }
    const [, names, expression] = ASSIGNED.exec(body) ?? []
    if (names === undefined || expression === undefined)
      return body === '' ? undefined : parseReading(body, this.scope)
    this.assign(names, expression)
    return undefined
  }

  private readElse(rest: string): void {
    const before = this.open.at(-1)?.before ?? this.scope
    const { controls } = this.scope
    this.scope = { ...before, controls }
    const [, keyword, condition] = /^(if|with)\b\s*(.*)$/s.exec(rest) ?? []
    if (keyword === 'if' || keyword === 'with') this.begin(keyword, condition ?? '')
  }

  private begin(keyword: 'if' | 'with' | 'range', text: string): void {
    const [, names, expression = text] = ASSIGNED.exec(text) ?? []
    const { operand, refs } = parseReading(expression, this.scope)
    const controls = deduplicatePaths([...this.scope.controls, ...refs])
    this.scope = { ...this.scope, controls }
    if (keyword === 'if') return
    const dot = keyword === 'range' ? getItemsOperand(operand) : operand
    const variables = new Map(this.scope.variables)
    for (const name of names?.split(',') ?? []) variables.set(name.trim(), dot)
    this.scope = { ...this.scope, dot, variables }
  }

  private assign(names: string, expression: string): void {
    const { operand, refs, includes } = parseReading(expression, this.scope)
    const known =
      operand.isRoot || operand.named.size > 0 || operand.refs.length > 0
        ? operand
        : { ...operand, refs }
    if (includes.length > 0) return
    this.scope = {
      ...this.scope,
      variables: new Map([...this.scope.variables, [names.trim(), known]]),
    }
  }
}

const ASSIGNED = /^(\$\w+(?:\s*,\s*\$\w+)?)\s*:?=\s*([\s\S]*)$/

export function listReferences(text: string, under: readonly string[]): readonly FieldPath[] {
  const lines = listTemplateLines({ path: '', text, before: 0 }, createRootScope(under))
  return deduplicatePaths(
    lines.flatMap(({ readings, controls }) => [
      ...readings.flatMap(({ refs }) => refs),
      ...controls,
    ]),
  )
}
