import type { ClusterReader, OpenedWriter } from '@backporch/cluster/cluster'
import type { RequestedActionSource } from '@backporch/forge/check-run'
import { GIT_ALONE } from '@backporch/forge/forge-setup'
import { DEFAULT_BRANCH, type RepositoryRefs } from '@backporch/git-store/package-repository'
import { convertToFailure, Failure } from '@backporch/kyaml/failure'
import type { RedactionKey } from '@backporch/kyaml/redaction'
import { isSelector } from '../../plan/unit/commands/select-changes.ts'
import type { UnitResult } from '../../plan/unit/unit-result.ts'
import { type PolicySet, parsePolicyFiles } from '../../policy/parse-policy.ts'
import { TurnCache } from '../../reconcile/observe/turn-cache.ts'
import type { TurnPorts, TurnRequest } from '../../reconcile/observe/turn-request.ts'
import { createHeadNotes } from '../../reconcile/repository/base-branch.ts'
import { isHosted } from '../../reconcile/repository/is-hosted.ts'
import { createSignedRepository } from '../../reconcile/turn/apply/signed-repository.ts'
import { NO_REQUESTED_ACTIONS } from '../../reconcile/turn/requests/observe-requests.ts'
import { runFleetTurn, type TurnResult } from '../../reconcile/turn/run-turn.ts'
import type { CliContext, ClusterTarget, TurnContext } from '../context/cli-context.ts'
import type { ConfiguredCluster } from '../context/controller-config.ts'
import type { DryRunOption } from '../flags/command-flags.ts'
import {
  type AuditOptions,
  type ClusterOptions,
  createClusterTarget,
  type FleetOptions,
  type ForgeOptions,
  type FunctionOptions,
  getAllowedFunctions,
  type Optional,
  type OutputOptions,
  Progress,
  type RepositoryOptions,
} from '../flags/options.ts'
import { listNamedPackages, type PackageOptions } from '../flags/selection-flags.ts'
import { printNotes } from '../print/print-notes.ts'
import { Printer } from '../print/printer.ts'

interface SessionCluster {
  readonly reader: ClusterReader
  readonly target: ClusterTarget
}

export type PlannedUnit = Extract<UnitResult, { readonly state: 'planned' }>

export interface Session {
  readonly ports: TurnPorts
  readonly clusters: readonly SessionCluster[]
  readonly request: TurnRequest
  readonly key: RedactionKey
  readonly progress: Progress
  readonly printer: Printer
  /** For the writes that merged commits authorise. @param cluster the name of its reader */
  readonly openWriter: (cluster: string) => Promise<OpenedWriter>
  /** Only webhooks report these. */
  readonly requestedActions?: RequestedActionSource
}

export type SessionOptions = RepositoryOptions &
  FunctionOptions &
  ClusterOptions &
  OutputOptions &
  Optional<ForgeOptions & PackageOptions & AuditOptions & FleetOptions & DryRunOption>

interface SessionScope {
  readonly packages: readonly string[]
  /** No request goes to a forge. */
  readonly gitAlone?: boolean
  readonly readOnly?: boolean
  readonly clusters?: readonly ConfiguredCluster[] | undefined
  /** A cluster that cannot be opened is unreadable, even if it is the only one. */
  readonly clusterOptional?: boolean
}

export async function runWithSession(
  cli: TurnContext,
  options: SessionOptions,
  scope: SessionScope,
  work: (session: Session) => Promise<number>,
): Promise<number> {
  const session = await openSession(cli, options, scope)
  try {
    return await work(session)
  } finally {
    session.close()
  }
}

export async function openSession(
  cli: TurnContext,
  options: SessionOptions,
  { packages, gitAlone = false, readOnly = false, clusters, clusterOptional = false }: SessionScope,
): Promise<Session & { close(): void }> {
  const progress = new Progress(cli, options)
  const printer = new Printer(cli, options)
  const { trace } = printer
  const target = { ...createClusterTarget(options), trace }
  // The repository comes first: without it the cluster is not needed.
  const repository = await cli.openRepository(options.repo, {
    baseBranch: options.branch ?? DEFAULT_BRANCH,
    readOnly,
    trace,
    note: (note) => printNotes([note], printer),
  })
  let first: RepositoryRefs | undefined = await repository.listRefs(cli.signal)
  printNotes(createHeadNotes(first, options.branch), printer)
  const opened = await openClusters(
    cli,
    target,
    clusters ?? parseNamedClusters(options.contexts),
    clusterOptional,
  )
  const [cluster] = opened
  if (cluster === undefined) throw new TypeError('a session has a cluster')
  const close = (): void => {
    progress.end()
    for (const one of opened) one.close()
  }
  try {
    const { key, created, path } = await cli.loadKey()
    if (created) printer.hint(describeNewKey(path))
    const takeRefs = (): RepositoryRefs | undefined => {
      const taken = first
      first = undefined
      return taken
    }
    const request: TurnRequest = {
      mode: 'apply',
      units: {
        packages: [...listNamedPackages(packages, options), ...(options.path ?? [])],
        folders: options.path ?? [],
        labels: options.selector,
      },
      git: { branch: options.branch, takeRefs, bot: cli.bot },
      cluster: {
        audit:
          options.auditLog === undefined ? undefined : await cli.openAuditLog(options.auditLog),
      },
      policy: {
        fieldManager: options.fieldManager,
        operator: readOperatorPolicy(options, cli),
      },
      forge: { version: cli.version },
      clock: cli.clock,
      key,
      renderer: await cli.openRenderer(getAllowedFunctions(options, cli.env)),
      between: new TurnCache(),
      onProgress: progress.step,
    }
    const forge = await cli.openForge(repository, {
      remote: options.repo,
      kind: gitAlone ? GIT_ALONE : options.forge,
      dryRun: options.dryRun === true,
      note: (text) => printNotes([{ cause: 'forge-notice', subject: '', text }], printer),
      trace,
    })
    const openWriter = (name: string) =>
      cli.openWriter((opened.find(({ reader }) => reader.name === name) ?? cluster).target)
    const account = isHosted(forge) ? await forge.commits?.getAccount(cli.signal) : undefined
    const bot = { ...cli.bot, ...(account === undefined ? {} : { account }) }
    const signing = createSignedRepository(
      repository,
      forge,
      options.branch ?? first?.defaultBranch ?? '',
      cli.signal,
    )
    const ports = { repository: signing, cluster: cluster.reader, forge }
    return {
      ports,
      clusters: opened,
      request: { ...request, git: { ...request.git, bot } },
      key,
      progress,
      printer,
      openWriter,
      close,
    }
  } catch (thrown) {
    close()
    throw thrown
  }
}

async function openClusters(
  cli: Pick<CliContext, 'openCluster'>,
  target: ClusterTarget,
  clusters: readonly ConfiguredCluster[] | undefined,
  isOptional: boolean,
): Promise<(SessionCluster & { readonly close: () => void })[]> {
  if (clusters === undefined) {
    try {
      return [{ ...(await cli.openCluster(target)), target }]
    } catch (thrown) {
      // An unreadable recording is a wrong path.
      if (!isOptional || target.live !== undefined) throw thrown
      const name = target.cluster ?? target.context ?? 'no cluster'
      return [
        {
          reader: createFailingCluster(name, convertToFailure(thrown)),
          close: () => undefined,
          target,
        },
      ]
    }
  }
  return Promise.all(
    clusters.map(async ({ name, context, kubeconfig = target.kubeconfig }) => {
      const own = { ...target, context, kubeconfig, cluster: name === context ? undefined : name }
      try {
        return { ...(await cli.openCluster(own)), target: own }
      } catch (thrown) {
        return {
          reader: createFailingCluster(name, convertToFailure(thrown)),
          close: () => undefined,
          target: own,
        }
      }
    }),
  )
}

function parseNamedClusters(
  contexts: readonly string[] | undefined,
): readonly ConfiguredCluster[] | undefined {
  if (contexts === undefined) return undefined
  return [...new Set(contexts)].map((context) => ({
    name: context,
    context,
    kubeconfig: undefined,
  }))
}

export function createFailingCluster(name: string, failure: Failure): ClusterReader {
  const fail = (): Promise<never> => Promise.reject(failure)
  return {
    name,
    identify: fail,
    findServedKind: fail,
    readLive: fail,
    list: fail,
    readInventories: fail,
    predict: fail,
  }
}

/** @throws Failure when nothing could be done; failures of one package are in the result */
export function runScan(
  session: Session,
  dryRun: boolean,
  signal: AbortSignal,
): Promise<TurnResult> {
  const { ports, clusters, request, openWriter, requestedActions = NO_REQUESTED_ACTIONS } = session
  const fleet = { ...ports, clusters: clusters.map(({ reader }) => reader), openWriter }
  const requested = {
    ...request,
    mode: dryRun ? 'rehearse' : 'apply',
    forge: { ...request.forge, requestedActions },
  } as const
  return runFleetTurn(fleet, requested, signal)
}

/** @throws Failure BP1011 for none or several; the failure of the unit */
export function getOnlyUnit(
  { units }: TurnResult,
  words: { readonly none: string; readonly why: string },
): PlannedUnit {
  const [unit, ...others] = units
  if (unit === undefined || others.length > 0) {
    throw new Failure({
      code: 'BP1011',
      what: unit === undefined ? words.none : `${units.length} packages are selected`,
      why: words.why,
      remedy: 'name one package',
    })
  }
  if (unit.state === 'failed') throw unit.failures[0]
  return unit
}

/** The first argument is optional in a repository with one package: `adopt 1,3`. */
export function splitArguments(name: string | undefined, selectors: readonly string[]) {
  const lead = name !== undefined && isSelector(name)
  return {
    packages: name === undefined || lead ? [] : [name],
    selectors: lead ? [name, ...selectors] : selectors,
  }
}

export function describeNewKey(path: string): string {
  return `created the installation key ${path}: scans on other machines need the same key (BACKPORCH_KEY) to recognise what was decided`
}

/** @throws Failure BP1001 where it cannot be read, BP1005 */
export function readOperatorPolicy(
  { operatorPolicy: path }: Pick<ClusterOptions, 'operatorPolicy'>,
  cli: Pick<CliContext, 'readPolicyFiles'>,
): PolicySet | undefined {
  return path === undefined ? undefined : parsePolicyFiles(cli.readPolicyFiles(path), 'operator')
}
