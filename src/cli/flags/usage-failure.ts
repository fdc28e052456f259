import { Failure } from '@backporch/kyaml/failure'
import { convertToOneLine, findNearestNames } from '@backporch/kyaml/text'
import type { CommanderError, CommandUnknownOpts, Option } from '@commander-js/extra-typings'

/** Commands of earlier versions, each with what to do instead. */
const REMOVED: ReadonlyMap<string, string> = new Map([
  ['backporch get ignores', 'write backporch ignore --list'],
  ['backporch snooze', 'write /snooze 7d in a comment on the pull request'],
])

interface Reported {
  readonly what: string
  readonly why: string
  readonly remedy: string
}

/** Commander reports details only in its messages. */
export function createUsageFailure(
  thrown: CommanderError,
  argv: readonly string[],
  program: CommandUnknownOpts,
): Failure {
  const message = thrown.message.replace(/^error: /, '')
  const { what, why, remedy } = report(thrown.code, message, findCommand(argv, program))
  return new Failure({
    code: 'BP1001',
    what: convertToOneLine(what, 300),
    why: convertToOneLine(why, 600),
    remedy: convertToOneLine(remedy, 600),
  })
}

function report(code: string, message: string, command: CommandUnknownOpts): Reported {
  const name = getCommandPath(command)
  const [what = message, ...hints] = message.split('\n')
  switch (code) {
    case 'commander.unknownCommand':
    case 'commander.unknownOption':
      return reportUnknownWord(
        what,
        hints.join(' '),
        command,
        code === 'commander.unknownCommand' ? 'command' : 'flag',
      )
    case 'commander.invalidArgument':
      return reportInvalidValue(message, command)
    case 'commander.missingArgument':
      return reportMissingArgument(what, command)
    case 'commander.optionMissingArgument': {
      const option = findOption(what, command)
      return {
        what,
        why: `the flag requires a value${formatChoices(option?.argChoices)}`,
        remedy: `write ${option?.flags ?? 'it after the flag'}`,
      }
    }
    case 'commander.excessArguments': {
      const [, first = what, second = ''] = /^(.*?)\. (Expected .*?)\.?$/s.exec(message) ?? []
      return {
        what: first,
        why: second.replace(/^E/, 'e') || 'it takes no more arguments',
        remedy: `write ${formatUsage(command)}`,
      }
    }
    case 'commander.conflictingOption':
      return {
        what,
        why: 'they contradict or replace each other',
        remedy: 'remove one of them',
      }
    default:
      return {
        what,
        why: hints.join(' ').trim() || 'it is not part of the command',
        remedy: `${name} --help lists its arguments and flags`,
      }
  }
}

function reportUnknownWord(
  what: string,
  hint: string,
  command: CommandUnknownOpts,
  kind: 'command' | 'flag',
): Reported {
  const name = getCommandPath(command)
  const moved = REMOVED.get(`${name} ${/'(.*)'$/.exec(what)?.[1] ?? ''}`)
  if (moved !== undefined) return { what, why: `${name} no longer has this command`, remedy: moved }
  const [, names] = /^\(Did you mean (?:one of )?(.*)\?\)$/.exec(hint) ?? []
  const none = kind === 'command' ? `${name} has no such command` : `${name} has no such flag`
  if (names === undefined) return { what, why: none, remedy: `${name} --help lists its ${kind}s` }
  const written = names.split(', ').map((each) => (kind === 'command' ? `${name} ${each}` : each))
  return {
    what,
    why: `${none}; did you mean ${names.replace(/, ([^,]*)$/, ' or $1')}?`,
    remedy: `write ${written.join(' or ')}`,
  }
}

function reportInvalidValue(message: string, command: CommandUnknownOpts): Reported {
  const [, what, argument, reason] =
    /^(.*) is invalid(?: for argument '([^']*)')?\. (.*)$/s.exec(message) ?? []
  if (what === undefined || reason === undefined) {
    const [first = message, ...others] = message.split(/; |\n/)
    return {
      what: first,
      why: others.join('; ') || 'the command does not accept it',
      remedy: 'give an accepted value, or remove the flag',
    }
  }
  const flag = findOption(what, command)?.long
  const to = flag ? `give ${flag}` : 'write'
  const [, choices] = /^Allowed choices are (.*)\.$/.exec(reason) ?? []
  const refused =
    argument === undefined
      ? `${what} is not accepted`
      : `${what.replace('command-argument value', 'the argument')} for <${argument}> is not accepted`
  if (choices !== undefined)
    return { what: refused, why: `it takes one of ${choices}`, remedy: `${to} one of ${choices}` }
  const [why = reason, ...remedy] = reason.split('\n')
  return { what: refused, why, remedy: remedy.join(' ') || `${to} such a value, or remove it` }
}

function reportMissingArgument(what: string, command: CommandUnknownOpts): Reported {
  const [, wanted] = /'(.*)'$/.exec(what) ?? []
  const argument = command.registeredArguments.find((each) => each.name() === wanted)
  const about =
    argument === undefined ? '' : `: ${argument.description}${formatChoices(argument.argChoices)}`
  return {
    what,
    why: `${getCommandPath(command)} requires <${wanted}>${about}`,
    remedy: `write ${formatUsage(command)}`,
  }
}

function formatChoices(choices: readonly string[] | undefined): string {
  return choices === undefined ? '' : ` (${choices.join(', ')})`
}

function findOption(message: string, command: CommandUnknownOpts): Option | undefined {
  const [, flags] = /^option '([^']*)'/.exec(message) ?? []
  return command.options.find((option) => option.flags === flags)
}

function findCommand(argv: readonly string[], program: CommandUnknownOpts): CommandUnknownOpts {
  let command = program
  for (const word of argv) {
    if (word.startsWith('-')) continue
    const below = command.commands.find((each) => each.name() === word)
    if (below === undefined) break
    command = below
  }
  return command
}

function getCommandPath(command: CommandUnknownOpts): string {
  return command.parent === null
    ? command.name()
    : `${getCommandPath(command.parent)} ${command.name()}`
}

function formatUsage(command: CommandUnknownOpts): string {
  return `${getCommandPath(command)} ${command.usage()}`
}

/**
 * For `help [command...]`, also after a group. For an unknown command, commander prints the
 * program's help.
 * @throws Failure BP1001 for an unknown command
 */
export function findWantedHelp(
  argv: readonly string[],
  program: CommandUnknownOpts,
): CommandUnknownOpts | undefined {
  const words = argv.filter((word) => !word.startsWith('-'))
  let command = program
  let requested = false
  for (const word of words) {
    if (!requested && word === 'help' && command.commands.length > 0) {
      requested = true
      continue
    }
    const below = command.commands.find((each) => each.name() === word)
    if (below !== undefined) command = below
    else if (!requested) return undefined
    else if (word !== 'help' && command.commands.length > 0)
      throw createNoSuchCommandFailure(word, command)
  }
  return requested ? command : undefined
}

function createNoSuchCommandFailure(word: string, command: CommandUnknownOpts): Failure {
  const near = findNearestNames(
    word,
    command.commands.map((each) => each.name()),
  )
  const name = getCommandPath(command)
  return new Failure({
    code: 'BP1001',
    what: `unknown command ${convertToOneLine(`'${word}'`, 300)}`,
    why: `${name} has no such command${near.length === 0 ? '' : `; did you mean ${near.join(' or ')}?`}`,
    remedy:
      near.length === 0
        ? `${name} --help lists its commands`
        : `write ${near.map((each) => `${name} ${each} --help`).join(' or ')}`,
  })
}
