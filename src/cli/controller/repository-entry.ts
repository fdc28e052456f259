import type { ForgePullRequest } from '@backporch/forge/hosted-forge'
import { formatLoggableName } from '@backporch/kyaml/redaction'
import type { TurnsPorts } from '../../controller/controller-turns.ts'
import { CurrentReaders } from '../../controller/current-reader.ts'
import type { RepositoryEntry } from '../../controller/repository-set.ts'
import type { SharedWatches } from '../../controller/shared-watch.ts'
import type { IntakePorts } from '../../controller/turn-intake.ts'
import type { TurnSession } from '../../controller/turn-session.ts'
import type { Log } from '../../ports/log.ts'
import { OpenPreviews } from '../../reconcile/observe/preview/open-previews.ts'
import { preview } from '../../reconcile/observe/preview/preview.ts'
import { getPreviewHead } from '../../reconcile/observe/preview/preview-pull-request.ts'
import {
  decodeVerdicts,
  encodeVerdicts,
} from '../../reconcile/observe/verdicts/verdict-snapshot.ts'
import { isHosted } from '../../reconcile/repository/is-hosted.ts'
import { type Refusals, writeOpenHeads } from '../../reconcile/turn/apply/write-open-heads.ts'
import { pollRepository } from '../../reconcile/turn/poll-repository.ts'
import { assertObserved } from '../../reconcile/turn/run-turn.ts'
import type { Preview } from '../../record/documents/preview.ts'
import { listPreviewClusters, NOTHING_ALLOWED } from '../commands/preview.ts'
import type {
  CliContext,
  ClusterTarget,
  ControllerContext,
  TurnContext,
} from '../context/cli-context.ts'
import type { ConfiguredCluster } from '../context/controller-config.ts'
import { DriftAnnouncer } from '../context/drift-announcer.ts'
import type { CONTROLLER_FLAGS } from '../flags/command-flags.ts'
import type { ValuesOf } from '../flags/options.ts'
import {
  createFailingCluster,
  describeNewKey,
  openSession,
  runScan,
  type Session,
  type SessionOptions,
} from '../session/turn-session.ts'

export type ControllerOptions = Required<SessionOptions> & ValuesOf<typeof CONTROLLER_FLAGS>

/** Milliseconds. */
export const DEFAULT_INTERVAL = 60_000
const SESSION_AGE = 600_000
const DEFAULT_RESYNC = 3_600_000
/**
 * Milliseconds for one cluster in a turn about some packages, so that a slow one does not delay
 * others.
 */
const DEADLINE = 60_000

interface Shared {
  readonly log: Log
  readonly watches: SharedWatches
}

interface NamedRepository {
  /** Empty if there is only one. */
  readonly name: string
  readonly text: string
  readonly packages: readonly string[]
  readonly clusters: readonly ConfiguredCluster[] | undefined
}

export function createRepositoryEntry(
  repository: NamedRepository,
  options: ControllerOptions,
  cli: ControllerContext,
  shared: Shared,
): RepositoryEntry {
  const { name, text, packages, clusters } = repository
  const log = name === '' ? shared.log : shared.log.bindRepository(formatLoggableName(name))
  const interval = options.interval ?? DEFAULT_INTERVAL
  const dryRun = options.dryRun === true
  const targets = new Map<string, ClusterTarget>()
  const readers = new CurrentReaders()
  const previews = options.preview === true ? new OpenPreviews() : undefined
  const refusals: Refusals = new Map()
  const ports: TurnsPorts = {
    clock: cli.clock,
    log,
    intake: createIntakePorts(options.repo, cli, { ...shared, log }, targets),
    marks: cli.packageMarks(options.repo),
    openSession: async (hooks, turnSignal) => {
      const quiet = { ...options, quiet: true, verbose: undefined } as const
      const opened = await openSession(
        createReportingContext({ ...cli, signal: turnSignal }, hooks),
        quiet,
        {
          packages,
          clusters,
        },
      )
      // State that outlives the session.
      const session = {
        ...opened,
        clusters: opened.clusters.map((one) => ({ ...one, reader: readers.getReader(one.reader) })),
      }
      for (const { reader, target } of session.clusters)
        targets.set(reader.name, { ...target, trace: hooks.onRequest })
      const announcing =
        options.kubernetesEvents === true && options.live === undefined
          ? new DriftAnnouncer(cli, targets)
          : undefined
      return {
        clusters: session.clusters.map(({ reader }) => reader.name),
        key: session.key,
        poll: ({ requestedActions, between }, pollSignal) =>
          pollRepository(
            { ...session.ports, clusters: session.clusters.map(({ reader }) => reader) },
            { ...session.request, between, forge: { ...session.request.forge, requestedActions } },
            pollSignal,
          ),
        turn: getTurn(session, dryRun),
        announce: announcing?.write,
        vouch: (view, vouchSignal) =>
          writeOpenHeads(session.ports.forge, view, refusals, vouchSignal),
        preview: previews && (await createPreview(session, previews, cli)),
        close: async () => {
          announcing?.close()
          session.close()
        },
      }
    },
  }
  const resync = options.resyncInterval ?? DEFAULT_RESYNC
  // A recording is read once.
  const sessionAge = options.live === undefined ? SESSION_AGE : 0
  const turns = { sessionAge, dryRun, intake: { interval, resync } }
  return { name, remote: options.repo, text, ports, interval, options: turns }
}

function getTargetKey({ kubeconfig = '', context = '', cluster = '' }: ClusterTarget): string {
  return JSON.stringify([kubeconfig, context, cluster])
}

function createIntakePorts(
  remote: string,
  cli: Pick<CliContext, 'clock' | 'openWatch' | 'verdictFiles'>,
  { log, watches }: Shared,
  targets: ReadonlyMap<string, ClusterTarget>,
): IntakePorts {
  const files = cli.verdictFiles(remote)
  return {
    now: () => cli.clock.now().getTime(),
    random: Math.random,
    openWatch: async (cluster, observer) => {
      const target = targets.get(cluster)
      return target === undefined
        ? undefined
        : watches.view(getTargetKey(target), observer, (shared) => cli.openWatch(target, shared))
    },
    loadVerdicts: async (cluster, key) => {
      const content = await files.read(cluster)
      if (content === undefined) return undefined
      const stored = decodeVerdicts(content, cluster, key)
      if (!('problem' in stored)) return stored
      log.logNotes([
        {
          cause: 'verdicts-not-read',
          subject: cluster,
          text: `the verdicts of the last run are not used: ${stored.problem}`,
        },
      ])
      return undefined
    },
    saveVerdicts: (cluster, verdicts, key) =>
      files.write(cluster, encodeVerdicts(verdicts, cluster, key)),
    onVerdict: (cluster, verdict, milliseconds) =>
      log.process({
        event: 'judged',
        cluster: formatLoggableName(cluster),
        verdict: formatLoggableName(verdict),
        milliseconds: Math.round(milliseconds),
      }),
    onSight: (cluster, why) =>
      log.process({
        event: 'watch',
        cluster: formatLoggableName(cluster),
        ...(why === undefined ? {} : { why: formatLoggableName(why, 300) }),
      }),
  }
}

/** The context whose ports report each request and note to the log. */
function createReportingContext(
  cli: TurnContext,
  { onNote, onRequest }: Parameters<TurnsPorts['openSession']>[0],
): TurnContext {
  const note = (text: string): void => onNote({ cause: 'forge-notice', subject: '', text })
  return {
    ...cli,
    openRepository: (remote, wanted) =>
      cli.openRepository(remote, { ...wanted, trace: onRequest, note: onNote }),
    openForge: (repository, wanted) =>
      cli.openForge(repository, { ...wanted, note, trace: onRequest }),
    openCluster: (target) => cli.openCluster({ ...target, trace: onRequest }),
    openWriter: (target) => cli.openWriter({ ...target, trace: onRequest }),
    loadKey: async () => {
      const loaded = await cli.loadKey()
      if (loaded.created)
        onNote({ cause: 'installation-key', subject: '', text: describeNewKey(loaded.path) })
      return loaded
    },
  }
}

async function createPreview(
  session: Session,
  previews: OpenPreviews,
  cli: Pick<CliContext, 'offlineCluster' | 'openRenderer' | 'version'>,
): Promise<TurnSession['preview']> {
  const { repository, forge } = session.ports
  if (!isHosted(forge)) return undefined
  const [clusters, untrusted] = [
    await listPreviewClusters(session, cli),
    await cli.openRenderer(NOTHING_ALLOWED),
  ]
  const { branch } = session.request.git
  const { version } = cli
  const make = (pull: ForgePullRequest, signal: AbortSignal): Promise<Preview> =>
    preview(
      { repository, clusters },
      {
        observe: { ...session.request, onProgress: () => undefined },
        head: getPreviewHead(pull),
        untrusted,
      },
      signal,
    )
  return (signal) => previews.pass({ forge, repository, branch, version, preview: make }, signal)
}

function getTurn(session: Session, dryRun: boolean): TurnSession['turn'] {
  return async (
    { between, requestedActions, audit, only, watched, unreachable, meanwhile, onProgress },
    signal,
  ) => {
    const cluster = { ...session.request.cluster, ...(audit === undefined ? {} : { audit }) }
    const request = {
      ...session.request,
      between,
      onProgress,
      cluster: { ...cluster, deadline: only === undefined ? undefined : DEADLINE },
      units: { ...session.request.units, only, watched },
      forge: { ...session.request.forge, meanwhile },
    }
    const clusters = session.clusters.map((one) => {
      const failure = unreachable.get(one.reader.name)
      return failure === undefined
        ? one
        : { ...one, reader: createFailingCluster(one.reader.name, failure) }
    })
    const result = await runScan(
      { ...session, clusters, request, requestedActions },
      dryRun,
      signal,
    )
    if (session.clusters.length === 1 && only === undefined) assertObserved(result)
    return result
  }
}
