import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Terminal, type TerminalOptions } from './terminal.ts'

const ROWS: readonly (readonly [
  name: string,
  isTTY: boolean,
  color: TerminalOptions['color'],
  env: TerminalOptions['env'],
  coloured: boolean,
])[] = [
  ['on a terminal', true, 'auto', {}, true],
  ['in a pipe', false, 'auto', {}, false],
  ['with NO_COLOR', true, 'auto', { NO_COLOR: '1' }, false],
  ['with an empty NO_COLOR', true, 'auto', { NO_COLOR: '' }, true],
  ['on a dumb terminal', true, 'auto', { TERM: 'dumb' }, false],
  ['in a pipe with CLICOLOR_FORCE', false, 'auto', { CLICOLOR_FORCE: '1' }, true],
  ['in a pipe with CLICOLOR_FORCE=0', false, 'auto', { CLICOLOR_FORCE: '0' }, false],
  ['with NO_COLOR and CLICOLOR_FORCE', true, 'auto', { NO_COLOR: '1', CLICOLOR_FORCE: '1' }, false],
  ['with --color=always in a pipe with NO_COLOR', false, 'always', { NO_COLOR: '1' }, true],
  ['with --color=never and CLICOLOR_FORCE', true, 'never', { CLICOLOR_FORCE: '1' }, false],
]

for (const [name, isTTY, color, env, coloured] of ROWS) {
  test(`${name} there is ${coloured ? 'colour' : 'no colour'}`, () => {
    const terminal = new Terminal({ isTTY, write: () => undefined }, { color, ascii: false, env })
    assert.equal(terminal.style('x', 'red', 'bold'), coloured ? '\u001b[31;1mx\u001b[0m' : 'x')
    assert.equal(terminal.isTTY, isTTY)
  })
}

test('empty text and text without a style have no colour codes', () => {
  const terminal = new Terminal(
    { isTTY: true, write: () => undefined },
    { color: 'always', ascii: false, env: {} },
  )
  assert.equal(terminal.style('', 'red'), '')
  assert.equal(terminal.style('x'), 'x')
})

test('with --ascii every glyph is of ASCII', () => {
  const terminal = new Terminal({ write: () => undefined }, { color: 'auto', ascii: true, env: {} })
  for (const glyph of [
    'ok',
    'changed',
    'added',
    'removed',
    'warning',
    'unknown',
    'error',
    'arrow',
    'hidden',
    'nothing',
  ] as const) {
    assert.match(terminal.getGlyph(glyph), /^[ -~]+$/)
  }
})
