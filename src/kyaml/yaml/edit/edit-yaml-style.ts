import type { YamlNode } from '../yaml-node.ts'
import { type Collection, getRange, isFlow, listCollectionEntries } from './edit-yaml-location.ts'

export interface YamlStyle {
  readonly lineBreak: '\n' | '\r\n'
  /** To the keys below. */
  readonly step: number
  /** 0 for compact lists. */
  readonly dashOffset: number
  readonly dashWidth: number
  readonly quote: '"' | "'"
  /** It stays JSON. */
  readonly json: boolean
  /** `{ a: 1 }`. */
  readonly padded: boolean
}

export function detectLineBreak(text: string): '\n' | '\r\n' {
  const all = text.split('\n').length - 1
  const windows = text.split('\r\n').length - 1
  return windows * 2 > all ? '\r\n' : '\n'
}

export function getColumn(text: string, offset: number): number {
  return offset - (text.lastIndexOf('\n', offset - 1) + 1)
}

interface Samples {
  readonly step: number[]
  readonly dashOffset: number[]
  readonly dashWidth: number[]
  readonly quote: ('"' | "'")[]
  readonly padded: boolean[]
}

function findMostFrequent<Value>(values: readonly Value[]): Value | undefined {
  const groups = [...Map.groupBy(values, (value) => value)]
  return groups.sort(([, left], [, right]) => right.length - left.length)[0]?.[0]
}

/**
 * Of the nearest collection that shows one.
 * @param near nodes from the edit upwards
 */
export function chooseStyle(
  text: string,
  lineBreak: '\n' | '\r\n',
  root: YamlNode,
  near: readonly YamlNode[],
): YamlStyle {
  const samples = [
    ...near.map((node) => collectSamples(text, node, false)),
    collectSamples(text, root, true),
  ]
  const first = <Aspect extends keyof Samples>(
    aspect: Aspect,
  ): Samples[Aspect][number] | undefined =>
    samples
      .map((each) => findMostFrequent<Samples[Aspect][number]>(each[aspect]))
      .find((value) => value !== undefined)
  return {
    lineBreak,
    step: first('step') ?? 2,
    dashOffset: first('dashOffset') ?? 0,
    dashWidth: first('dashWidth') ?? 2,
    quote: first('quote') ?? '"',
    json: isJson(text),
    padded: first('padded') ?? false,
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

function collectSamples(text: string, node: YamlNode, deep: boolean): Samples {
  const samples: Samples = { step: [], dashOffset: [], dashWidth: [], quote: [], padded: [] }
  visit(text, node, deep, samples)
  return samples
}

function visit(text: string, node: YamlNode, deep: boolean, samples: Samples): void {
  if (node.kind === 'alias') return
  if (node.kind === 'scalar') {
    if (node.style === 'double') samples.quote.push('"')
    else if (node.style === 'single') samples.quote.push("'")
    return
  }
  const below = node.kind === 'map' ? node.entries.map(({ value }) => value) : node.items
  if (!isFlow(node)) visitBlock(text, node, samples)
  else if (node.kind === 'map' && below.length > 0) {
    const { start } = getRange(node)
    const open = text.slice(start + 1, start + 3)
    if (/^.\S|^\S/.test(open)) samples.padded.push(open.startsWith(' '))
  }
  for (const child of below) if (deep || child.kind === 'scalar') visit(text, child, deep, samples)
}

function visitBlock(text: string, collection: Collection, samples: Samples): void {
  for (const { start: entryStart, key, written, node } of listCollectionEntries(text, collection)) {
    if (written === undefined) continue
    const start = key === undefined ? entryStart : getRange(key).start
    const distance = getColumn(text, written.start) - getColumn(text, start)
    if (key === undefined) {
      if (!text.slice(start, written.start).includes('\n')) samples.dashWidth.push(distance)
    } else if (node.kind === 'map' && node.style === 'block' && distance > 0)
      samples.step.push(distance)
    else if (node.kind === 'list' && node.style === 'block' && distance >= 0)
      samples.dashOffset.push(distance)
  }
}
