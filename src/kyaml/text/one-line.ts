import { cut, visible } from './foreign-text.ts'

/** For text from a cluster or git: hidden characters become `\u{…}`. */
export function oneLine(text: string, limit = 120): string {
  // The GitHub Actions runner executes `##[command]` anywhere in a log line.
  return cut(visible(text).replaceAll('##[', '#\\u{23}['), limit)
}
