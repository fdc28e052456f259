import { cut, visible } from './foreign-text.ts'

/**
 * Text from a cluster or from git on its way into a line of a commit message, a terminal or a trailer: it stays one line,
 * shows what it hides (control, bidirectional and zero-width characters as `\u{…}`), and cannot grow without bound.
 */
export function oneLine(text: string, limit = 120): string {
  // The runner of GitHub Actions takes `##[command]` for a command at any position in a line of a log.
  return cut(visible(text).replaceAll('##[', '#\\u{23}['), limit)
}
