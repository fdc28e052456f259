/**
 * Parses commands: `/drift VERB …` or `/VERB …` at the start of a line
 * (docs/guides/pull-request-commands.md). Anyone may write a comment. A quote or code is not a
 * command, and an unknown word is for another bot.
 */
import { convertDurationToSeconds, convertToOneLine, DURATION } from '@backporch/kyaml/text'
import { listLinesOutsideCode } from './ticks.ts'

interface CommandArguments {
  /** As written, such as `2:spec.replicas`; empty means all. */
  readonly selectors: readonly string[]
  /** Which of several places in git to edit. */
  readonly via?: string
  /** Seconds. */
  readonly duration: number | undefined
  /** On one line. */
  readonly reason: string | undefined
}

interface CommandDeclaration {
  readonly example: string
  readonly does: string
  readonly take: (given: CommandArguments) => CommandArguments | string
  /** Waits while an earlier policy decides. */
  readonly decides: boolean
  readonly readsPolicy?: true
}

const acceptAnyChanges = (given: CommandArguments): CommandArguments => given
const acceptNothing =
  (verb: string) =>
  (given: CommandArguments): CommandArguments | string =>
    given.selectors.length === 0 ? given : `/${verb} takes nothing more`

const DECLARATIONS = {
  restore: {
    example: '/restore 1',
    does: 'plan: the cluster is restored to git',
    take: acceptAnyChanges,
    decides: true,
  },
  adopt: {
    example: '/adopt 1,3 -- why',
    does: 'plan: git adopts the live values',
    take: acceptAnyChanges,
    decides: true,
  },
  release: {
    example: '/release 2:spec.replicas',
    does: 'plan: git stops managing the field',
    take: acceptAnyChanges,
    decides: true,
  },
  recheck: {
    example: '/recheck',
    does: 'checks the cluster again now',
    take: acceptNothing('recheck'),
    decides: false,
  },
  recreate: {
    example: '/recreate',
    does: 'discards commits of other authors on this branch and rebuilds it',
    take: acceptNothing('recreate'),
    decides: true,
  },
  exclude: {
    example: '/exclude prod-us-*',
    does: 'removes clusters from a pull request for many clusters; they get their own pull request',
    take: (given) =>
      given.selectors.length === 1
        ? given
        : 'wanted one name of a cluster, with * for any: /exclude prod-us-*',
    decides: true,
  },
  snooze: {
    example: '/snooze 7d',
    does: 'stops reminders for a while; the pull request stays open with the label `drift-state/snoozed`',
    take: (given) => {
      const [text = '', ...more] = given.selectors
      const duration = parseDuration(text)
      const isTime = duration !== undefined && more.length === 0
      return isTime
        ? { ...given, selectors: [], duration }
        : 'wanted /snooze with a time like 7d, 12h or 30m'
    },
    decides: false,
  },
  ignore: {
    example: '/ignore 1 --for 30d -- why',
    does: 'opens a pull request that adds an ignore rule to the policy',
    take: (given) => {
      if (given.selectors.length === 0) return 'wanted what to ignore: /ignore 2 --for 30d -- why'
      return given.reason === undefined || given.reason === ''
        ? 'an ignore rule needs a reason: /ignore 2 -- why'
        : given
    },
    readsPolicy: true,
    decides: true,
  },
  unignore: {
    example: '/unignore 2',
    does: 'opens a pull request that removes the rule with that number in the list of ignore rules',
    take: acceptAnyChanges,
    readsPolicy: true,
    decides: true,
  },
  show: {
    example: '/show ignores',
    does: 'lists the ignore rules that apply here',
    take: (given) =>
      given.selectors.length === 1 && given.selectors[0] === 'ignores'
        ? given
        : 'there is /show ignores',
    decides: false,
  },
  explain: {
    example: '/explain 1',
    does: 'explains why a change is reported and who made it',
    take: acceptAnyChanges,
    decides: false,
  },
  help: {
    example: '/help',
    does: 'lists these commands',
    take: acceptNothing('help'),
    decides: false,
  },
} as const satisfies { readonly [verb: string]: CommandDeclaration }

export type CommandVerb = keyof typeof DECLARATIONS

export const COMMANDS: { readonly [Verb in CommandVerb]: CommandDeclaration } = DECLARATIONS

export interface CommentCommand extends CommandArguments {
  readonly verb: CommandVerb
}

interface RefusedCommand {
  readonly line: string
  readonly why: string
}

export interface CommentCommands {
  readonly commands: readonly CommentCommand[]
  readonly refused: readonly RefusedCommand[]
}

const COMMAND_LIMIT = 10
/** Seconds. */
const LONGEST = 366 * 86_400

/** Never throws. `body` has `\n` or `\r\n` line breaks. */
export function parseCommentCommands(body: string): CommentCommands {
  const commands: CommentCommand[] = []
  const refused: RefusedCommand[] = []
  // A quote or indented code is not a command.
  for (const line of listLinesOutsideCode(body).filter((each) => each.startsWith('/'))) {
    const words = line.trim().split(/[ \t]+/)
    const [first = ''] = words
    if (!/^\/[a-z]+$/i.test(first)) continue
    const long = first.toLowerCase() === '/drift'
    const verb = (long ? (words[1] ?? 'help') : first.slice(1)).toLowerCase()
    if (!isVerb(verb)) {
      if (long)
        refused.push({
          line: convertToOneLine(line),
          why: `there is no command ${convertToOneLine(verb, 30)}; /drift help lists them`,
        })
      continue
    }
    const parsed =
      commands.length + refused.length < COMMAND_LIMIT
        ? parseArguments(verb, words.slice(long ? 2 : 1))
        : TOO_MANY
    if (typeof parsed === 'string') refused.push({ line: convertToOneLine(line), why: parsed })
    else commands.push(parsed)
  }
  return { commands, refused }
}

const TOO_MANY = `a comment has at most ${COMMAND_LIMIT} commands`

function isVerb(word: string): word is CommandVerb {
  return Object.hasOwn(COMMANDS, word)
}

function parseArguments(verb: CommandVerb, words: readonly string[]): CommentCommand | string {
  const dashes = words.indexOf('--')
  const reason =
    dashes === -1 ? undefined : convertToOneLine(words.slice(dashes + 1).join(' '), 300)
  const rest = dashes === -1 ? [...words] : words.slice(0, dashes)
  let duration: number | undefined
  const flag = rest.indexOf('--for')
  if (flag !== -1) {
    const [, text = ''] = rest.splice(flag, 2)
    duration = parseDuration(text)
    if (duration === undefined) return 'wanted --for with a time like 7d, 12h or 30m'
  }
  const place = takePlace(rest)
  if (place !== undefined && verb !== 'adopt' && verb !== 'release')
    return `/${verb} takes no --via`
  if (place === '') return 'wanted --via with the name of a place: /adopt 1 --via everywhere'
  if (rest.some((word) => word.startsWith('--')))
    return `there is no flag ${convertToOneLine(rest.find((word) => word.startsWith('--')) ?? '', 30)}`
  const selectors = rest
    .flatMap(splitNumbers)
    .filter((word) => word !== '' && word.toLowerCase() !== 'all')
  const via = place === undefined ? {} : { via: place }
  const taken = COMMANDS[verb].take({ selectors, duration, reason, ...via })
  return typeof taken === 'string' ? taken : { verb, ...taken }
}

function takePlace(words: string[]): string | undefined {
  const at = words.findIndex((word) => word === '--via' || word.startsWith('--via='))
  if (at === -1) return undefined
  const [flag = '', next = ''] = words.slice(at, at + 2)
  const isJoined = flag !== '--via'
  words.splice(at, isJoined ? 1 : 2)
  return isJoined ? flag.slice('--via='.length) : next
}

/** A field path may contain a comma. */
function splitNumbers(word: string): string[] {
  return /^[0-9,]+$/.test(word) ? word.split(',') : [word]
}

function parseDuration(text: string): number | undefined {
  const lower = text.toLowerCase()
  const seconds = DURATION.test(lower) ? convertDurationToSeconds(lower) : undefined
  return seconds === undefined || seconds > LONGEST ? undefined : seconds
}
