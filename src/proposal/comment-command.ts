/**
 * Commands in comments (docs/guides/pull-request-commands.md): `/drift VERB …` or `/VERB …` at the start of a line. Anyone may write a
 * comment. A quote or code is no command, and an unknown word is for another bot.
 */
import { oneLine } from '../text/one-line.ts'
import { linesOutsideCode } from './text/ticks.ts'

export const RESOLUTION_VERBS = ['restore', 'adopt', 'release'] as const
export const VERBS = [
  ...RESOLUTION_VERBS,
  'ignore',
  'unignore',
  'snooze',
  'recheck',
  'recreate',
  'exclude',
  'explain',
  'show',
  'help',
] as const
export type CommandVerb = (typeof VERBS)[number]

export interface CommentCommand {
  readonly verb: CommandVerb
  /** As written: `1,3`, `2:spec.replicas`, `deployment/web`; empty means all. */
  readonly selectors: readonly string[]
  /** Seconds, of `--for` or of `snooze`. */
  readonly duration: number | undefined
  /** The text behind `--`, in one line. */
  readonly reason: string | undefined
}

/** A command that is not valid, with the reason. */
export interface RefusedCommand {
  /** The line, safe and short. */
  readonly line: string
  readonly why: string
}

export interface CommentCommands {
  readonly commands: readonly CommentCommand[]
  readonly refused: readonly RefusedCommand[]
}

/** Further commands of a comment are refused. */
const COMMAND_LIMIT = 10
const UNITS: { readonly [unit: string]: number } = { m: 60, h: 3_600, d: 86_400, w: 604_800 }
const DURATION = /^([1-9][0-9]{0,4})([mhdw])$/
/** Seconds of the longest silence. */
const LONGEST = 366 * 86_400

/** Never throws. `body` has `\n` or `\r\n` as line break. */
export function parseCommentCommands(body: string): CommentCommands {
  const commands: CommentCommand[] = []
  const refused: RefusedCommand[] = []
  // Only lines that begin at the left edge: a quote or indented code is no command.
  for (const line of linesOutsideCode(body).filter((each) => each.startsWith('/'))) {
    const words = line.trim().split(/[ \t]+/)
    const [first = ''] = words
    if (!/^\/[a-z]+$/i.test(first)) continue
    const long = first.toLowerCase() === '/drift'
    const verb = (long ? (words[1] ?? 'help') : first.slice(1)).toLowerCase()
    if (!isVerb(verb)) {
      if (long) refused.push({ line: oneLine(line), why: `there is no command ${oneLine(verb, 30)}; /drift help lists them` })
      continue
    }
    const parsed = commands.length + refused.length < COMMAND_LIMIT ? parseArguments(verb, words.slice(long ? 2 : 1)) : TOO_MANY
    if (typeof parsed === 'string') refused.push({ line: oneLine(line), why: parsed })
    else commands.push(parsed)
  }
  return { commands, refused }
}

const TOO_MANY = `a comment has at most ${COMMAND_LIMIT} commands`

function isVerb(word: string): word is CommandVerb {
  return VERBS.some((verb) => verb === word)
}

/** @returns the command, or why it is not valid */
function parseArguments(verb: CommandVerb, words: readonly string[]): CommentCommand | string {
  const dashes = words.indexOf('--')
  const reason = dashes === -1 ? undefined : oneLine(words.slice(dashes + 1).join(' '), 300)
  const rest = dashes === -1 ? [...words] : words.slice(0, dashes)
  let duration: number | undefined
  const flag = rest.indexOf('--for')
  if (flag !== -1) {
    const [, text = ''] = rest.splice(flag, 2)
    duration = secondsOf(text)
    if (duration === undefined) return 'wanted --for with a time like 7d, 12h or 30m'
  }
  if (rest.some((word) => word.startsWith('--'))) return `there is no flag ${oneLine(rest.find((word) => word.startsWith('--')) ?? '', 30)}`
  const selectors = rest.flatMap(splitNumbers).filter((word) => word !== '' && word.toLowerCase() !== 'all')
  const command = { verb, selectors, duration, reason }
  switch (verb) {
    case 'snooze': {
      const [text = ''] = selectors
      const seconds = secondsOf(text)
      return seconds === undefined || selectors.length > 1
        ? 'wanted /snooze with a time like 7d, 12h or 30m'
        : { ...command, selectors: [], duration: seconds }
    }
    case 'ignore':
      if (selectors.length === 0) return 'wanted what to ignore: /ignore 2 --for 30d -- why'
      return reason === undefined || reason === '' ? 'an ignore rule needs a reason: /ignore 2 -- why' : command
    case 'exclude':
      return selectors.length === 1 ? command : 'wanted one name of a cluster, with * for any: /exclude prod-us-*'
    case 'show':
      return selectors.length === 1 && selectors[0] === 'ignores' ? command : 'there is /show ignores'
    case 'recheck':
    case 'recreate':
    case 'help':
      return selectors.length === 0 ? command : `/${verb} takes nothing more`
    default:
      return command
  }
}

/** `1,3` and `1, 3` are two numbers; a field path may contain a comma. */
function splitNumbers(word: string): string[] {
  return /^[0-9,]+$/.test(word) ? word.split(',') : [word]
}

function secondsOf(text: string): number | undefined {
  const match = DURATION.exec(text.toLowerCase())
  const seconds = match === null ? 0 : Number(match[1]) * (UNITS[match[2] ?? ''] ?? 0)
  return seconds === 0 || seconds > LONGEST ? undefined : seconds
}
