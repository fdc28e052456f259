/** As in go-yaml's emitter (`emitterc.go`, `analyze_scalar`, `select_scalar_style`). */
import type { YamlScalar } from './yaml-node.ts'

interface ScalarForm {
  readonly multiline: boolean
  readonly plainInFlow: boolean
  readonly plainInBlock: boolean
  readonly single: boolean
  /** Literal or folded. */
  readonly block: boolean
}

const EMPTY: ScalarForm = {
  multiline: false,
  plainInFlow: false,
  plainInBlock: true,
  single: true,
  block: false,
}
const SIMPLE: ScalarForm = {
  multiline: false,
  plainInFlow: true,
  plainInBlock: true,
  single: true,
  block: true,
}

/** go-yaml's line breaks. CR and NEL are escaped before, because they are not printable. */
const BREAK = /[\n\u2028\u2029]/
const ANY_BREAK = /[\r\n\u0085\u2028\u2029]/
/** Control characters, byte order marks, noncharacters, and all beyond U+FFFF, as in go-yaml. */
const UNPRINTABLE = /[^\n\x20-\x7E\u00A0-\uD7FF\uE000-\uFEFE\uFF00-\uFFFD]/
const SPECIAL = /[^\t\n\x20-\x7E\u00A0-\uD7FF\uE000-\uFEFE\uFF00-\uFFFD]/
const BLOCK_INDICATOR =
  /^(?:---|\.\.\.|[#,[\]{}&*!|>'"%@`]|[?:-](?:[ \t]|$))|:(?:[ \t]|$)|[ \t\r\n\u0085\u2028\u2029\0]#/
const FLOW_INDICATOR = /^[?:]|[,?[\]{}:]/

export function detectScalarForm(text: string): ScalarForm {
  if (/^[A-Za-z0-9][A-Za-z0-9_./-]*$/.test(text)) return SIMPLE
  if (text === '') return EMPTY
  const breaks = ANY_BREAK.test(text)
  const special = SPECIAL.test(text)
  const spaceBeforeBreak = / [\r\n\u0085\u2028\u2029]/.test(text)
  const spaceAfterBreak = /[\r\n\u0085\u2028\u2029] /.test(text)
  const edges = /^[ \r\n\u0085\u2028\u2029]|[ \r\n\u0085\u2028\u2029]$/.test(text)
  const single = !spaceAfterBreak && !spaceBeforeBreak && !special && !text.includes('\t')
  const plain = single && !edges && !breaks
  const blockIndicator = BLOCK_INDICATOR.test(text)
  return {
    multiline: breaks,
    plainInFlow: plain && !blockIndicator && !FLOW_INDICATOR.test(text),
    plainInBlock: plain && !blockIndicator,
    single,
    block: !spaceBeforeBreak && !special && !text.endsWith(' '),
  }
}

interface ScalarLocation {
  readonly inFlow: boolean
  readonly isSimpleKey: boolean
}

export function chooseScalarStyle(
  text: string,
  wanted: YamlScalar['style'],
  form: ScalarForm,
  location: ScalarLocation,
): YamlScalar['style'] {
  let style = location.isSimpleKey && form.multiline ? 'double' : wanted
  if (style === 'plain') {
    const allowed = location.inFlow ? form.plainInFlow : form.plainInBlock
    if (!allowed || (text === '' && (location.inFlow || location.isSimpleKey))) style = 'single'
  }
  if (style === 'single' && !form.single) style = 'double'
  if (
    (style === 'literal' || style === 'folded') &&
    (!form.block || location.inFlow || location.isSimpleKey)
  )
    style = 'double'
  return style
}

export function isYamlBreak(character: string | undefined): boolean {
  return character !== undefined && BREAK.test(character)
}

const ESCAPES: { readonly [character: string]: string } = {
  '\0': '0',
  '\x07': 'a',
  '\b': 'b',
  '\t': 't',
  '\n': 'n',
  '\v': 'v',
  '\f': 'f',
  '\r': 'r',
  '\x1B': 'e',
  '"': '"',
  '\\': '\\',
  '\u0085': 'N',
  '\u2028': 'L',
  '\u2029': 'P',
}

export function formatDoubleQuoted(text: string): string {
  if (/^[\x20\x21\x23-\x5B\x5D-\x7E]*$/.test(text)) return `"${text}"`
  // go-yaml escapes every character of a text that begins with a byte order mark.
  const all = text.startsWith('\uFEFF')
  let quoted = '"'
  for (const character of text)
    quoted +=
      all || ANY_BREAK.test(character) || UNPRINTABLE.test(character) || /["\\]/.test(character)
        ? escapeCharacter(character)
        : character
  return `${quoted}"`
}

function escapeCharacter(character: string): string {
  const short = Object.hasOwn(ESCAPES, character) ? ESCAPES[character] : undefined
  if (short !== undefined) return `\\${short}`
  const code = character.codePointAt(0) ?? 0
  if (code === 0xa0) return '\\_'
  const [letter, digits] = code <= 0xff ? ['x', 2] : code <= 0xffff ? ['u', 4] : ['U', 8]
  return `\\${letter}${code.toString(16).toUpperCase().padStart(digits, '0')}`
}
