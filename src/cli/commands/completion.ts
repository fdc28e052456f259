import { convertToOneLine } from '@backporch/kyaml/text'
import { Argument, type Command } from '@commander-js/extra-typings'
import type { CliContext, Run } from '../context/cli-context.ts'
import { type Candidate, completeLine } from '../flags/complete-line.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

/** Takes the words of the line, which are not parsed as flags. */
export const COMPLETE = '__complete'

export function addCompletionCommand(
  program: Command,
  cli: Pick<CliContext, 'stdout'>,
  run: Run,
): void {
  program
    .command('completion')
    .description('print a completion script: source <(backporch completion bash)')
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    .action((shell) =>
      run(async () => {
        cli.stdout.write(SCRIPTS[shell])
        return 0
      }),
    )
}

/**
 * One candidate and description per line, or `:files`. Sends no requests. An error gives no
 * candidates, because a shell cannot show it.
 */
export async function complete(
  words: readonly string[],
  program: Command,
  cli: Pick<CliContext, 'localNames' | 'stdout'>,
): Promise<number> {
  const wanted = completeLine(program, words)
  if (wanted.kind === 'files') cli.stdout.write(':files\n')
  else if (wanted.kind === 'words')
    cli.stdout.write(wanted.candidates.map(formatCandidate).join(''))
  else {
    const { kind, repo, typed, before, taken } = wanted
    const names = /^[a-z][a-z0-9+.-]*:\/\//i.test(repo) ? [] : await cli.localNames(kind, repo)
    const shown = names.filter(
      (name) => name.startsWith(typed) && PLAIN.test(name) && !taken.includes(name),
    )
    cli.stdout.write(
      shown.map((name) => formatCandidate({ text: before + name, about: undefined })).join(''),
    )
  }
  return 0
}

/** Names come from a repository, and a shell inserts them unquoted. */
const PLAIN = /^[A-Za-z0-9._@%+/][A-Za-z0-9._@%+/-]*$/

function formatCandidate({ text, about }: Candidate): string {
  return `${text}${about === undefined ? '' : `\t${convertToOneLine(about, 80)}`}\n`
}

// Candidates are never expanded, evaluated or split: `compgen -W` would execute a name.
const BASH = `# bash completion of backporch
_backporch() {
  local line program=\${COMP_WORDS[0]/#\\~/$HOME} word=\${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      [[ $word == = ]] && word=
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$word")
    else
      COMPREPLY+=("\${line%%$'\\t'*}")
    fi
  done < <("$program" ${COMPLETE} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _backporch backporch
`

const ZSH = `#compdef backporch
_backporch() {
  local line text about
  local -a candidates
  for line in "\${(@f)$("\${words[1]}" ${COMPLETE} "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ $line == :files ]]; then
      _files
      return
    fi
    [[ -n $line ]] || continue
    text=\${line%%$'\\t'*}
    about=\${line#$text}
    candidates+=("\${text//:/\\\\:}:\${about#$'\\t'}")
  done
  (( \${#candidates} )) && _describe backporch candidates
}
compdef _backporch backporch
`

const FISH = `function __backporch_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    test -z "$current"; and set current ''
    set -l found ($words[1] ${COMPLETE} $words[2..-1] $current 2>/dev/null)
    if test "$found" = ':files'
        __fish_complete_path $current
    else
        printf '%s\\n' $found
    end
end
complete -c backporch -f -a '(__backporch_complete)'
`

const SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH } as const
