import { Failure, listFailures } from '@backporch/kyaml/failure'
import { type ControllerPorts, runController } from '../../controller/run-controller.ts'
import { SharedWatches } from '../../controller/shared-watch.ts'
import type { Log } from '../../ports/log.ts'
import type {
  CliContext,
  ControllerContext,
  ListenAddress,
  ProcessContext,
  ServerContext,
} from '../context/cli-context.ts'
import { Terminal } from '../context/terminal.ts'
import { getWorstExitStatus } from '../flags/exit-status.ts'
import { listNamedPackages } from '../flags/selection-flags.ts'
import { ConfigSource } from './config-source.ts'
import {
  type ControllerOptions,
  createRepositoryEntry,
  DEFAULT_INTERVAL,
} from './repository-entry.ts'

/** Characters: a shorter secret can be guessed from one delivery. */
const SHORTEST_SECRET = 16
/** Turns share memory, CPU and connections, like reconciles in Flux and controller-runtime. */
const DEFAULT_CONCURRENT = 4

/**
 * @returns 0 when stopped, 130 when a turn had to be stopped, the status of `scan` when no turn is
 * possible
 */
export async function runControllerCommand(
  packages: readonly string[],
  options: ControllerOptions,
  cli: ControllerContext,
): Promise<number> {
  const terminal = new Terminal(cli.stderr, { color: options.color, ascii: false, env: cli.env })
  const log = await cli.openLog({
    format: options.logFormat ?? (terminal.isTTY ? 'text' : 'json'),
    level:
      options.logLevel ??
      (options.verbose === true ? 'trace' : options.quiet === true ? 'warn' : 'info'),
    stream: cli.stderr,
    color: terminal.colours,
  })
  const settings = {
    interval: options.interval ?? DEFAULT_INTERVAL,
    dryRun: options.dryRun === true,
    version: cli.version,
    concurrent: options.concurrent ?? DEFAULT_CONCURRENT,
  }
  try {
    const ports = {
      ...createListeners(options, cli),
      ...(await createRepositories(packages, options, cli, log)),
    }
    const { clock, signal, onHangup } = cli
    return (await runController(
      { ...ports, clock, log, random: Math.random, signal, onReloadRequest: onHangup },
      settings,
    )) === 'aborted'
      ? 130
      : 0
  } catch (thrown) {
    const failures = listFailures(thrown)
    log.logFailures(
      failures.map((failure) => ({ failure })),
      'new',
    )
    return getWorstExitStatus(failures)
  }
}

async function createRepositories(
  packages: readonly string[],
  options: ControllerOptions,
  cli: ControllerContext,
  log: Log,
): Promise<Pick<ControllerPorts, 'repositories' | 'reload'>> {
  const shared = { log, watches: new SharedWatches() }
  if (options.config === undefined) {
    const only = { name: '', text: '', packages, clusters: undefined }
    return { repositories: [createRepositoryEntry(only, options, cli, shared)] }
  }
  if (listNamedPackages(packages, options).length > 0) {
    throw new Failure({
      code: 'BP1001',
      what: 'packages cannot be named together with --config',
      why: 'the file names the packages of each repository',
      remedy: 'name them in the file, in the field packages of their repository',
    })
  }
  const source = new ConfigSource(options.config, options, cli, shared)
  return { repositories: await source.readFirst(), reload: (isAsked) => source.readNext(isAsked) }
}

function createListeners(
  options: ControllerOptions,
  cli: ProcessContext & ServerContext,
): Pick<ControllerPorts, 'openWebhooks' | 'openMonitoring' | 'openTraces' | 'openAuditHook'> {
  const secrets = parseWebhookSecrets(cli.env['BACKPORCH_WEBHOOK_SECRET'])
  const { webhookAddress, auditWebhookAddress, httpAddress, config } = options
  if (webhookAddress !== undefined && secrets.length === 0) {
    throw new Failure({
      code: 'BP1001',
      what: '--webhook-address requires a secret',
      why: 'without a secret, everyone who reaches the address could start turns',
      remedy:
        'set BACKPORCH_WEBHOOK_SECRET to the secret of the webhook of the repository (openssl rand -hex 32)',
    })
  }
  if (secrets.some((secret) => secret.length < SHORTEST_SECRET)) {
    throw new Failure({
      code: 'BP1001',
      what: 'the secret of the webhook is too short',
      why: `a secret in BACKPORCH_WEBHOOK_SECRET has fewer than ${SHORTEST_SECRET} characters, so it can be guessed`,
      remedy:
        'give the webhook and BACKPORCH_WEBHOOK_SECRET a longer one (openssl rand -hex 32); several are separated by commas',
    })
  }
  return {
    openWebhooks:
      webhookAddress === undefined
        ? undefined
        : (hooks) =>
            cli.openWebhooks({
              address: webhookAddress,
              secrets,
              remote: config === undefined ? options.repo : undefined,
              ...hooks,
            }),
    openMonitoring:
      httpAddress === undefined
        ? undefined
        : (hooks) => cli.openMonitoring({ address: httpAddress, ...hooks }),
    openTraces: cli.openTraces,
    openAuditHook:
      auditWebhookAddress === undefined
        ? undefined
        : (onRefused) =>
            cli.openAuditHook({
              address: auditWebhookAddress,
              token: auditToken(auditWebhookAddress, cli),
              named: config !== undefined || (options.contexts ?? []).length > 1,
              onRefused,
            }),
  }
}

/** Several secrets are separated by commas, for rotation. */
function parseWebhookSecrets(text: string | undefined): readonly string[] {
  return (text ?? '').split(',').flatMap((secret) => (secret.trim() === '' ? [] : [secret.trim()]))
}

function isLoopback({ host }: ListenAddress): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}

/** @throws Failure BP1001 without a token if other machines could send */
function auditToken(address: ListenAddress, { env }: Pick<CliContext, 'env'>): string | undefined {
  const token = env['BACKPORCH_AUDIT_TOKEN']?.trim() || undefined
  if (token !== undefined || isLoopback(address)) return token
  throw new Failure({
    code: 'BP1001',
    what: '--audit-webhook-address requires a token',
    where: `${address.host}:${address.port}`,
    why: 'without a token, everyone who reaches the address could send forged audit events',
    remedy:
      'set BACKPORCH_AUDIT_TOKEN to the token of the kubeconfig that --audit-webhook-config-file names, or listen on 127.0.0.1',
  })
}
