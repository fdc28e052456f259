import { convertToOneLine } from '@backporch/kyaml/text'
import { formatPatch, OMIT_HEADERS, structuredPatch } from 'diff'
import type { Style, Terminal } from '../context/terminal.ts'

/** Undefined: no such file. */
interface DiffSide {
  readonly name: string
  readonly text: string | undefined
}

/** Beyond this, one text is removed and one added. */
const MOST_EDITS = 4_000

/** `inActions`: the runner executes lines that begin with `::`, and `##[` in any line. */
export function formatUnifiedDiff(
  before: DiffSide,
  after: DiffSide,
  terminal: Terminal,
  inActions: boolean,
): string {
  const [from, to] = [before, after].map(({ name, text }) =>
    text === undefined ? '/dev/null' : name,
  ) as [string, string]
  const patch = structuredPatch(
    from,
    to,
    before.text ?? '',
    after.text ?? '',
    undefined,
    undefined,
    {
      context: 3,
      maxEditLength: MOST_EDITS,
    },
  )
  const lines =
    patch === undefined
      ? formatWholeFile(before, after)
      : formatPatch(patch, OMIT_HEADERS).replace(/\n$/, '').split('\n')
  const limit = terminal.isTTY ? 2_000 : Number.POSITIVE_INFINITY
  const shown = lines.map((line) => {
    const text = convertToOneLine(line, limit)
    return terminal.style(inActions ? escapeCommands(text) : text, ...chooseStyle(line))
  })
  return [terminal.style(`--- ${from}`, 'bold'), terminal.style(`+++ ${to}`, 'bold'), ...shown]
    .map((line) => `${line}\n`)
    .join('')
}

function formatWholeFile(
  { text: before = '' }: DiffSide,
  { text: after = '' }: DiffSide,
): string[] {
  const removed = before.split('\n').slice(0, -1)
  const added = after.split('\n').slice(0, -1)
  return [
    `@@ -1,${removed.length} +1,${added.length} @@`,
    ...removed.map((line) => `-${line}`),
    ...added.map((line) => `+${line}`),
  ]
}

function chooseStyle(line: string): Style[] {
  return line.startsWith('@@')
    ? ['cyan']
    : line.startsWith('-')
      ? ['red']
      : line.startsWith('+')
        ? ['green']
        : []
}

function escapeCommands(line: string): string {
  return line.replace(/^(\s*):(?=:)/, '$1\\u{3a}').replaceAll('##[', '#\\u{23}[')
}
