/** A package tree for the comparison of our render with the real `kpt fn render --allow-exec`. */
export interface RenderCase {
  /** Words with hyphens, one of its kind in the corpus. */
  readonly name: string
  readonly files: { readonly [path: string]: string }
  /** What it shows, in one sentence. */
  readonly about: string
  /** Rendered with kpt's `KPT_DISABLE_ATTRIBUTION`. */
  readonly unattributed?: true
  /** Part of what kpt says, where it refuses the package; undefined where it renders it. */
  readonly refused?: string
  /** Why our render refuses what kpt renders, on purpose; undefined where both do the same. */
  readonly weRefuse?: string
}

/**
 * A text written with the indentation of the code around it: the line breaks at both ends and the indentation that all its lines
 * have are taken away, one line break is put at the end. Backslashes stand for themselves, but for those before `${` and a backtick.
 */
export function text(strings: TemplateStringsArray, ...values: readonly string[]): string {
  const lines = String.raw(strings, ...values)
    .replace(/\\(\$\{|`)/g, '$1')
    .replace(/^\n/, '')
    .replace(/\n[ ]*$/, '')
    .split('\n')
  const indents = lines
    .filter((line) => line.trim() !== '')
    .map((line) => line.length - line.trimStart().length)
  const indent = Math.min(...indents)
  return `${lines.map((line) => line.slice(Math.min(indent, line.length - line.trimStart().length))).join('\n')}\n`
}

/** A Kptfile with the given text behind its metadata. */
export function kptfile(rest = '', name = 'root'): string {
  return `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: ${name}\n${rest}`
}

/** A Kptfile whose pipeline has these mutators, each one line of YAML in flow style: `{exec: set-labels, configMap: {a: b}}`. */
export function mutated(...functions: readonly string[]): string {
  return kptfile(`pipeline:\n  mutators:\n${functions.map((each) => `    - ${each}\n`).join('')}`)
}

/** The same with validators. */
export function validated(...functions: readonly string[]): string {
  return kptfile(`pipeline:\n  validators:\n${functions.map((each) => `    - ${each}\n`).join('')}`)
}

/** A ConfigMap with the given text behind its name. */
export function configMap(name: string, rest = ''): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${rest}`
}

/** The text with line breaks as Windows writes them. */
export function crlf(given: string): string {
  return given.replaceAll('\n', '\r\n')
}
