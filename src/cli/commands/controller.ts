/** `controller`: the ports that its flags name, and its log. */

import type { TurnSession } from '../../controller/controller-turns.ts'
import { CurrentReaders } from '../../controller/current-reader.ts'
import { type ControllerPorts, runController } from '../../controller/run-controller.ts'
import type { IntakePorts } from '../../controller/turn-intake.ts'
import { Failure, failuresOf } from '../../failure.ts'
import { loggableName } from '../../krm/redaction/loggable.ts'
import type { Log } from '../../ports/log.ts'
import { pollRepository } from '../../reconcile/poll-repository.ts'
import { assertObserved } from '../../reconcile/run-turn.ts'
import { decodeVerdicts, encodeVerdicts } from '../../reconcile/verdicts/verdict-snapshot.ts'
import type { CliContext, ClusterTarget, ListenAddress } from '../cli-context.ts'
import { DriftAnnouncer } from '../drift-announcer.ts'
import { worstExit } from '../exit-status.ts'
import type { CONTROLLER_FLAGS } from '../flags/command-flags.ts'
import type { ValuesOf } from '../flags/options.ts'
import { Terminal } from '../print/terminal.ts'
import { failingCluster, keyText, openSession, runScan, type Session, type SessionOptions } from '../turn-session.ts'

type ControllerOptions = Required<SessionOptions> & ValuesOf<typeof CONTROLLER_FLAGS>

/** Milliseconds. */
const DEFAULT_INTERVAL = 60_000
const SESSION_AGE = 600_000
const DEFAULT_RESYNC = 3_600_000
const HEARTBEAT = 600_000
/** For the observation of one cluster in a turn about some packages, so that a slow cluster delays no other one for long. */
const DEADLINE = 60_000
/** Characters: a shorter secret can be guessed from one delivery. */
const SHORTEST_SECRET = 16

/** @returns 0 when it was stopped between or after turns, 130 when a turn had to be stopped, the status of `scan` when no turn can ever be */
export async function controller(packages: readonly string[], options: ControllerOptions, cli: CliContext): Promise<number> {
  const terminal = new Terminal(cli.stderr, { color: options.color, ascii: false, env: cli.env })
  const log = await cli.openLog({
    format: options.logFormat ?? (terminal.isTTY ? 'text' : 'json'),
    level: options.logLevel ?? (options.verbose === true ? 'trace' : options.quiet === true ? 'warn' : 'info'),
    stream: cli.stderr,
    color: terminal.colours,
  })
  const settings = {
    interval: options.interval ?? DEFAULT_INTERVAL,
    intake: {
      interval: options.interval ?? DEFAULT_INTERVAL,
      resync: options.resyncInterval ?? DEFAULT_RESYNC,
      heartbeat: HEARTBEAT,
    },
    // A recording is read once, when it is opened.
    sessionAge: options.live === undefined ? SESSION_AGE : 0,
    dryRun: options.dryRun === true,
    version: cli.version,
  }
  try {
    return (await runController(portsOf(packages, options, cli, log), settings)) === 'aborted' ? 130 : 0
  } catch (thrown) {
    const failures = failuresOf(thrown)
    log.failures(
      failures.map((failure) => ({ failure })),
      'new',
    )
    return worstExit(failures)
  }
}

function portsOf(packages: readonly string[], options: ControllerOptions, cli: CliContext, log: Log): ControllerPorts {
  const secrets = webhookSecrets(cli.env['BACKPORCH_WEBHOOK_SECRET'])
  const { webhookAddress, auditWebhookAddress, httpAddress } = options
  if (webhookAddress !== undefined && secrets.length === 0) {
    throw new Failure({
      code: 'BP1001',
      what: '--webhook-address requires a secret',
      why: 'without a secret, everyone who reaches the address could start turns',
      remedy: 'set BACKPORCH_WEBHOOK_SECRET to what the webhook of the repository has (openssl rand -hex 32)',
    })
  }
  if (secrets.some((secret) => secret.length < SHORTEST_SECRET)) {
    throw new Failure({
      code: 'BP1001',
      what: 'the secret of the webhook is too short',
      why: `a secret in BACKPORCH_WEBHOOK_SECRET has fewer than ${SHORTEST_SECRET} characters, so it can be guessed`,
      remedy: 'give the webhook and BACKPORCH_WEBHOOK_SECRET a longer one (openssl rand -hex 32); several are separated by commas',
    })
  }
  const { clock, signal } = cli
  const targets = new Map<string, ClusterTarget>()
  const readers = new CurrentReaders()
  return {
    clock,
    log,
    random: Math.random,
    signal,
    intake: intakePorts(options, cli, { log, targets }),
    openSession: async (hooks, turnSignal) => {
      // The log reports what a session would print.
      const quiet = { ...options, quiet: true, verbose: undefined } as const
      const opened = await openSession(reporting({ ...cli, signal: turnSignal }, hooks), quiet, { packages })
      // What outlives the session goes on with the next one.
      const clusters = opened.clusters.map((one) => ({ ...one, reader: readers.of(one.reader) }))
      const session = { ...opened, clusters }
      for (const { reader, target } of clusters) targets.set(reader.name, { ...target, trace: hooks.onRequest })
      const announcing = options.kubernetesEvents === true && options.live === undefined ? new DriftAnnouncer(cli, targets) : undefined
      return {
        clusters: session.clusters.map(({ reader }) => reader.name),
        key: session.key,
        poll: ({ requestedActions }, pollSignal) =>
          pollRepository(
            { ...session.ports, clusters: session.clusters.map(({ reader }) => reader) },
            { ...session.request, forge: { ...session.request.forge, requestedActions } },
            pollSignal,
          ),
        turn: turnOf(session, options.dryRun === true),
        announce: announcing?.write,
        close: async () => {
          announcing?.close()
          session.close()
        },
      }
    },
    openWebhooks:
      webhookAddress === undefined
        ? undefined
        : (hooks) => cli.openWebhooks({ address: webhookAddress, secrets, remote: options.repo, ...hooks }),
    openMonitoring: httpAddress === undefined ? undefined : (hooks) => cli.openMonitoring({ address: httpAddress, ...hooks }),
    openTraces: cli.openTraces,
    openAuditHook:
      auditWebhookAddress === undefined
        ? undefined
        : (onRefused) =>
            cli.openAuditHook({
              address: auditWebhookAddress,
              token: auditToken(auditWebhookAddress, cli),
              named: (options.contexts ?? []).length > 1,
              onRefused,
            }),
  }
}

/** Changes of the clusters, and what is known of them from an earlier process. */
function intakePorts(
  options: ControllerOptions,
  cli: CliContext,
  { log, targets }: { readonly log: Log; readonly targets: ReadonlyMap<string, ClusterTarget> },
): IntakePorts {
  const files = cli.verdictFiles(options.repo)
  return {
    now: () => cli.clock.now().getTime(),
    random: Math.random,
    openWatch: async (cluster, observer) => {
      const target = targets.get(cluster)
      return target === undefined ? undefined : cli.openWatch(target, observer)
    },
    loadVerdicts: async (cluster, key) => {
      const content = await files.read(cluster)
      if (content === undefined) return undefined
      const stored = decodeVerdicts(content, cluster, key)
      if (!('problem' in stored)) return stored
      log.notes([{ cause: 'verdicts-not-read', subject: cluster, text: `the verdicts of the last run are not used: ${stored.problem}` }])
      return undefined
    },
    saveVerdicts: (cluster, verdicts, key) => files.write(cluster, encodeVerdicts(verdicts, cluster, key)),
    onVerdict: (cluster, verdict, milliseconds) =>
      log.process({ event: 'judged', cluster: loggableName(cluster), verdict: loggableName(verdict), milliseconds }),
    onSight: (cluster, why) =>
      log.process({ event: 'watch', cluster: loggableName(cluster), ...(why === undefined ? {} : { why: loggableName(why, 300) }) }),
  }
}

/** The context whose ports report each request and note to the log. */
function reporting(cli: CliContext, { onNote, onRequest }: Parameters<ControllerPorts['openSession']>[0]): CliContext {
  const note = (text: string): void => onNote({ cause: 'forge-notice', subject: '', text })
  return {
    ...cli,
    openRepository: (remote, baseBranch) => cli.openRepository(remote, baseBranch, onRequest),
    openForge: (repository, wanted) => cli.openForge(repository, { ...wanted, note, trace: onRequest }),
    openCluster: (target) => cli.openCluster({ ...target, trace: onRequest }),
    openWriter: (target) => cli.openWriter({ ...target, trace: onRequest }),
    loadKey: async () => {
      const loaded = await cli.loadKey()
      if (loaded.created) onNote({ cause: 'installation-key', subject: '', text: keyText(loaded.path) })
      return loaded
    },
  }
}

function turnOf(session: Session, dryRun: boolean): TurnSession['turn'] {
  return async ({ between, requestedActions, audit, only, watched, unreachable, onProgress }, signal) => {
    const cluster = { ...session.request.cluster, ...(audit === undefined ? {} : { audit }) }
    const request = {
      ...session.request,
      between,
      onProgress,
      cluster: { ...cluster, deadline: only === undefined ? undefined : DEADLINE },
      units: { ...session.request.units, only, watched },
    }
    const clusters = session.clusters.map((one) => {
      const failure = unreachable.get(one.reader.name)
      return failure === undefined ? one : { ...one, reader: failingCluster(one.reader.name, failure) }
    })
    const result = await runScan({ ...session, clusters, request, requestedActions }, dryRun, signal)
    if (session.clusters.length === 1 && only === undefined) assertObserved(result)
    return result
  }
}

/** Several with commas between, while one is exchanged for another. A line break at the end is that of a file. */
function webhookSecrets(text: string | undefined): readonly string[] {
  return (text ?? '').split(',').flatMap((secret) => (secret.trim() === '' ? [] : [secret.trim()]))
}

/** Whether only this machine reaches the address. */
function isLoopback({ host }: ListenAddress): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}

/** @throws Failure BP1001 without a token where others than this machine could send */
function auditToken(address: ListenAddress, { env }: CliContext): string | undefined {
  const token = env['BACKPORCH_AUDIT_TOKEN']?.trim() || undefined
  if (token !== undefined || isLoopback(address)) return token
  throw new Failure({
    code: 'BP1001',
    what: '--audit-webhook-address requires a token',
    where: `${address.host}:${address.port}`,
    why: 'without a token, everyone who reaches the address could send forged audit events',
    remedy: 'set BACKPORCH_AUDIT_TOKEN to the token of the kubeconfig that --audit-webhook-config-file names, or listen on 127.0.0.1',
  })
}
