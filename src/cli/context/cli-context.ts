/** Everything outside of the process that a command uses, so that a test can replace it. */
import type { Readable } from 'node:stream'
import type { AuditSource } from '@backporch/cluster/audit'
import type { ClusterReader, OpenedWriter } from '@backporch/cluster/cluster'
import type { ClusterWatch, WatchObserver } from '@backporch/cluster/cluster-watch'
import type { OpenedDriftEvents } from '@backporch/cluster/drift-events'
import type { ForgeKind, ForgeSetup } from '@backporch/forge/forge-setup'
import type { Forge } from '@backporch/forge/hosted-forge'
import type { BaseBranch, PackageRepository } from '@backporch/git-store/package-repository'
import type { Note } from '@backporch/kyaml/note'
import type { RedactionKey } from '@backporch/kyaml/redaction'
import type { Clock } from '@backporch/system/clock'
import type { Trace } from '@backporch/system/trace'
import type { Listener, MonitoringHooks, WebhookHooks } from '../../controller/run-controller.ts'
import type { PolicyFile } from '../../policy/parse-policy.ts'
import type { Log, LogFormat, LogLevel } from '../../ports/log.ts'
import type { Metrics } from '../../ports/metrics.ts'
import type { PackageMarks } from '../../ports/package-marks.ts'
import type { Probes } from '../../ports/probes.ts'
import type { TurnTraces } from '../../ports/turn-traces.ts'
import type { BotIdentity } from '../../reconcile/repository/bot-identity.ts'
import type { PackageRenderer } from '../../sources/kpt/render/package-renderer.ts'
import type { OutputStream } from './terminal.ts'

export interface ClusterTarget {
  readonly context: string | undefined
  readonly kubeconfig: string | undefined
  /** Name for the cluster; undefined takes the context's. */
  readonly cluster: string | undefined
  /** Of manifests that have none; undefined takes that of the context, or of the recording. */
  readonly namespace?: string | undefined
  /** Path of a recorded cluster; undefined asks the API server. */
  readonly live: string | undefined
  readonly execAllow: readonly string[]
  readonly insecureSkipTlsVerify: boolean
  /** Milliseconds for one request; undefined takes the adapter's default. */
  readonly timeout: number | undefined
  /** Called after each request. */
  readonly trace?: Trace | undefined
}

/** Files that may be lost at any time. */
interface VerdictFiles {
  /** Undefined without a file. */
  read(cluster: string): Promise<Uint8Array | undefined>
  write(cluster: string, content: Uint8Array): Promise<void>
}

interface OpenedCluster {
  readonly reader: ClusterReader
  close(): void
}

/** One object on both sides, empty on the side that does not have it. */
export interface DiffFile {
  /** Without folders. */
  readonly name: string
  readonly git: string
  readonly live: string
}

interface WantedForge {
  /** Address of the repository as it was given. */
  readonly remote: string
  /** From `--forge`; undefined: detected from the address, or by a request. */
  readonly kind: ForgeKind | undefined
  /** Whether requests that write are held back. */
  readonly dryRun?: boolean
  /** Called with a sentence that a person should read. */
  readonly note: (text: string) => void
  readonly trace?: Trace | undefined
}

interface WantedLog {
  readonly format: LogFormat
  readonly level: LogLevel
  readonly stream: OutputStream
  /** Whether text is coloured. */
  readonly color: boolean
}

/** Where a server listens; port 0 takes a free one. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
}

export interface WantedWebhooks extends WebhookHooks {
  readonly address: ListenAddress
  /** At least one; each is accepted. */
  readonly secrets: readonly string[]
  /** Address of the repository as it was given: events of other repositories are ignored. Undefined where there may be several. */
  readonly remote: string | undefined
  /** Addresses of all repositories now, as they were given. */
  readonly remotes: () => readonly string[]
}

interface WantedMonitoring extends MonitoringHooks {
  readonly address: ListenAddress
}

export interface WantedAuditHook extends Pick<WebhookHooks, 'onRefused'> {
  readonly address: ListenAddress
  /** Undefined: everyone who reaches the address may send. */
  readonly token: string | undefined
  /** Several clusters are observed: each delivery names its own in the address. */
  readonly named: boolean
}

/** What the operator lets pipelines run beside the functions that are built in. */
export interface AllowedFunctions {
  /** Programs by their `exec` text in a Kptfile, or by absolute path. */
  readonly exec: readonly string[]
  /** JavaScript or TypeScript modules by absolute path. */
  readonly modules: readonly string[]
  /** Images: a reference, or a prefix that ends with `/`. */
  readonly images: readonly string[]
  /** Programs that render packages, as a policy names them: `kubectl` for kustomize. */
  readonly render?: readonly string[]
  /** Undefined: the first of docker and podman that is there. */
  readonly engine: 'docker' | 'podman' | undefined
}

interface WantedRepository {
  /** That may be moved; undefined where nothing is pushed to it. */
  readonly baseBranch?: BaseBranch | undefined
  /** Nothing is pushed, so a clone on this machine is read as it is checked out, with the branches of its remotes. */
  readonly readOnly?: boolean | undefined
  readonly trace?: Trace | undefined
  /** Told where no cache can be kept; on stderr unless given. */
  readonly note?: ((note: Note) => void) | undefined
}

export interface ProcessContext {
  readonly cwd: string
  readonly env: { readonly [name: string]: string | undefined }
  readonly clock: Clock
  readonly stdout: OutputStream
  readonly stderr: OutputStream
}

/** What every command has beside its process. */
interface CommandContext extends ProcessContext {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  /** Aborted when the user interrupts. */
  readonly signal: AbortSignal
  readonly version: string
}

/** Repositories, and the clone in which a person stands. */
interface RepositoryContext {
  openRepository(remote: string, wanted?: WantedRepository): Promise<PackageRepository>
  /** `none`: bare, or no repository at all. `clone`: a work tree with a remote `origin`; `alone`: one without. */
  cloneState(path: string): Promise<'none' | 'alone' | 'clone'>
  workTree(path: string): Promise<'none' | 'clean' | 'dirty'>
  /** The user, for the audit trail: `Ada <ada@example.com>`, or the login name. */
  userName(): Promise<string>
  /** Names for completion, from the clone at `path` alone. Sends no request and never throws; empty without a clone. */
  localNames(kind: 'packages' | 'clusters', path: string): Promise<readonly string[]>
}

/** Files that are named on the command line, and programs that show files. */
interface FilesContext {
  /** The text of the configuration of the controller. @throws Failure BP1001 when it cannot be read */
  readConfig(path: string): Promise<string>
  /** The YAML files of a folder, or the one file. @throws Failure BP1001 when it cannot be read, or holds none */
  readPolicyFiles(path: string): readonly PolicyFile[]
  /** @throws Failure BP1001 when the file cannot be read */
  openAuditLog(path: string): Promise<AuditSource>
  /** @throws Failure BP1001 when the path exists */
  checkNewFolder(path: string): void
  /**
   * Writes a folder with these files, or nothing.
   * @throws Failure BP1001 when the path exists, BP4008 when it cannot be written
   */
  writeNewFolder(path: string, files: ReadonlyMap<string, string>): void
  /** Appends to a text file, or creates it. @throws the error of the file system */
  appendText(path: string, text: string): void
  /**
   * Writes the texts into two folders, runs the program with the folders as its last arguments, and removes them.
   * @throws Failure BP1001 when it cannot be started
   */
  externalDiff(program: readonly [string, ...string[]], files: readonly DiffFile[]): void
}

/** Clusters that are read, and asked what they would make of an object. */
interface ClusterContext {
  /** @throws Failure BP1006 or BP1010 */
  openCluster(target: ClusterTarget): Promise<OpenedCluster>
  /** A cluster without any object: what is known of built-in kinds, for what is built where no cluster can be read. */
  offlineCluster(name: string): Promise<ClusterReader>
  openWriter(target: ClusterTarget): Promise<OpenedWriter>
}

/** What a controller follows, and keeps between two processes. */
interface FollowContext {
  /** Over a connection of its own. Undefined for a recording, which does not change. @throws Failure BP1006 or BP1010 */
  openWatch(target: ClusterTarget, observer: WatchObserver): Promise<ClusterWatch | undefined>
  /** Over a connection of its own. @throws Failure BP1006 or BP1010 */
  openDriftEvents(target: ClusterTarget): Promise<OpenedDriftEvents>
  /** Verdicts on the objects of a cluster, between two processes. */
  verdictFiles(remote: string): VerdictFiles
  /** What the controller before was at when it ended; undefined where no file is kept. */
  packageMarks(remote: string): PackageMarks | undefined
}

/** The forge, and who commits. */
interface ForgeContext {
  /** @throws Failure BP1001 or BP5002 for a forge that was named and cannot be used */
  openForge(repository: PackageRepository, wanted: WantedForge): Promise<Forge>
  /** What an account needs on the forge of the repository. No credential is used. */
  forgeSetup(remote: string, kind: ForgeKind | undefined): Promise<ForgeSetup>
  readonly bot: BotIdentity
}

/** Renderers, and the key under which values are compared. */
interface RenderContext {
  /** @throws Failure BP1001 when the named container engine is not installed */
  openRenderer(allowed: AllowedFunctions): Promise<PackageRenderer>
  /** `created`: the key is new, so other machines have other keys. */
  loadKey(): Promise<{
    readonly key: RedactionKey
    readonly created: boolean
    readonly path: string
  }>
}

/** What a controller listens on, and reports to. */
export interface ServerContext {
  /** @throws Failure BP1001 when the address cannot be listened on */
  openWebhooks(wanted: WantedWebhooks): Promise<Listener>
  /** Serves /metrics, /healthz and /readyz. @throws Failure BP1001 when the address cannot be listened on */
  openMonitoring(wanted: WantedMonitoring): Promise<Listener & { readonly metrics: Metrics }>
  /** @throws Failure BP1001 when the address cannot be listened on */
  openAuditHook(wanted: WantedAuditHook): Promise<Listener & { readonly source: AuditSource }>
  /** Undefined unless the environment names a collector. @param onNote called when traces are not sent */
  openTraces(onNote: (note: Note) => void): Promise<TurnTraces | undefined>
  openLog(wanted: WantedLog): Promise<Log>
  /** From now on SIGHUP calls the listener and ends nothing. @returns what ends that */
  onHangup(listener: () => void): () => void
}

/** For a command that reads the ledger. */
export interface LedgerContext extends CommandContext, RepositoryContext, FilesContext {}

/** For a command that compares. */
export interface TurnContext extends LedgerContext, ClusterContext, ForgeContext, RenderContext {}

export interface ControllerContext extends TurnContext, FollowContext, ServerContext {}

/** All of them, as the process gives them: for what runs any command. */
export interface CliContext extends ControllerContext {
  /** The probes of `check`. */
  probes(): Promise<Probes>
  /** A context in another folder, for a command that runs commands (`demo`); it uses nothing of this one. */
  at(location: ProcessContext): CliContext
}

/** Runs the work of a command, which returns the exit code. */
export type Run = (work: () => Promise<number>) => Promise<void>

/** Runs one command line; `runCli`. */
export type RunCommand = (argv: readonly string[], cli: CliContext) => Promise<number>
