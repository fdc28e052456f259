import { cut, escapeUnseen } from './foreign-text.ts'

/** For text from a cluster or git: hidden characters become `\u{…}`. */
export function convertToOneLine(text: string, limit = 120): string {
  // The GitHub Actions runner executes `##[command]` anywhere in a log line.
  return cut(escapeUnseen(text).replaceAll('##[', '#\\u{23}['), limit)
}
