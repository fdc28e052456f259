import { Argument, type Command } from 'commander'
import type { Run, World } from '../world.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

export function addCompletionCommand(program: Command, world: World, run: Run): void {
  program
    .command('completion')
    .description('print a completion script: source <(backporch completion bash)')
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    .action((shell: (typeof SHELLS)[number]) =>
      run(async () => {
        world.stdout.write(completionScript(shell, program))
        return 0
      }),
    )
}

/** Names of commands and long flags, from the program itself. */
function completionScript(shell: (typeof SHELLS)[number], program: Command): string {
  const words = wordsOf(program, '')
  if (shell === 'fish') {
    return [...words]
      .flatMap(([path, list]) => {
        const condition =
          path === ''
            ? '__fish_use_subcommand'
            : `__fish_seen_subcommand_from ${path.trim().split(' ').join('; and __fish_seen_subcommand_from ')}`
        return list.map((word) =>
          word.startsWith('--')
            ? `complete -c backporch -n '${condition}' -l ${word.slice(2)}\n`
            : `complete -c backporch -f -n '${condition}' -a ${word}\n`,
        )
      })
      .join('')
  }
  const cases = [...words].map(([path, list]) => `    '${path.trim()}') words='${list.join(' ')}' ;;\n`).join('')
  const start = shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''
  return `${start}_backporch() {
  local word=\${COMP_WORDS[COMP_CWORD]} path='' words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case \${COMP_WORDS[i]} in -*) ;; *) path="$path \${COMP_WORDS[i]}"; [ -z "\${path// }" ] || break ;; esac
  done
  path=\${path# }
  case "$path" in
${cases}  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _backporch backporch
`
}

function wordsOf(command: Command, path: string): Map<string, readonly string[]> {
  const words = new Map([
    [path, [...command.commands.map((below) => below.name()), ...command.options.flatMap(({ long }) => (long ? [long] : []))]],
  ])
  for (const below of command.commands) for (const [key, list] of wordsOf(below, `${path} ${below.name()}`)) words.set(key, [...list])
  return words
}
