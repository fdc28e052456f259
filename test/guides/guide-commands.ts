/** The commands of a guide: fenced blocks without a language, whose lines with `$ ` are commands and whose other lines are what they print. */
export interface GuideCommand {
  readonly command: string
  /** Lines that the guide shows of its output; empty where it shows none. */
  readonly shown: readonly string[]
  /** Of the command in the guide, from 1. */
  readonly line: number
}

export function commandsOf(guide: string): readonly GuideCommand[] {
  const found: { command: string; shown: string[]; line: number }[] = []
  let isInside = false
  let isCommands = false
  for (const [index, text] of guide.split('\n').entries()) {
    if (text.startsWith('```')) {
      isCommands = !isInside && text === '```'
      isInside = !isInside
      if (isCommands) found.push({ command: '', shown: [], line: 0 })
    } else if (isCommands) {
      if (text.startsWith('$ ')) found.push({ command: text.slice(2), shown: [], line: index + 1 })
      else found.at(-1)?.shown.push(text)
    }
  }
  return found.filter(({ command }) => command !== '')
}

/** Stands for lines that the guide leaves out. */
const LEFT_OUT = '…'

/** Whether the output is what the guide shows of it: its parts between `…`, each whole and in their order. */
export function isShown(output: string, shown: readonly string[]): boolean {
  const parts = comparable(shown.join('\n')).split(LEFT_OUT)
  const pattern = parts
    .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
    .join('[\\s\\S]*')
  return new RegExp(`^${pattern}$`).test(comparable(output))
}

/** The guide with the whole output of each command that it shows the whole output of. */
export function withOutputs(guide: string, outputs: ReadonlyMap<number, string>): string {
  const lines = guide.split('\n')
  const commands = commandsOf(guide)
  for (const { line, shown } of commands.toReversed()) {
    const output = outputs.get(line)
    if (output !== undefined && shown.length > 0 && !shown.includes(LEFT_OUT))
      lines.splice(line, shown.length, ...output.trimEnd().split('\n'))
  }
  return lines.join('\n')
}

/** What is the same in each run: ids, commits, times and the width of columns are not. */
export function comparable(output: string): string {
  return output
    .replaceAll(/drift-[0-9a-f]{8}\b/g, 'drift-ID')
    .replaceAll(/\b[0-9a-f]{40}\b|\b[0-9a-f]{7,8}\b/g, 'COMMIT')
    .replaceAll(/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?/g, 'TIME')
    .replaceAll(/\b\d+(?:ms|s|m|h)\b/g, 'AGE')
    .split('\n')
    .map((line) => line.replaceAll(/(?<=\S) {2,}/g, '  ').trimEnd())
    .join('\n')
    .trim()
}
