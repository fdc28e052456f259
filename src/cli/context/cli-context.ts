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
  /** Undefined: the context's name. */
  readonly cluster: string | undefined
  /** Undefined: that of the context or recording. */
  readonly namespace?: string | undefined
  /** Undefined: ask the API server. */
  readonly live: string | undefined
  readonly execAllow: readonly string[]
  readonly insecureSkipTlsVerify: boolean
  /** Milliseconds per request. Undefined: the adapter's default. */
  readonly timeout: number | undefined
  readonly trace?: Trace | undefined
}

/** Files that may be lost at any time. */
interface VerdictFiles {
  read(cluster: string): Promise<Uint8Array | undefined>
  write(cluster: string, content: Uint8Array): Promise<void>
}

interface OpenedCluster {
  readonly reader: ClusterReader
  close(): void
}

export interface DiffFile {
  /** Without folders. */
  readonly name: string
  readonly git: string
  readonly live: string
}

interface WantedForge {
  readonly remote: string
  /** Undefined: detected from the address, or by a request. */
  readonly kind: ForgeKind | undefined
  readonly dryRun?: boolean
  readonly note: (text: string) => void
  readonly trace?: Trace | undefined
}

interface WantedLog {
  readonly format: LogFormat
  readonly level: LogLevel
  readonly stream: OutputStream
  readonly color: boolean
}

/** Port 0 takes a free port. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
}

export interface WantedWebhooks extends WebhookHooks {
  readonly address: ListenAddress
  /** At least one. */
  readonly secrets: readonly string[]
  /** Events of other repositories are ignored. Undefined if there may be several. */
  readonly remote: string | undefined
  readonly remotes: () => readonly string[]
}

interface WantedMonitoring extends MonitoringHooks {
  readonly address: ListenAddress
}

export interface WantedAuditHook extends Pick<WebhookHooks, 'onRefused'> {
  readonly address: ListenAddress
  /** Undefined: everyone who reaches the address may send. */
  readonly token: string | undefined
  /** Each delivery names its cluster in the address. */
  readonly named: boolean
}

/** In addition to built-in functions. */
export interface AllowedFunctions {
  /** By `exec` text in a Kptfile, or by absolute path. */
  readonly exec: readonly string[]
  /** By absolute path. */
  readonly modules: readonly string[]
  /** Images: a reference, or a prefix that ends with `/`. */
  readonly images: readonly string[]
  /** As a policy names them: `kubectl` for kustomize. */
  readonly render?: readonly string[]
  readonly engine: 'docker' | 'podman' | undefined
}

interface WantedRepository {
  /** Undefined if nothing is pushed to it. */
  readonly baseBranch?: BaseBranch | undefined
  /** A local clone is read as checked out, with its remote branches. */
  readonly readOnly?: boolean | undefined
  readonly trace?: Trace | undefined
  /** Called if no cache can be kept. */
  readonly note?: ((note: Note) => void) | undefined
}

export interface ProcessContext {
  readonly cwd: string
  readonly env: { readonly [name: string]: string | undefined }
  readonly clock: Clock
  readonly stdout: OutputStream
  readonly stderr: OutputStream
}

interface CommandContext extends ProcessContext {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly signal: AbortSignal
  readonly version: string
}

interface RepositoryContext {
  openRepository(remote: string, wanted?: WantedRepository): Promise<PackageRepository>
  /**
   * `none`: bare, or not a repository. `clone`: a work tree with a remote `origin`; `alone`: one
   * without.
   */
  cloneState(path: string): Promise<'none' | 'alone' | 'clone'>
  workTree(path: string): Promise<'none' | 'clean' | 'dirty'>
  /** For the audit trail: `Ada <ada@example.com>`, or the login name. */
  userName(): Promise<string>
  /** From the clone at `path` alone. Never throws; empty without a clone. */
  localNames(kind: 'packages' | 'clusters', path: string): Promise<readonly string[]>
}

interface FilesContext {
  /** @throws Failure BP1001 */
  readConfig(path: string): Promise<string>
  /** @throws Failure BP1001 when it cannot be read, or holds none */
  readPolicyFiles(path: string): readonly PolicyFile[]
  /** @throws Failure BP1001 */
  openAuditLog(path: string): Promise<AuditSource>
  /** @throws Failure BP1001 when the path exists */
  checkNewFolder(path: string): void
  /** @throws Failure BP1001 when the path exists, BP4008 when it cannot be written */
  writeNewFolder(path: string, files: ReadonlyMap<string, string>): void
  /** @throws the error of the file system */
  appendText(path: string, text: string): void
  /** @throws Failure BP1001 when it cannot be started */
  externalDiff(program: readonly [string, ...string[]], files: readonly DiffFile[]): void
}

interface ClusterContext {
  /** @throws Failure BP1006 or BP1010 */
  openCluster(target: ClusterTarget): Promise<OpenedCluster>
  /** Knows only built-in kinds; for builds without a readable cluster. */
  offlineCluster(name: string): Promise<ClusterReader>
  openWriter(target: ClusterTarget): Promise<OpenedWriter>
}

interface FollowContext {
  /**
   * Own connection. Undefined for a recording.
   * @throws Failure BP1006 or BP1010
   */
  openWatch(target: ClusterTarget, observer: WatchObserver): Promise<ClusterWatch | undefined>
  /**
   * Own connection.
   * @throws Failure BP1006 or BP1010
   */
  openDriftEvents(target: ClusterTarget): Promise<OpenedDriftEvents>
  verdictFiles(remote: string): VerdictFiles
  /** Of the previous controller. Undefined if no file is kept. */
  packageMarks(remote: string): PackageMarks | undefined
}

interface ForgeContext {
  /** @throws Failure BP1001 or BP5002 for a named forge that cannot be used */
  openForge(repository: PackageRepository, wanted: WantedForge): Promise<Forge>
  /** Uses no credential. */
  forgeSetup(remote: string, kind: ForgeKind | undefined): Promise<ForgeSetup>
  readonly bot: BotIdentity
}

interface RenderContext {
  /** @throws Failure BP1001 when the named container engine is not installed */
  openRenderer(allowed: AllowedFunctions): Promise<PackageRenderer>
  /** `created`: other machines have other keys. */
  loadKey(): Promise<{
    readonly key: RedactionKey
    readonly created: boolean
    readonly path: string
  }>
}

export interface ServerContext {
  /** @throws Failure BP1001 */
  openWebhooks(wanted: WantedWebhooks): Promise<Listener>
  /** @throws Failure BP1001 */
  openMonitoring(wanted: WantedMonitoring): Promise<Listener & { readonly metrics: Metrics }>
  /** @throws Failure BP1001 */
  openAuditHook(wanted: WantedAuditHook): Promise<Listener & { readonly source: AuditSource }>
  /**
   * Undefined unless the environment names a collector. @param onNote called when traces are not
   * sent
   */
  openTraces(onNote: (note: Note) => void): Promise<TurnTraces | undefined>
  openLog(wanted: WantedLog): Promise<Log>
  /** SIGHUP then no longer ends the process. @returns a function that undoes this */
  onHangup(listener: () => void): () => void
}

export interface LedgerContext extends CommandContext, RepositoryContext, FilesContext {}

export interface TurnContext extends LedgerContext, ClusterContext, ForgeContext, RenderContext {}

export interface ControllerContext extends TurnContext, FollowContext, ServerContext {}

export interface CliContext extends ControllerContext {
  probes(): Promise<Probes>
  /** For a command that runs commands (`demo`). */
  at(location: ProcessContext): CliContext
}

export type Run = (work: () => Promise<number>) => Promise<void>

export type RunCommand = (argv: readonly string[], cli: CliContext) => Promise<number>
