/** Each shared flag is declared once; its value type is inferred. */
import { FORGE_KINDS } from '@backporch/forge/forge-setup'
import { splitWords } from '@backporch/kpt/runtime'
import { Failure } from '@backporch/kyaml/failure'
import { convertDurationToSeconds, DURATION } from '@backporch/kyaml/text'
import {
  Command,
  InvalidArgumentError,
  Option,
  type OptionValues,
} from '@commander-js/extra-typings'
import type { AllowedFunctions, CliContext, ClusterTarget } from '../context/cli-context.ts'
import { createOutputOption, isTable, LIST_OUTPUTS, type Output } from './outputs.ts'

/** A document is printed as a whole. */
export function isRows(output: Output): boolean {
  return isTable(output) || output === 'name'
}

/** A command that never runs: it holds declarations and value types. */
export type Flags<Values extends OptionValues> = Command<[], Values>

/** A command cannot read a flag that it does not declare. */
type Complete<Values> = { readonly [Name in keyof Required<Values>]: Values[Name] }
type CompleteAll<Groups> = Groups extends [infer First, ...infer Rest]
  ? Complete<First> & CompleteAll<Rest>
  : unknown

export type ValuesOf<Group extends { opts(): unknown }> = Complete<ReturnType<Group['opts']>>

export type Optional<Values> = { readonly [Name in keyof Values]?: Values[Name] | undefined }

export function addFlags<
  Args extends unknown[],
  Own extends OptionValues,
  Groups extends OptionValues[],
>(
  command: Command<Args, Own>,
  ...groups: { readonly [Index in keyof Groups]: Flags<Groups[Index]> }
): Command<Args, Complete<Own> & CompleteAll<Groups>> {
  for (const { options } of groups as readonly Command[])
    for (const option of options) command.addOption(option)
  return command as unknown as Command<Args, Complete<Own> & CompleteAll<Groups>>
}

export const TERMINAL_FLAGS = new Command()
  .addOption(
    new Option('--color <when>', 'colour').choices(['auto', 'always', 'never']).default('auto'),
  )
  .option('--ascii', 'print words instead of symbols')
  .option('-q, --quiet', 'do not print progress and hints')
  .addOption(
    new Option(
      '-v, --verbose',
      'print each request to the cluster and to git with its duration on stderr',
    ).conflicts('quiet'),
  )
  .option('--debug', 'print stack traces with errors')
export type TerminalOptions = ValuesOf<typeof TERMINAL_FLAGS>

export function createOutputFlags(outputs: readonly Output[]) {
  return addFlags(new Command().addOption(createOutputOption(outputs)), TERMINAL_FLAGS)
}
export type OutputOptions = ValuesOf<ReturnType<typeof createOutputFlags>>

export function listFlags(outputs: readonly Output[] = LIST_OUTPUTS) {
  const columns = new Command()
    .addOption(createOutputOption(outputs))
    .option('--no-headers', 'do not print the column names')
    .option('--columns <names>', 'columns to print, as in package,state', list)
  return addFlags(columns, TERMINAL_FLAGS)
}
export type ListOptions = ValuesOf<ReturnType<typeof listFlags>>

export const REPOSITORY_FLAGS = new Command()
  .option(
    '--repo <path|url>',
    'repository with the packages: a path, or an https or ssh address',
    '.',
  )
  .option('--branch <name>', 'base branch (default: the default branch of the repository)')
  .option(
    '--path <folder>',
    'also compare a folder without a Kptfile: manifests, or a kustomization (repeatable)',
    collect,
  )
export type RepositoryOptions = ValuesOf<typeof REPOSITORY_FLAGS>

export const FUNCTION_FLAGS = new Command()
  .option(
    '--allow-exec <program>',
    'allow pipelines to run this program, as named in the Kptfile (repeatable)',
    collectPrograms,
  )
  .option(
    '--allow-module <path>',
    'a JavaScript or TypeScript module that pipelines may run in this process (repeatable)',
    collectModules,
  )
  .option(
    '--allow-image <image>',
    'allow pipelines to run this image, or all images with a prefix that ends with / (repeatable)',
    collect,
  )
  .addOption(
    new Option('--container-engine <name>', 'container engine that runs images').choices([
      'docker',
      'podman',
    ]),
  )
export type FunctionOptions = ValuesOf<typeof FUNCTION_FLAGS>

export const CLUSTER_FLAGS = new Command()
  .option(
    '--allow-render <program>',
    'allow policies to render packages with this program: kubectl for kustomize, helm for charts; sops to compare encrypted values (repeatable). BACKPORCH_ALLOW_RENDER=kubectl,helm allows them for each command',
    collect,
  )
  .option('--context <name>', 'context of the kubeconfig (default: the current context)')
  .option('--kubeconfig <path>', 'kubeconfig file (default: as kubectl)')
  .option('--cluster <name>', 'name of the cluster in records (default: the name of the context)')
  .option(
    '--live <path>',
    'a recorded cluster: a file or folder of live objects, instead of an API server',
  )
  .option(
    '--field-manager <name>',
    'field manager of the syncer (default: detected from the objects)',
  )
  .option(
    '--operator-policy <path>',
    'file or folder of policies and placements that repositories cannot override',
  )
  .option(
    '--kubeconfig-exec-allow <path>',
    'allow the kubeconfig to run this credential plugin (absolute path, repeatable)',
    collect,
  )
  .option('--insecure-skip-tls-verify', 'honour insecure-skip-tls-verify of the kubeconfig')
  .option(
    '--timeout <duration>',
    'timeout of one request to the cluster, for example 30s',
    parseDuration,
  )

/** In `diff`, `-n` also selects. */
export const NAMESPACE_FLAGS = new Command().option(
  '-n, --namespace <name>',
  'namespace of manifests that have none, as for kubectl (default: that of the context)',
)
export type ClusterOptions = ValuesOf<typeof CLUSTER_FLAGS> &
  Optional<ValuesOf<typeof NAMESPACE_FLAGS>>

export const AUDIT_FLAGS = new Command().option(
  '--audit-log <path>',
  'audit log of the API server, to name users; rotated files beside it are read too',
)
export type AuditOptions = ValuesOf<typeof AUDIT_FLAGS>

export const FORGE_FLAGS = new Command().addOption(
  new Option(
    '--forge <name>',
    'forge for reviews (default: detected from the address of the repository)',
  ).choices(FORGE_KINDS),
)
export type ForgeOptions = ValuesOf<typeof FORGE_FLAGS>

export const FLEET_FLAGS = new Command().addOption(
  new Option(
    '--contexts <names>',
    'several contexts of the kubeconfig in one turn: prod-eu,prod-us',
  )
    .argParser(list)
    .conflicts(['context', 'cluster', 'live', 'auditLog']),
)
export type FleetOptions = ValuesOf<typeof FLEET_FLAGS>

/** Milliseconds; a Node timer holds at most 24 days. */
const LONGEST_INTERVAL = 86_400_000

export const WATCH_FLAGS = new Command()
  .option('-w, --watch', 'repeat and print changes until interrupted')
  .option(
    '--interval <duration>',
    'interval of --watch, for example 10s (default: 5s)',
    parseInterval,
  )
export type WatchOptions = ValuesOf<typeof WATCH_FLAGS>

export function parseInterval(text: string): number {
  const milliseconds = parseDuration(text)
  if (milliseconds > LONGEST_INTERVAL)
    throw new InvalidArgumentError('wanted a duration from 1s to 24h')
  return milliseconds
}

export const EXIT_FLAGS = new Command()
  .option(
    '--partial <ok>',
    '"ok": exit 0 or 1 even if some objects could not be observed',
    parsePartial,
  )
  .option('--no-exit-code', 'exit 0 even if there is drift')
  .addOption(
    new Option('--exit-code <boolean>', '"false": exit 0 even if there is drift')
      .argParser(parseOnOff)
      .hideHelp(),
  )
export type ExitOptions = ValuesOf<typeof EXIT_FLAGS>

/** In addition to built-in functions. A repository cannot allow functions. */
export function getAllowedFunctions(
  {
    allowExec,
    allowModule,
    allowImage,
    allowRender,
    containerEngine,
  }: FunctionOptions & Pick<ClusterOptions, 'allowRender'>,
  { [RENDER_VARIABLE]: renders = '' }: CliContext['env'],
): AllowedFunctions {
  const always = renders
    .split(',')
    .flatMap((program) => (program.trim() === '' ? [] : [program.trim()]))
  const render = [...new Set([...(allowRender ?? []), ...always])]
  return {
    exec: allowExec ?? [],
    modules: allowModule ?? [],
    images: allowImage ?? [],
    render,
    engine: containerEngine,
  }
}

const RENDER_VARIABLE = 'BACKPORCH_ALLOW_RENDER'

export function createClusterTarget(options: ClusterOptions): ClusterTarget {
  if (
    options.live !== undefined &&
    (options.context !== undefined || options.kubeconfig !== undefined)
  ) {
    throw new Failure({
      code: 'BP1001',
      what: '--live and --context or --kubeconfig are both set',
      why: 'the objects come from a recording or from an API server, not from both',
      remedy: 'remove one of them',
    })
  }
  return {
    context: options.context,
    kubeconfig: options.kubeconfig,
    cluster: options.cluster,
    namespace: options.namespace,
    live: options.live,
    execAllow: options.kubeconfigExecAllow ?? [],
    timeout: options.timeout,
    insecureSkipTlsVerify: options.insecureSkipTlsVerify === true,
  }
}

function parseDuration(text: string): number {
  if (!DURATION.test(text))
    throw new InvalidArgumentError('wanted a duration like 30s, 5m or 1h30m')
  return convertDurationToSeconds(text) * 1000
}

export function parseDurationSeconds(text: string): number {
  return parseDuration(text) / 1000
}

function list(text: string): string[] {
  return text.split(',').filter((name) => name !== '')
}

export function collect(text: string, before: string[] | undefined): string[] {
  return [...(before ?? []), text]
}

/** A relative path has no base folder. */
function collectPrograms(text: string, before: string[] | undefined): string[] {
  const [program] = splitWords(text.trim()) ?? []
  if (program === undefined)
    throw new InvalidArgumentError(
      'it names no program\nwrite it as in the Kptfile, and close every quote',
    )
  if (program.includes('/') && !program.startsWith('/')) {
    const name = program.replace(/^.*\//, '') || 'NAME'
    throw new InvalidArgumentError(
      `its path is relative, and there is no base folder for it\nname the program without a path in the Kptfile (exec: ${name}), and allow it by its absolute path: --allow-exec=/…/${name}`,
    )
  }
  return collect(text, before)
}

function collectModules(path: string, before: string[] | undefined): string[] {
  if (path.startsWith('/') && /\.[cm]?[jt]s$/.test(path)) return collect(path, before)
  throw new InvalidArgumentError(
    'wanted the absolute path of a JavaScript or TypeScript file: --allow-module=/…/NAME.mjs',
  )
}

function parsePartial(text: string): 'ok' {
  if (text !== 'ok') throw new InvalidArgumentError('wanted "ok"')
  return text
}

function parseOnOff(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('wanted true or false')
  return text === 'true'
}

/**
 * One rewritten line on a terminal, one line per ten seconds elsewhere. Verbose: every step with
 * its time.
 */
export class Progress {
  private readonly cli: Pick<CliContext, 'clock' | 'stderr'>
  private readonly mode: 'none' | 'line' | 'every step'
  private readonly started: number
  private last = 0
  private shown = false

  constructor(
    cli: Pick<CliContext, 'clock' | 'stderr'>,
    options: Pick<OutputOptions, 'quiet' | 'verbose' | 'output'>,
  ) {
    this.cli = cli
    this.mode =
      options.verbose === true
        ? 'every step'
        : options.quiet === true || !isRows(options.output)
          ? 'none'
          : 'line'
    this.started = cli.clock.now().getTime()
  }

  readonly step = (text: string): void => {
    if (this.mode === 'none') return
    const now = this.cli.clock.now().getTime()
    const { stderr } = this.cli
    if (this.mode === 'every step') {
      stderr.write(`${String(now - this.started).padStart(6)} ms  since the start: ${text}\n`)
      return
    }
    // Avoids flicker on a quick run and a flooded log.
    if (
      stderr.isTTY === true
        ? now - this.started < 300
        : now - Math.max(this.last, this.started) < 10_000
    )
      return
    this.last = now
    if (stderr.isTTY === true) {
      stderr.write(`\r\u001b[K${text}…`)
      this.shown = true
    } else stderr.write(`${text}…\n`)
  }

  end(): void {
    if (this.shown) this.cli.stderr.write('\r\u001b[K')
    this.shown = false
  }
}
