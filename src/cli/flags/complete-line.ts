import type { Argument, CommandUnknownOpts, Option } from '@commander-js/extra-typings'

export interface Candidate {
  readonly text: string
  readonly about: string | undefined
}

/**
 * Names come from the clone at `repo`; `before` is a prefix of each candidate, such as
 * `--package=`.
 */
type Wanted =
  | { readonly kind: 'words'; readonly candidates: readonly Candidate[] }
  | {
      readonly kind: 'packages' | 'clusters'
      readonly repo: string
      readonly typed: string
      readonly before: string
      readonly taken: readonly string[]
    }
  | { readonly kind: 'files' }

const VALUES: { readonly [flag: string]: 'packages' | 'clusters' | 'files' } = {
  package: 'packages',
  cluster: 'clusters',
  repo: 'files',
  config: 'files',
  kubeconfig: 'files',
  live: 'files',
  folder: 'files',
  kubeconfigExecAllow: 'files',
}
const PACKAGE_ARGUMENTS = new Set(['packages', 'package', 'what'])

/**
 * @param words up to the cursor; the last one is incomplete. bash passes `--output=js` as three
 * words, other shells as one.
 */
export function completeLine(program: CommandUnknownOpts, words: readonly string[]): Wanted {
  const typed = words.at(-1) ?? ''
  const location = findLocation(program, words.slice(0, -1))
  const { command, open } = location
  if (open !== undefined) return listValues(open, typed === '=' ? '' : typed, '', location)
  if (typed === '=') return nothing
  const joined = /^(--[^=]+)=(.*)$/s.exec(typed)
  if (joined !== null && !location.argumentsOnly) {
    const option = findOption(command, joined[1] ?? '')
    return option === undefined || !takesValue(option)
      ? nothing
      : listValues(option, joined[2] ?? '', `${joined[1]}=`, location)
  }
  if (typed.startsWith('-') && !location.argumentsOnly)
    return filterCandidates(listFlags(command), typed, '')
  if (command.commands.length > 0 && location.given.length === 0) {
    const commands = command.commands.map((below) => ({
      text: below.name(),
      about: below.description() || undefined,
    }))
    return filterCandidates(commands, typed, '')
  }
  return findArgument(command, typed, location)
}

const nothing: Wanted = { kind: 'words', candidates: [] }

interface Location {
  readonly command: CommandUnknownOpts
  readonly open: Option | undefined
  readonly given: readonly string[]
  readonly argumentsOnly: boolean
  readonly repo: string
  readonly packages: readonly string[]
}

function findLocation(program: CommandUnknownOpts, words: readonly string[]): Location {
  let command = program
  let open: Option | undefined
  let argumentsOnly = false
  let repo = '.'
  const given: string[] = []
  const packages: string[] = []
  const take = (option: Option, value: string): void => {
    if (option.attributeName() === 'repo') repo = value
    if (option.attributeName() === 'package') packages.push(value)
  }
  for (const word of words) {
    if (open !== undefined) {
      if (word === '=') continue
      take(open, word)
      open = undefined
    } else if (argumentsOnly) given.push(word)
    else if (word === '--') argumentsOnly = true
    else if (word.startsWith('-') && word !== '-') {
      const [flag = '', value] = word.split(/=(.*)/s)
      const option = findOption(command, flag)
      if (option === undefined || !takesValue(option)) continue
      if (value === undefined) open = option
      else take(option, value)
    } else {
      const below: CommandUnknownOpts | undefined =
        given.length === 0 ? command.commands.find((each) => each.name() === word) : undefined
      if (below === undefined) given.push(word)
      else command = below
    }
  }
  return { command, open, given, argumentsOnly, repo, packages }
}

function findOption(command: CommandUnknownOpts, flag: string): Option | undefined {
  return command.options.find(({ long, short }) => flag === long || flag === short)
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional
}

function listFlags(command: CommandUnknownOpts): Candidate[] {
  const own = command.options.flatMap(({ long, hidden, description }) =>
    long && !hidden ? [{ text: long, about: description || undefined }] : [],
  )
  return [...own, { text: '--help', about: 'description, arguments and flags of the command' }]
}

function listValues(option: Option, typed: string, before: string, location: Location): Wanted {
  const kind = VALUES[option.attributeName()]
  if (kind === 'files') return { kind }
  if (kind !== undefined)
    return {
      kind,
      repo: location.repo,
      typed,
      before,
      taken: kind === 'packages' ? [...location.given, ...location.packages] : [],
    }
  const cut = typed.lastIndexOf(',') + 1
  const [done, last] = [typed.slice(0, cut), typed.slice(cut)]
  const choices = (option.argChoices ?? []).filter((choice) => !done.split(',').includes(choice))
  return filterCandidates(choices.map(createCandidate), last, before + done)
}

function findArgument(
  command: CommandUnknownOpts,
  typed: string,
  { given, repo, packages }: Location,
): Wanted {
  const known = command.registeredArguments
  const last = known.at(-1)
  const argument: Argument | undefined =
    known[given.length] ?? (last?.variadic === true ? last : undefined)
  if (argument === undefined) return nothing
  if (PACKAGE_ARGUMENTS.has(argument.name()))
    return { kind: 'packages', repo, typed, before: '', taken: [...given, ...packages] }
  return filterCandidates((argument.argChoices ?? []).map(createCandidate), typed, '')
}

function createCandidate(text: string): Candidate {
  return { text, about: undefined }
}

function filterCandidates(candidates: readonly Candidate[], typed: string, before: string): Wanted {
  return {
    kind: 'words',
    candidates: candidates.flatMap(({ text, about }) =>
      text.startsWith(typed) ? [{ text: before + text, about }] : [],
    ),
  }
}
