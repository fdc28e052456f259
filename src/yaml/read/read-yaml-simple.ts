/**
 * YAML that there are no two opinions about: blocks of `key: value` and `- item`, scalars on one line or as `|` and `>`
 * blocks, short brackets on one line. Most manifests are nothing else. Found line by line without a parse, which is some
 * thirty times faster; what is not plainly of this kind is for the strict parse to judge.
 */

/** Larger ones are not worth a second look. */
const MAX_SIMPLE_LENGTH = 1024 * 1024
const MAX_SIMPLE_DEPTH = 40

/** No tab, no carriage return, no other control character, no separator that ends a line for some readers, nothing beyond 16 bits. */
const SIMPLE_TEXT = /^[\n -~\u00A0-\u2027\u202A-\uD7FF\uE000-\uFEFE\uFF00-\uFFFD]*$/

const SINGLE = /'(?:[^']|'')*'/.source
const DOUBLE = /"(?:[^"\\]|\\["\\nt])*"/.source
/** `null` is no key to kubectl. */
const KEY = /(?:(?!null\b|Null\b|NULL\b)[A-Za-z_][A-Za-z0-9_./-]{0,200}|"[^"\\]{0,200}"|'[^']{0,200}')/.source
/** Neither an indicator of YAML nor a dot, as in `.nan`, comes first. */
const PLAIN = /(?:[A-Za-z0-9_/$(]|-(?=[A-Za-z0-9-]))(?:[^ :]|:(?! |$)| +(?=[^ #]))*/.source
const ITEM = `(?:${/(?:[A-Za-z0-9_/]|-(?=[A-Za-z0-9]))[A-Za-z0-9_./-]*/.source}|${SINGLE}|${DOUBLE})`
const listOf = (item: string): string => `(?: *${item} *(?:, *${item} *)*| *)`
const BRACKETS = `\\[${listOf(ITEM)}\\]|\\{${listOf(`${KEY}: +${ITEM}`)}\\}`
const LINE = new RegExp(
  `^( *)((?:-(?: +|$))*)(?:(${KEY}):(?= |$) *)?(${PLAIN}|${SINGLE}|${DOUBLE}|${BRACKETS}|[|>][-+]?)? *(?:(?<= )#.*)?$`,
)

interface OpenBlock {
  readonly kind: 'map' | 'list'
  readonly column: number
}

/**
 * Whether the strict parse would accept the text, and find a document in every piece of it that has more than comments. False says
 * nothing.
 */
export function isSimpleYaml(text: string): boolean {
  if (text.length > MAX_SIMPLE_LENGTH || !SIMPLE_TEXT.test(text)) return false
  const lines = new SimpleLines()
  let start = 0
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
    if (!lines.accept(text.slice(start, end))) return false
    start = end + 1
  }
  return (start === text.length || lines.accept(text.slice(start))) && lines.atEnd()
}

class SimpleLines {
  private open: OpenBlock[] = []
  /** Column of a key or dash on the last line that nothing stood behind; -1 where there was none. */
  private waiting = -1
  /** Indentation of the scalar block that is being read: -1 outside of one, 0 before its first line. */
  private scalarIndent = -1

  accept(line: string): boolean {
    const indent = indentOf(line)
    if (this.scalarIndent === 0) return this.beginScalar(line, indent)
    if (this.scalarIndent > 0) {
      if (indent >= this.scalarIndent || line === '') return true
      if (indent === line.length) return false
      this.scalarIndent = -1
    }
    if (indent === line.length || line.charCodeAt(indent) === 35) return true
    if (line === '---') {
      this.open = []
      this.waiting = -1
      return true
    }
    return this.acceptEntry(line)
  }

  atEnd(): boolean {
    return this.scalarIndent !== 0
  }

  private beginScalar(line: string, indent: number): boolean {
    if (indent === line.length || indent <= (this.open.at(-1)?.column ?? 0)) return false
    this.scalarIndent = indent
    return true
  }

  private acceptEntry(line: string): boolean {
    const [whole, spaces = '', dashes = '', key, value] = LINE.exec(line) ?? []
    if (whole === undefined || (key === undefined && dashes === '')) return false
    let column = spaces.length
    if (!this.enter(dashes === '' ? 'map' : 'list', column)) return false
    if (dashes !== '') {
      for (let at = dashes.indexOf('-', 1); at !== -1; at = dashes.indexOf('-', at + 1))
        this.open.push({ kind: 'list', column: column + at })
      column += key === undefined ? dashes.lastIndexOf('-') : dashes.length
      if (key !== undefined) this.open.push({ kind: 'map', column })
    }
    this.waiting = value === undefined ? column : -1
    if (value !== undefined && (value.startsWith('|') || value.startsWith('>'))) this.scalarIndent = 0
    return this.open.length <= MAX_SIMPLE_DEPTH
  }

  /** Goes back to the block that the column is of, or begins one below the key or dash that waits for it. */
  private enter(kind: OpenBlock['kind'], column: number): boolean {
    const { open, waiting } = this
    let top = open.at(-1)
    while (top !== undefined && top.column > column) {
      open.pop()
      top = open.at(-1)
    }
    // A list may stand at the column of its key.
    if (top?.kind === 'list' && kind === 'map' && top.column === column) {
      open.pop()
      return open.at(-1)?.column === column
    }
    if (top === undefined) {
      if (column > 0) return false
    } else if (top.column === column && top.kind === kind) return true
    else if (top.column !== waiting) return false
    open.push({ kind, column })
    return true
  }
}

function indentOf(line: string): number {
  let at = 0
  while (line.charCodeAt(at) === 32) at += 1
  return at
}
