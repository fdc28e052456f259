/** The style of a file, for what is added to it. */
import type { YamlNode } from '../yaml-node.ts'
import { type Collection, entriesOf, isFlow, rangeOf } from './edit-yaml-location.ts'

export interface YamlStyle {
  readonly lineBreak: '\n' | '\r\n'
  /** Columns from a key to the keys below it. */
  readonly step: number
  /** Columns from a key to the dashes below it: 0 for compact lists. */
  readonly dashOffset: number
  /** Columns from a dash to its value. */
  readonly dashWidth: number
  readonly quote: '"' | "'"
  /** Whether the document is JSON, and stays JSON. */
  readonly json: boolean
  /** A space inside braces: `{ a: 1 }`. */
  readonly padded: boolean
}

/** The line end that most lines of a file have. */
export function lineBreakOf(text: string): '\n' | '\r\n' {
  const all = text.split('\n').length - 1
  const windows = text.split('\r\n').length - 1
  return windows * 2 > all ? '\r\n' : '\n'
}

export function columnOf(text: string, offset: number): number {
  return offset - (text.lastIndexOf('\n', offset - 1) + 1)
}

class Votes<Choice extends string | number> {
  private readonly counts = new Map<Choice, number>()

  add(choice: Choice): void {
    this.counts.set(choice, (this.counts.get(choice) ?? 0) + 1)
  }

  /** The most frequent value, the first one of equals; undefined without any. */
  winner(): Choice | undefined {
    let best: Choice | undefined
    let most = 0
    for (const [choice, count] of this.counts) {
      if (count > most) {
        best = choice
        most = count
      }
    }
    return best
  }
}

interface Ballot {
  readonly step: Votes<number>
  readonly dashOffset: Votes<number>
  readonly dashWidth: Votes<number>
  readonly quote: Votes<'"' | "'">
  readonly padded: Votes<'padded' | 'tight'>
}

/** The style of the nearest collection that shows one, else that of the document. @param near nodes from the edit upwards */
export function styleOf(text: string, lineBreak: '\n' | '\r\n', root: YamlNode, near: readonly YamlNode[]): YamlStyle {
  const ballots = [...near.map((node) => vote(text, node, false)), vote(text, root, true)]
  const first = <Choice>(pick: (ballot: Ballot) => Choice | undefined): Choice | undefined =>
    ballots.map(pick).find((choice) => choice !== undefined)
  return {
    lineBreak,
    step: first(({ step }) => step.winner()) ?? 2,
    dashOffset: first(({ dashOffset }) => dashOffset.winner()) ?? 0,
    dashWidth: first(({ dashWidth }) => dashWidth.winner()) ?? 2,
    quote: first(({ quote }) => quote.winner()) ?? '"',
    json: isJson(text),
    padded: first(({ padded }) => padded.winner()) === 'padded',
  }
}

function isJson(text: string): boolean {
  if (!/^\s*[{[]/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function vote(text: string, node: YamlNode, deep: boolean): Ballot {
  const ballot = {
    step: new Votes<number>(),
    dashOffset: new Votes<number>(),
    dashWidth: new Votes<number>(),
    quote: new Votes<'"' | "'">(),
    padded: new Votes<'padded' | 'tight'>(),
  }
  visit(text, node, deep, ballot)
  return ballot
}

function visit(text: string, node: YamlNode, deep: boolean, ballot: Ballot): void {
  if (node.kind === 'alias') return
  if (node.kind === 'scalar') {
    if (node.style === 'double') ballot.quote.add('"')
    else if (node.style === 'single') ballot.quote.add("'")
    return
  }
  const below = node.kind === 'map' ? node.entries.map(({ value }) => value) : node.items
  if (!isFlow(node)) voteBlock(text, node, ballot)
  else if (node.kind === 'map' && below.length > 0) {
    const { start } = rangeOf(node)
    const open = text.slice(start + 1, start + 3)
    if (/^.\S|^\S/.test(open)) ballot.padded.add(open.startsWith(' ') ? 'padded' : 'tight')
  }
  for (const child of below) if (deep || child.kind === 'scalar') visit(text, child, deep, ballot)
}

function voteBlock(text: string, collection: Collection, ballot: Ballot): void {
  for (const { start: entryStart, key, written, node } of entriesOf(text, collection)) {
    if (written === undefined) continue
    const start = key === undefined ? entryStart : rangeOf(key).start
    const distance = columnOf(text, written.start) - columnOf(text, start)
    if (key === undefined) {
      if (!text.slice(start, written.start).includes('\n')) ballot.dashWidth.add(distance)
    } else if (node.kind === 'map' && node.style === 'block' && distance > 0) ballot.step.add(distance)
    else if (node.kind === 'list' && node.style === 'block' && distance >= 0) ballot.dashOffset.add(distance)
  }
}
