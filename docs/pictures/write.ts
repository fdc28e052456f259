/**
 * Makes docs/pictures/demo.svg: what `backporch demo` prints on a terminal of 104 columns, colours included. The text is
 * taken from a real run; only the name of the temporary folder is replaced.
 *
 *   node docs/pictures/write.ts
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCli } from '../../src/cli/run-cli.ts'
import { wire } from '../../src/wire.ts'

const COLUMNS = 104
const LINE = 19
const CELL = 8.43
/** Colours of the terminal's palette: readable on the dark ground (contrast above 4.5:1). */
const COLOURS: Readonly<Record<string, string>> = {
  '31': '#ff7b72',
  '32': '#7ee787',
  '33': '#e3b341',
  '36': '#79c0ff',
}
const GROUND = '#0d1117'
const TEXT = '#e6edf3'
const DIM = '#9198a1'

const folder = mkdtempSync(join(tmpdir(), 'backporch-picture-'))
let printed = ''
const output = {
  isTTY: true,
  columns: COLUMNS,
  write: (text: string) => {
    printed += text
    return true
  },
}
try {
  const world = {
    ...wire(process, new AbortController().signal),
    stdout: output,
    stderr: { write: () => true },
  }
  const code = await runCli(['demo', '--folder', join(folder, 'demo')], world)
  if (code !== 0) throw new Error(`the demo ended with ${code}`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

const lines = printed.split('\n')
const first = lines.findIndex((line) => line.includes('backporch diff'))
const last = lines.findIndex((line, index) => index > first && line.includes('changes in'))
const adopt = lines.findIndex((line) => line.includes('backporch adopt'))
const shown = [...lines.slice(first, last + 1), '', ...lines.slice(adopt, adopt + 4)]
writeFileSync(new URL('demo.svg', import.meta.url), svg(shown))

function svg(rows: readonly string[]): string {
  const width = Math.ceil(COLUMNS * CELL + 32)
  const height = rows.length * LINE + 32
  const text = rows.map(
    (row, index) =>
      `<text x="16" y="${16 + (index + 1) * LINE - 5}" xml:space="preserve">${spans(row)}</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="Output of backporch diff and backporch adopt">
<rect width="${width}" height="${height}" rx="8" fill="${GROUND}"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="${TEXT}">
${text.join('\n')}
</g>
</svg>
`
}

/** One line of terminal text; each run of one style is placed by its column, so that fonts of other widths stay aligned. */
function spans(row: string): string {
  let column = 0
  let codes: string[] = []
  const parts: string[] = []
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape of a terminal's colours
  for (const part of row.split(/(\u001b\[[0-9;]*[A-Za-z])/)) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the same
    const style = /^\u001b\[([0-9;]*)m$/.exec(part)
    if (style !== null)
      codes = style[1] === '0' || style[1] === '' ? [] : (style[1] ?? '').split(';')
    if (part === '' || part.startsWith('\u001b') || part === '\r') continue
    const fill =
      codes.map((code) => COLOURS[code]).find((colour) => colour !== undefined) ??
      (codes.includes('2') ? DIM : undefined)
    const weight = codes.includes('1') ? ' font-weight="600"' : ''
    const x = (16 + column * CELL).toFixed(1)
    parts.push(
      `<tspan x="${x}"${fill === undefined ? '' : ` fill="${fill}"`}${weight}>${escapeXml(part)}</tspan>`,
    )
    column += Array.from(part).length
  }
  return parts.join('')
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
