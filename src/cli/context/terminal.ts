/** Colour is never the only signal. */
export interface OutputStream {
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  write(text: string): unknown
}

export interface TerminalOptions {
  readonly color: 'auto' | 'always' | 'never'
  readonly ascii: boolean
  readonly env: { readonly [name: string]: string | undefined }
}

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const
export type Style = keyof typeof CODES

const GLYPHS = {
  ok: ['✓', 'ok'],
  changed: ['~', 'chg'],
  added: ['+', 'add'],
  removed: ['-', 'del'],
  warning: ['!', 'WARN'],
  unknown: ['?', 'unk'],
  error: ['✗', 'ERR'],
  arrow: ['→', '->'],
  hidden: ['••••', '****'],
  nothing: ['∅', '(none)'],
} as const
type Glyph = keyof typeof GLYPHS

export class Terminal {
  readonly isTTY: boolean
  /** Characters; 100 if unknown. */
  readonly width: number
  readonly colours: boolean
  private readonly ascii: boolean

  constructor(stream: OutputStream, options: TerminalOptions) {
    this.isTTY = stream.isTTY === true
    this.width = stream.columns ?? 100
    this.colours = wantsColour(this.isTTY, options)
    this.ascii = options.ascii
  }

  style(text: string, ...styles: readonly Style[]): string {
    if (!this.colours || text === '' || styles.length === 0) return text
    return `\u001b[${styles.map((style) => CODES[style]).join(';')}m${text}\u001b[0m`
  }

  getGlyph(name: Glyph): string {
    return GLYPHS[name][this.ascii ? 1 : 0]
  }
}

/** NO_COLOR (no-color.org), TERM=dumb and CLICOLOR_FORCE; a flag overrides all. */
function wantsColour(isTTY: boolean, { color, env }: TerminalOptions): boolean {
  if (color !== 'auto') return color === 'always'
  if (env['NO_COLOR']) return false
  if (env['CLICOLOR_FORCE'] && env['CLICOLOR_FORCE'] !== '0') return true
  return isTTY && env['TERM'] !== 'dumb'
}
