import type { CommandUnknownOpts } from '@commander-js/extra-typings'
import { Failure } from '../../failure.ts'
import { nearestNames } from '../../package/nearest-name.ts'
import { oneLine } from '../../text/one-line.ts'
import { pathOf } from './usage-failure.ts'

/**
 * The command of `help [command...]`, which may stand behind a group too; undefined for another command line. Commander's own
 * tells of a command that is not there by the help of all others.
 * @throws Failure BP1001 where there is no such command
 */
export function wantedHelp(argv: readonly string[], program: CommandUnknownOpts): CommandUnknownOpts | undefined {
  const words = argv.filter((word) => !word.startsWith('-'))
  let command = program
  let requested = false
  for (const word of words) {
    // Of a command without commands below it, `help` is an argument like any other.
    if (!requested && word === 'help' && command.commands.length > 0) {
      requested = true
      continue
    }
    const below = command.commands.find((each) => each.name() === word)
    if (below !== undefined) command = below
    else if (!requested) return undefined
    else if (word !== 'help' && command.commands.length > 0) throw noSuchCommand(word, command)
  }
  return requested ? command : undefined
}

function noSuchCommand(word: string, command: CommandUnknownOpts): Failure {
  const near = nearestNames(
    word,
    command.commands.map((each) => each.name()),
  )
  const name = pathOf(command)
  return new Failure({
    code: 'BP1001',
    what: `unknown command ${oneLine(`'${word}'`, 300)}`,
    why: `${name} has no such command${near.length === 0 ? '' : `; did you mean ${near.join(' or ')}?`}`,
    remedy: near.length === 0 ? `${name} --help lists its commands` : `write ${near.map((each) => `${name} ${each} --help`).join(' or ')}`,
  })
}
