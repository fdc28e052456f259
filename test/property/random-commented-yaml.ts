/**
 * YAML documents as people write them and worse: every style, comments at every place and indentation, empty lines. Made from
 * a seed, so that a document that fails can be made again.
 */
import { Chance } from '../seeds/chance.ts'

export interface CommentedYamlOptions {
  /** How often a comment stands where one can, from 0 to 1. */
  readonly comments: number
  /** Whether comments and line breaks stand inside brackets too, where kpt at times writes what nobody can read. */
  readonly brackets: boolean
  /** Whether there are `>` blocks, which kpt changes. */
  readonly folded: boolean
}

const ALL: CommentedYamlOptions = { comments: 0.25, brackets: true, folded: true }
const PLAIN = [
  'a',
  'foo',
  'x.y/z',
  '1',
  '0.5',
  'true',
  'yes',
  'null',
  '~',
  '2020-01-01',
  'a b  c',
  'nginx:1.2',
  '10:20',
  '0x1F',
  "it's",
  'a#b',
  'ä ö',
  '$(FOO)',
]
const QUOTED = [...PLAIN, '*.example', '-x', 'a, b', '{{x}}', '[y]', '# no comment', 'a: b', '']
const ESCAPES = ['', '', '', '\\n', '\\t', '\\u00e9', '\\"', '\\\\']

/** A document whose root is a map. */
export function randomCommentedYaml(seed: number, options: CommentedYamlOptions = ALL): string {
  return new Writer(seed, options).document()
}

/** The same with the fields that make an object of it, at any place of the root. */
export function randomCommentedObject(
  seed: number,
  name: string,
  options: CommentedYamlOptions = ALL,
): string {
  return new Writer(seed, options).object(name)
}

class Writer {
  private readonly options: CommentedYamlOptions
  private readonly random: Chance
  private count = 0
  private readonly anchors: string[] = []

  constructor(seed: number, options: CommentedYamlOptions) {
    this.random = new Chance(seed)
    this.options = options
  }

  document(): string {
    const start = this.chance(0.1) ? `---${this.lineEnd()}\n` : ''
    const head = this.chance(this.options.comments) ? `${this.comment()}\n\n` : ''
    return `${start}${this.gap(0)}${head}${this.map(3, 0)}${this.gap(0)}`
  }

  object(name: string): string {
    const fields = [
      `apiVersion: v1${this.lineEnd()}\n`,
      `kind: Row${this.lineEnd()}\n`,
      `metadata:${this.lineEnd()}\n${this.gap(2)}  name: ${name}${this.lineEnd()}\n${this.annotations()}${this.gap(2)}`,
    ]
    const head = this.chance(this.options.comments) ? `${this.comment()}\n\n` : ''
    return `${this.gap(0)}${head}${fields.map((field) => (this.chance(0.2) ? this.map(1, 0) : '') + this.gap(0) + field).join('')}${this.map(2, 0)}${this.gap(0)}`
  }

  private annotations(): string {
    if (!this.chance(0.4)) return ''
    return `${this.gap(2)}  annotations:${this.lineEnd()}\n${this.gap(4)}    x: y${this.lineEnd()}\n${this.gap(4)}`
  }

  private chance(share: number): boolean {
    return this.random.next() < share
  }

  private upTo(end: number): number {
    return Math.floor(this.random.next() * end)
  }

  private pick<T>(choices: readonly [T, ...T[]] | readonly T[]): T {
    return choices[this.upTo(choices.length)] as T
  }

  private number(): number {
    this.count += 1
    return this.count
  }

  private comment(): string {
    return `#${this.pick([' ', ' ', '', '  '])}c${this.number()}${this.pick(['', '', ' more', '  ', ' # x'])}`
  }

  private lineEnd(): string {
    return this.chance(this.options.comments * 0.7)
      ? this.pick([' ', '  ', '     ']) + this.comment()
      : this.pick(['', '', '', ' '])
  }

  /** Comments and empty lines between two lines. */
  private gap(indent: number): string {
    let lines = ''
    while (this.chance(this.options.comments)) {
      lines += `${' '.repeat(this.pick([indent, indent, 0, indent + 2, Math.max(0, indent - 2), this.upTo(9)]))}${this.comment()}\n`
      if (this.chance(0.25)) lines += this.pick(['\n', '\n\n', '   \n'])
    }
    return this.chance(0.1) ? `${lines}\n` : lines
  }

  private key(): string {
    const name = `k${this.number()}`
    return this.pick([name, name, name, name, `"${name}"`, `'${name}'`])
  }

  private scalar(): string {
    const kind = this.upTo(10)
    if (kind < 5) return this.pick(PLAIN)
    if (kind < 7) return `'${this.pick(QUOTED).replaceAll("'", "''")}'`
    return kind < 9
      ? `"${this.pick(QUOTED)}${this.pick(ESCAPES)}"`
      : this.pick(['!!str 5', '!!int 5', '!!binary aGk='])
  }

  private brackets(depth: number, indent: number): string {
    const isMap = this.chance(0.5)
    const lines = this.options.brackets && this.chance(0.3)
    const space = (): string =>
      lines && this.chance(0.6) ? this.breakInside(indent) : this.pick(['', ' '])
    const parts = Array.from({ length: this.upTo(4) }, () => {
      const value =
        depth > 0 && this.chance(0.3) ? this.brackets(depth - 1, indent + 2) : this.scalar()
      return `${space()}${isMap ? `${this.key()}: ` : ''}${value}${space()}`
    })
    const inside = parts.join(',') + (parts.length > 0 && this.chance(0.2) ? ',' : '') + space()
    return isMap ? `{${inside}}` : `[${inside}]`
  }

  private breakInside(indent: number): string {
    const comment = this.chance(this.options.comments) ? ` ${this.comment()}` : ''
    return `${comment}\n${' '.repeat(indent + 2 + this.upTo(4))}`
  }

  private block(indent: number): string {
    const header = this.pick(['|', '|-', '|+', ...(this.options.folded ? ['>', '>-', '>+'] : [])])
    const step = ' '.repeat(indent + this.pick([2, 2, 4, 1]))
    let text = `${header}${this.chance(0.1) ? ` ${this.comment()}` : ''}\n`
    for (let line = this.upTo(4); line >= 0; line -= 1) {
      text += `${step}x${this.pick(QUOTED)}${this.pick(['', '', ' '])}\n`
      if (this.chance(0.3)) text += `${step}${this.pick([' ', '  '])}y\n`
      if (this.chance(0.15)) text += '\n'
    }
    return text
  }

  /** What stands behind a `:` or `-`, with its line break. */
  private value(depth: number, indent: number): string {
    const kind = this.random.next()
    if (depth > 0 && kind < 0.3)
      return `${this.lineEnd()}\n${this.map(depth - 1, indent + this.pick([2, 2, 4, 3]))}`
    if (depth > 0 && kind < 0.5)
      return `${this.lineEnd()}\n${this.list(depth - 1, indent + this.pick([2, 2, 4]))}`
    if (kind < 0.6) return ` ${this.brackets(2, indent)}${this.lineEnd()}\n`
    if (kind < 0.68) return ` ${this.block(indent)}`
    if (kind < 0.72) return `${this.lineEnd()}\n`
    if (kind < 0.75 && this.anchors.length > 0)
      return ` *${this.pick(this.anchors)}${this.lineEnd()}\n`
    if (kind < 0.8) return ` ${this.overLines(indent)}${this.lineEnd()}\n`
    const scalar = this.scalar()
    if (!this.chance(0.05)) return `${this.pick([' ', ' ', '   '])}${scalar}${this.lineEnd()}\n`
    const anchor = `x${this.number()}`
    this.anchors.push(anchor)
    return ` &${anchor} ${scalar}${this.lineEnd()}\n`
  }

  private overLines(indent: number): string {
    const quote = this.pick(['"', "'", ''])
    return `${quote}foo\n${this.chance(0.3) ? '\n' : ''}${' '.repeat(indent + 2)}bar${quote}`
  }

  /** @param first what stands before the first key, where that is a dash */
  private map(depth: number, indent: number, first?: string): string {
    let text = ''
    for (let entry = this.upTo(4); entry >= 0; entry -= 1) {
      text +=
        text === '' && first !== undefined ? first : `${this.gap(indent)}${' '.repeat(indent)}`
      if (depth > 0 && this.chance(0.1))
        text += `${this.key()}:${this.lineEnd()}\n${this.list(depth - 1, indent)}`
      else if (this.chance(0.02))
        text += `? ${this.key()}\n${' '.repeat(indent)}:${this.value(0, indent)}`
      else text += `${this.key()}${this.pick([':', ':', ' :'])}${this.value(depth, indent)}`
    }
    return text
  }

  private list(depth: number, indent: number, first?: string): string {
    let text = ''
    for (let item = this.upTo(4); item >= 0; item -= 1) {
      const lead =
        text === '' && first !== undefined ? first : `${this.gap(indent)}${' '.repeat(indent)}`
      const dash = this.pick(['- ', '- ', '-   '])
      const kind = this.random.next()
      if (depth > 0 && kind < 0.4) text += this.map(depth - 1, indent + dash.length, lead + dash)
      else if (depth > 0 && kind < 0.5)
        text += this.list(depth - 1, indent + dash.length, lead + dash)
      else text += `${lead}-${this.value(depth, indent)}`
    }
    return text
  }
}
