import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from '../../../test/seeds/fast-check.ts'
import { formatMarkdownBlock, formatMarkdownCell, formatMarkdownCode } from './markdown-text.ts'
import { convertToOneLine } from './one-line.ts'

const HOSTILE = [
  '@org/everyone closes #1 and acme/deploy#2',
  '`',
  '``',
  '`a`',
  ' ` ',
  '```\n# heading',
  'a`b``c',
  '|',
  'a\\|b',
  'a\\',
  '\\`',
  '\\\\`|`',
  '||',
  ' lead and trail ',
  '<img src=x onerror=alert(1)>',
  '<!-- backporch:adopt -->',
  '</details>',
  '<script>',
  '[x](https://e.example)',
  '![x](y)',
  'https://e.example www.e.example a@e.example',
  '- [ ] tick',
  '/approve',
  '> quote',
  '$x^2$',
  ':tada:',
  '~~~',
  '&lt;&#64;',
  'a\r\nb\u2028c\u0085d',
  '\u202egnp.exe',
  '\u200b\u2066x\u2069',
  '\u001b[31mred',
  '\ud800',
  '\u0000',
  '',
]
const text = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: 'binary' }),
  fc
    .array(
      fc.constantFrom('`', '``', '\\', '|', ' ', 'a', '\n', '@b', '#1', '<i>', '](', '\u202e'),
      { maxLength: 12 },
    )
    .map((parts) => parts.join('')),
)

/** Inline code as CommonMark §6.1 reads it, written from the text of the specification. */
function readCode(markdown: string): string {
  const fence = /^`+/.exec(markdown)?.[0] ?? assert.fail(`no code in ${markdown}`)
  for (const { 0: run, index } of markdown.matchAll(/`+/g)) {
    if (index < fence.length || run.length !== fence.length) continue
    assert.equal(index + run.length, markdown.length, `the code ends early in ${markdown}`)
    const inside = markdown.slice(fence.length, index)
    return /^ .*[^ ].* $/.test(inside) || /^ [^ ]+ $/.test(inside) ? inside.slice(1, -1) : inside
  }
  return assert.fail(`the code does not end in ${markdown}`)
}

/** Cells of a row: at a pipe without a backslash before it; with two before it, readers disagree. */
function cellsOf(row: string): string[] {
  assert.doesNotMatch(row, /\\\\\|/)
  return row.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'))
}

test('any text renders as exactly its one line of code', () => {
  fc.assert(
    fc.property(text, (value) => {
      const shown = convertToOneLine(value, 120)
      assert.equal(
        shown === '' ? '(empty)' : readCode(formatMarkdownCode(value)),
        shown === '' ? formatMarkdownCode(value) : shown,
      )
    }),
    { numRuns: 3_000 },
  )
})

test('a table row keeps its cells for all texts', () => {
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 4 }), (values) => {
      const row = `x|${values.map((value) => formatMarkdownCell(value)).join('|')}|y`
      const cells = cellsOf(row)
      assert.equal(cells.length, values.length + 2, row)
      values.forEach((value, index) => {
        if (convertToOneLine(value, 120) !== '')
          assert.equal(
            readCode(cells[index + 1] ?? ''),
            convertToOneLine(value, 120).replaceAll('\\|', '\\\\u{7c}'),
            row,
          )
      })
    }),
    { numRuns: 3_000 },
  )
})

test('removes invisible characters and line breaks', () => {
  for (const value of HOSTILE) {
    assert.doesNotMatch(
      formatMarkdownCell(value) + formatMarkdownCode(value),
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
      /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/,
    )
  }
})

test('a block ends only at its own end', () => {
  fc.assert(
    fc.property(text, (value) => {
      const lines = formatMarkdownBlock(value, 'diff').split('\n')
      const fence = /^`{3,}/.exec(lines[0] ?? '')?.[0] ?? assert.fail('no fence')
      assert.equal(lines[0], `${fence}diff`)
      const closing = lines.findIndex(
        (line, index) => index > 0 && new RegExp(`^ {0,3}\`{${fence.length},}\\s*$`).test(line),
      )
      assert.equal(closing, lines.length - 1)
    }),
  )
})

test('truncates a long text before encoding, so that every opening has its closing', () => {
  assert.equal(
    formatMarkdownCode('`'.repeat(300), 5),
    `${'`'.repeat(5)} \`\`\`\`… ${'`'.repeat(5)}`,
  )
})
