/** Parses template actions, as Go `text/template`, "Actions", and helm `pkg/engine`. */
import { createFieldStep, type FieldPath, formatFieldPath } from '@backporch/kyaml/field'

interface Operand {
  /** The template's context, with `.Values`. */
  readonly isRoot: boolean
  /** `[*]` for the items of a list or map. */
  readonly refs: readonly FieldPath[]
  readonly named: ReadonlyMap<string, Operand>
}

export interface Scope {
  readonly dot: Operand
  readonly variables: ReadonlyMap<string, Operand>
  readonly controls: readonly FieldPath[]
  /** Path of a dependency's values in the chart's. */
  readonly under: readonly string[]
}

export interface Reading {
  readonly operand: Operand
  readonly refs: readonly FieldPath[]
  readonly includes: readonly { readonly name: string; readonly argument: Operand }[]
  readonly isOfFiles: boolean
}

type Node =
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'word'; readonly value: string }
  | { readonly kind: 'group'; readonly commands: readonly (readonly Node[])[] }

const ANY_ITEM: FieldPath[number] = { kind: 'item', keys: {} }
const NONE: Operand = { isRoot: false, refs: [], named: new Map() }
const ROOT: Operand = { isRoot: true, refs: [], named: new Map() }

export function createRootScope(under: readonly string[], dot = ROOT): Scope {
  return { dot, variables: new Map(), controls: [], under }
}

export function parseReading(expression: string, scope: Scope): Reading {
  const reader = new Reader(scope)
  const commands = parseNodes(expression)
  const operand = reader.readOperand(commands)
  const isOfFiles = /\.Files\b/.test(expression)
  const refs = deduplicatePaths(reader.refs).filter(({ length }) => length > 0)
  return { operand, refs, includes: reader.includes, isOfFiles }
}

export function getItemsOperand({ refs }: Operand): Operand {
  return { ...NONE, refs: refs.map((ref) => [...ref, ANY_ITEM]) }
}

export function deduplicatePaths(paths: readonly FieldPath[]): readonly FieldPath[] {
  return [...new Map(paths.map((path) => [formatFieldPath(path), path])).values()]
}

function parseNodes(expression: string): readonly (readonly Node[])[] {
  const tokens = expression.match(/"(?:\\.|[^"\\])*"|`[^`]*`|[()|]|[^\s()|"`]+/g) ?? []
  let at = 0
  const commands = (): readonly (readonly Node[])[] => {
    const all: Node[][] = [[]]
    while (at < tokens.length) {
      const token = tokens[at] ?? ''
      at += 1
      if (token === ')') break
      if (token === '|') all.push([])
      else if (token === '(') all.at(-1)?.push({ kind: 'group', commands: commands() })
      else if (/^["`]/.test(token)) all.at(-1)?.push({ kind: 'text', value: token.slice(1, -1) })
      else all.at(-1)?.push({ kind: 'word', value: token.replace(/,$/, '') })
    }
    return all
  }
  return commands()
}

class Reader {
  readonly refs: FieldPath[] = []
  readonly includes: { readonly name: string; readonly argument: Operand }[] = []
  private readonly scope: Scope

  constructor(scope: Scope) {
    this.scope = scope
  }

  readOperand(commands: readonly (readonly Node[])[]): Operand {
    const all = commands.map((command) => this.readCommand(command))
    const [first = NONE] = all
    if (all.length === 1) return first
    // Later commands may replace the value, as `default` does.
    return { ...first, refs: all.flatMap(({ refs }) => refs) }
  }

  private readCommand(nodes: readonly Node[]): Operand {
    const [head, ...others] = nodes
    const name = head?.kind === 'word' ? head.value : ''
    if (name === 'dict') return this.readDict(others)
    if (name === 'include' || name === 'template') return this.readInclude(others)
    const all = nodes.map((node) => this.readNode(node))
    if (name === 'index' || name === 'get') return this.readIndex(all[1] ?? NONE, others.slice(1))
    if (nodes.length === 1) return all[0] ?? NONE
    return { ...NONE, refs: all.flatMap(({ refs }) => refs) }
  }

  private readDict(nodes: readonly Node[]): Operand {
    const named = new Map<string, Operand>()
    for (let at = 0; at + 1 < nodes.length; at += 2) {
      const [key, value] = [nodes[at], nodes[at + 1]]
      if (key?.kind === 'text' && value !== undefined) named.set(key.value, this.readNode(value))
    }
    return { ...NONE, named }
  }

  private readInclude([name, argument]: readonly Node[]): Operand {
    const given = argument === undefined ? NONE : this.readNode(argument)
    if (name?.kind === 'text') this.includes.push({ name: name.value, argument: given })
    return NONE
  }

  private readIndex(of: Operand, keys: readonly Node[]): Operand {
    const names = keys.map((key) => (key.kind === 'text' ? key.value : undefined))
    const found = names.reduce<Operand>(
      (at, each) => (each === undefined ? getItemsOperand(at) : this.readInside(at, [each])),
      of,
    )
    this.refs.push(...found.refs)
    return found
  }

  private readNode(node: Node): Operand {
    if (node.kind === 'group') return this.readOperand(node.commands)
    const [, head, chain = ''] =
      node.kind === 'word' ? (/^(\$\w*|)((?:\.\w+)*|\.)$/.exec(node.value) ?? []) : []
    if (head === undefined || (head === '' && chain === '')) return NONE
    const start =
      head === '' ? this.scope.dot : head === '$' ? ROOT : (this.scope.variables.get(head) ?? NONE)
    const found = this.readInside(
      start,
      chain.split('.').filter((name) => name !== ''),
    )
    this.refs.push(...found.refs)
    return found
  }

  private readInside(of: Operand, names: readonly string[]): Operand {
    const [first, ...rest] = names
    if (first === undefined) return of
    const named = of.named.get(first)
    if (named !== undefined) return this.readInside(named, rest)
    if (first === 'Values' && (of.isRoot || of.refs.length === 0)) {
      const under = rest[0] === 'global' ? [] : this.scope.under
      return {
        ...NONE,
        refs: rest.length + under.length === 0 ? [[]] : [[...under, ...rest].map(createFieldStep)],
      }
    }
    return of.isRoot
      ? NONE
      : { ...NONE, refs: of.refs.map((ref) => [...ref, ...names.map(createFieldStep)]) }
  }
}
