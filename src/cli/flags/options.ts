/** Flags that commands share, read once and checked. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { Failure } from '../../failure.ts'
import { secondsOf } from '../../policy/duration.ts'
import { FORGE_KINDS, type ForgeKind } from '../../ports/forge-setup.ts'
import { splitWords } from '../../render/runtimes/split-words.ts'
import type { AllowedFunctions, ClusterTarget, World } from '../world.ts'
import { isTable, LIST_OUTPUTS, type Output, outputOption } from './outputs.ts'

/** Rows, one by one, and not a document that is right only as a whole. */
export function isRows(output: Output): boolean {
  return isTable(output) || output === 'name'
}

export interface CommonOptions {
  readonly repo: string
  readonly branch?: string
  /** Folders without a Kptfile. */
  readonly path?: string[]
  readonly forge?: ForgeKind
  readonly context?: string
  readonly kubeconfig?: string
  /** Several contexts, looked at in one turn. */
  readonly contexts?: string[]
  readonly cluster?: string
  readonly live?: string
  readonly kubeconfigExecAllow?: string[]
  readonly insecureSkipTlsVerify?: boolean
  readonly allowExec?: string[]
  readonly allowModule?: string[]
  readonly allowImage?: string[]
  readonly allowRender?: string[]
  readonly containerEngine?: 'docker' | 'podman'
  readonly fieldManager?: string
  /** File or folder with the policies and placements of whoever runs this. */
  readonly operatorPolicy?: string
  /** Path of the API server's audit log. */
  readonly auditLog?: string
  readonly output: Output
  readonly headers: boolean
  readonly columns?: string[]
  readonly color: 'auto' | 'always' | 'never'
  readonly ascii?: boolean
  readonly quiet?: boolean
  readonly verbose?: boolean
  readonly debug?: boolean
  readonly timeout?: number
  readonly partial?: string
  readonly exitCode?: boolean
  /** Nothing is written; not every command has it. */
  readonly dryRun?: boolean
}

export function withOutputFlags(command: Command, outputs: Parameters<typeof outputOption>[0] = LIST_OUTPUTS): Command {
  command.addOption(outputOption(outputs))
  if (outputs.includes('wide')) {
    command
      .option('--no-headers', 'do not print the column names')
      .option('--columns <names>', 'columns to print, as in package,state', list)
  }
  return withTerminalFlags(command)
}

export function withTerminalFlags(command: Command): Command {
  return command
    .addOption(new Option('--color <when>', 'colour').choices(['auto', 'always', 'never']).default('auto'))
    .option('--ascii', 'print words instead of symbols')
    .option('-q, --quiet', 'do not print progress and hints')
    .addOption(new Option('-v, --verbose', 'print each request to the cluster and to git with its duration on stderr').conflicts('quiet'))
    .option('--debug', 'print stack traces with errors')
}

export function withRepositoryFlags(command: Command): Command {
  return command
    .option('--repo <path|url>', 'repository with the packages: a path, or an https or ssh address', '.')
    .option('--branch <name>', 'base branch (default: the default branch of the repository)')
    .option('--path <folder>', 'also compare a folder without a Kptfile: manifests, or a kustomization (repeatable)', collect)
}

/** What runs functions of pipelines. */
export function withFunctionFlags(command: Command): Command {
  return command
    .option('--allow-exec <program>', 'allow pipelines to run this program, as named in the Kptfile (repeatable)', programs)
    .option('--allow-module <path>', 'a JavaScript or TypeScript module that pipelines may run in this process (repeatable)', modules)
    .option(
      '--allow-image <image>',
      'allow pipelines to run this image, or all images with a prefix that ends with / (repeatable)',
      collect,
    )
    .addOption(new Option('--container-engine <name>', 'container engine that runs images').choices(['docker', 'podman']))
}

export function withClusterFlags(command: Command): Command {
  return withFunctionFlags(command)
    .option('--allow-render <program>', 'allow policies to render packages with this program: kubectl for kustomize (repeatable)', collect)
    .option('--context <name>', 'context of the kubeconfig (default: the current context)')
    .option('--kubeconfig <path>', 'kubeconfig file (default: as kubectl)')
    .option('--cluster <name>', 'name of the cluster in records (default: the name of the context)')
    .option('--live <path>', 'a recorded cluster: a file or folder of live objects, instead of an API server')
    .option('--field-manager <name>', 'field manager of the syncer (default: detected from the objects)')
    .option('--operator-policy <path>', 'file or folder of policies and placements that repositories cannot override')
    .option('--kubeconfig-exec-allow <path>', 'allow the kubeconfig to run this credential plugin (absolute path, repeatable)', collect)
    .option('--insecure-skip-tls-verify', 'honour insecure-skip-tls-verify of the kubeconfig')
    .addOption(new Option('--timeout <duration>', 'timeout of one request to the cluster, for example 30s').argParser(duration))
}

export function withAuditFlag(command: Command): Command {
  return command.option('--audit-log <path>', 'audit log of the API server, to name users; rotated files beside it are read too')
}

export function withForgeFlag(command: Command): Command {
  const flag = new Option('--forge <name>', 'forge for reviews (default: detected from the address of the repository)')
  return command.addOption(flag.choices(FORGE_KINDS))
}

export function withFleetFlag(command: Command): Command {
  const flag = new Option('--contexts <names>', 'several contexts of the kubeconfig in one turn: prod-eu,prod-us')
  return command.addOption(flag.argParser(list).conflicts(['context', 'cluster', 'live', 'auditLog']))
}

/** Longest `--interval`, in milliseconds: a timer of Node holds no more than 24 days. */
const LONGEST_INTERVAL = 86_400_000

export function withWatchFlags(command: Command): Command {
  return command
    .option('-w, --watch', 'repeat and print changes until interrupted')
    .addOption(new Option('--interval <duration>', 'interval of --watch, for example 10s (default: 5s)').argParser(interval))
}

/** A duration that one timer can wait; milliseconds. */
export function interval(text: string): number {
  const milliseconds = duration(text)
  if (milliseconds > LONGEST_INTERVAL) throw new InvalidArgumentError('wanted a duration from 1s to 24h')
  return milliseconds
}

export function withExitFlags(command: Command): Command {
  return command
    .option('--partial <ok>', '"ok": exit 0 or 1 even if some objects could not be observed', partial)
    .option('--no-exit-code', 'exit 0 even if there is drift')
    .addOption(new Option('--exit-code <boolean>', '"false": exit 0 even if there is drift').argParser(onOff).hideHelp())
}

type FunctionOptions = Pick<CommonOptions, 'allowExec' | 'allowModule' | 'allowImage' | 'allowRender' | 'containerEngine'>

/** What pipelines may run beside the functions that are built in. */
export function allowedFunctions({ allowExec, allowModule, allowImage, allowRender, containerEngine }: FunctionOptions): AllowedFunctions {
  return { exec: allowExec ?? [], modules: allowModule ?? [], images: allowImage ?? [], render: allowRender ?? [], engine: containerEngine }
}

export function clusterTarget(options: CommonOptions): ClusterTarget {
  if (options.live !== undefined && (options.context !== undefined || options.kubeconfig !== undefined)) {
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
    live: options.live,
    execAllow: options.kubeconfigExecAllow ?? [],
    timeout: options.timeout,
    insecureSkipTlsVerify: options.insecureSkipTlsVerify === true,
  }
}

/** `42s`, `5m`, `2h` as milliseconds. */
function duration(text: string): number {
  if (/^[1-9][0-9]{0,4}s$/.test(text)) return Number(text.slice(0, -1)) * 1000
  if (!/^[1-9][0-9]{0,4}[mhd]$/.test(text)) throw new InvalidArgumentError('wanted a duration like 30s, 5m or 2h')
  return secondsOf(text) * 1000
}

export function durationSeconds(text: string): number {
  return duration(text) / 1000
}

function list(text: string): string[] {
  return text.split(',').filter((name) => name !== '')
}

export function collect(text: string, before: string[] | undefined): string[] {
  return [...(before ?? []), text]
}

/** Nothing here is where a relative path could start from. */
function programs(text: string, before: string[] | undefined): string[] {
  const [program] = splitWords(text.trim()) ?? []
  if (program === undefined) throw new InvalidArgumentError('it names no program\nwrite it as the Kptfile has it, and close every quote')
  if (program.includes('/') && !program.startsWith('/')) {
    const name = program.replace(/^.*\//, '') || 'NAME'
    throw new InvalidArgumentError(
      `its path is relative, and there is no folder that it could start from\nname the program without a path in the Kptfile (exec: ${name}), and allow it by its absolute path: --allow-exec=/…/${name}`,
    )
  }
  return collect(text, before)
}

function modules(path: string, before: string[] | undefined): string[] {
  if (path.startsWith('/') && /\.[cm]?[jt]s$/.test(path)) return collect(path, before)
  throw new InvalidArgumentError('wanted the absolute path of a JavaScript or TypeScript file: --allow-module=/…/NAME.mjs')
}

function partial(text: string): string {
  if (text !== 'ok') throw new InvalidArgumentError('wanted "ok"')
  return text
}

function onOff(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('wanted true or false')
  return text === 'true'
}

/**
 * Progress on stderr: one line that is rewritten on a terminal, one line per ten seconds elsewhere, none when quiet; every step with
 * its time when verbose.
 */
export class Progress {
  private readonly world: World
  private readonly mode: 'none' | 'line' | 'every step'
  private readonly started: number
  private last = 0
  private shown = false

  constructor(world: World, options: Pick<CommonOptions, 'quiet' | 'verbose' | 'output'>) {
    this.world = world
    this.mode = options.verbose === true ? 'every step' : options.quiet === true || !isRows(options.output) ? 'none' : 'line'
    this.started = world.clock.now().getTime()
  }

  readonly step = (text: string): void => {
    if (this.mode === 'none') return
    const now = this.world.clock.now().getTime()
    const { stderr } = this.world
    if (this.mode === 'every step') {
      stderr.write(`${String(now - this.started).padStart(6)} ms  since the start: ${text}\n`)
      return
    }
    // Nothing flashes by on a quick run, and a log is not flooded.
    if (stderr.isTTY === true ? now - this.started < 300 : now - Math.max(this.last, this.started) < 10_000) return
    this.last = now
    if (stderr.isTTY === true) {
      stderr.write(`\r\u001b[K${text}…`)
      this.shown = true
    } else stderr.write(`${text}…\n`)
  }

  end(): void {
    if (this.shown) this.world.stderr.write('\r\u001b[K')
    this.shown = false
  }
}
