/** Results as Markdown: median, and the smallest and largest in brackets. */
import type { Cost } from './measure.ts'

export interface ToolResult {
  readonly tool: string
  readonly costs: readonly Cost[]
  /** Injected hand edits that the tool reports, as in `25 of 25`; undefined if it never names fields. */
  readonly remembered: string | undefined
}

export function formatTable(results: readonly ToolResult[]): string {
  const head = [
    'tool',
    'requests',
    'of them dry runs',
    'wall s',
    'client CPU s',
    'API server CPU s',
    'manual edits detected',
  ]
  const rows = results.map(({ tool, costs, remembered }) => [
    tool,
    spread(
      costs.map(({ requests }) => requests),
      0,
    ),
    spread(
      costs.map(({ dryRuns }) => dryRuns),
      0,
    ),
    spread(
      costs.map(({ wall }) => wall),
      2,
    ),
    spread(
      costs.map(({ clientCpu }) => clientCpu),
      2,
    ),
    spread(
      costs.map(({ serverCpu }) => serverCpu),
      2,
    ),
    remembered ?? 'reports no fields',
  ])
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |\n`)
    .join('')
}

/** `1.20 (1.10–1.40)`, without brackets if all are equal. */
export function spread(values: readonly number[], digits: number): string {
  const sorted = [...values].sort((left, right) => left - right)
  const [least, most] = [sorted[0], sorted.at(-1)]
  if (least === undefined || most === undefined || sorted.some((value) => Number.isNaN(value)))
    return 'not measured'
  const [low, middle, high] = [least, median(sorted), most].map((value) => value.toFixed(digits))
  return low === high ? `${middle}` : `${middle} (${low}–${high})`
}

/** The percentile: the smallest value with at least this share of the values at or below it; NaN without values. */
export function percentile(values: readonly number[], hundredths: number): number {
  const sorted = [...values].sort((left, right) => left - right)
  return sorted[Math.max(0, Math.ceil((sorted.length * hundredths) / 100) - 1)] ?? Number.NaN
}

/** @param sorted ascending, not empty */
function median(sorted: readonly number[]): number {
  const at = (index: number): number => sorted[index] ?? Number.NaN
  const half = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? at(half) : (at(half - 1) + at(half)) / 2
}

/** Puts a section into a document, replacing one with the same heading. */
export function withSection(document: string, heading: string, body: string): string {
  const section = `${heading}\n\n${body.trimEnd()}\n`
  const begin = document.split('\n').indexOf(heading)
  if (begin === -1) return `${document.trimEnd()}\n\n${section}`
  const lines = document.split('\n')
  const next = lines.findIndex((line, index) => index > begin && line.startsWith('## '))
  const rest = next === -1 ? [] : ['', ...lines.slice(next)]
  return [...lines.slice(0, begin), ...section.trimEnd().split('\n'), ...rest]
    .join('\n')
    .trimEnd()
    .concat('\n')
}

/** Rows of: what, goal, anchor, ours, ratio of anchor and ours. */
export function goalTable(
  rows: readonly (readonly [string, string, string, string, string])[],
): string {
  return [['', 'goal', 'anchor', 'ours', 'ratio'], ['---', '---', '---', '---', '---'], ...rows]
    .map((cells) => `| ${cells.join(' | ')} |\n`)
    .join('')
}
