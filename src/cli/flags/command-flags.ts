import { normalizePackagePath } from '@backporch/kpt/package'
import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings'
import { LOG_FORMATS, LOG_LEVELS } from '../../ports/log.ts'
import type { ListenAddress } from '../context/cli-context.ts'
import { collect, parseDurationSeconds, parseInterval, type ValuesOf } from './options.ts'
import { renderOutputOption } from './outputs.ts'

export const DIFF_FLAGS = new Command()
  .option(
    '--show-ignored',
    'also list ignored and released differences, and those where git is ahead or behind',
  )
  .option(
    '--unmanaged',
    'also list unmanaged objects in the namespaces of the packages; they are not drift',
  )
  .option(
    '--yaml',
    'print a unified diff for each object; BACKPORCH_EXTERNAL_DIFF names another diff program, as KUBECTL_EXTERNAL_DIFF for kubectl',
  )

/** Named as in `porchctl repo reg`. */
export const PORCH_FLAGS = new Command()
  .option(
    '--name <name>',
    'name of the Porch Repository (default: last segment of the address, without .git)',
    parseRepositoryName,
  )
  .option(
    '--directory <path>',
    'directory of the Porch Repository (spec.git.directory): only packages in it (default: /)',
    parseDirectory,
  )

export const CHECK_FLAGS = new Command().option(
  '--pre',
  'before the installation: skip the checks that only writing needs',
)

export const RBAC_FLAGS = new Command()
  .addOption(
    new Option(
      '--level <level>',
      'observe: reads; dryrun: also dry runs; settle: also writes that merged commits authorise',
    )
      .choices(['observe', 'dryrun', 'settle'])
      .default('dryrun'),
  )
  .option('--namespaced', 'grant the kinds of the packages in the namespaces of the packages only')
  .option(
    '--account <namespace/name>',
    'ServiceAccount that gets the rights',
    'backporch/backporch',
  )
  .option('--kubernetes-events', 'also allow Events, for controller --kubernetes-events')

export const RENDER_FLAGS = new Command()
  .option('--cluster <name>', 'with -o: as the policies of this cluster render it')
  .option(
    '--allow-render <program>',
    'with -o: a program that may render: kubectl for kustomize, helm for charts (repeatable; or BACKPORCH_ALLOW_RENDER)',
    collect,
  )
export const RENDER_OUTPUT_FLAGS = new Command().addOption(renderOutputOption())

export const SCAN_FLAGS = new Command()
  .option('--dry-run', 'print the writes without writing; with -o json the plan, as actions')
  .option('--show-ignored', 'list what ignore rules and releases cover')

export const RESOLVE_FLAGS = new Command()
  .option('-m, --message <why>', 'why, for the people who review and for the history')
  .option('--dry-run', 'print the writes without writing; with -o json the plan, as actions')
export const VIA_FLAGS = new Command().option(
  '--via <place>',
  'the location in git to edit, where several give the live value',
)

export const IGNORE_FLAGS = new Command()
  .option('-m, --message <why>', 'why, for the people who read the rule later; required')
  .option('--print', 'print a policy with the rule; nothing is written')
  .option('--dry-run', 'print what would be proposed, and write nothing')
  .option('--for <duration>', 'how long the rule holds, from now: 30d', parseDurationSeconds)
  .option('--expires <day>', 'the last day on which the rule holds: 2026-12-31', parseDay)
  .addOption(
    new Option(
      '--list',
      'list all rules: where, for what, why, until when, and what each hides now; reads git alone',
    ).conflicts(['message', 'print', 'dryRun', 'for', 'expires']),
  )

export const IMPORT_FLAGS = new Command()
  .requiredOption('-n, --namespace <name>', 'the namespace whose objects are imported')
  .option(
    '--to <folder>',
    'folder of the new package (default: the name of the namespace)',
    parseDirectory,
  )
  .option('--dry-run', 'list the files that would be proposed, and write nothing')

export const PREVIEW_FLAGS = new Command()
  .addOption(
    new Option('--head <ref>', 'branch, tag or commit whose merge is previewed').conflicts(
      'pullRequest',
    ),
  )
  .option(
    '--pull-request <number>',
    'preview the pull request with this number on the forge',
    pullRequestNumber,
  )
  .option(
    '--comment',
    'with --pull-request: write the preview as one comment there, and update it in place',
  )
  .option('--fork', 'the head comes from a fork: run no program that it names, and read no cluster')

export const DECISION_FLAGS = new Command()
  .option('-y, --yes', 'do not ask')
  .option('-m, --message <why>', 'why, for the history')
  .option('--as <name>', 'who decides; your git identity otherwise')
export const APPROVE_FLAGS = new Command()
  .option('--wait', 'wait until the cluster agrees with the decision')
  .option(
    '--wait-timeout <duration>',
    'how long to wait (default: from the policy)',
    parseDurationSeconds,
  )

export const INIT_FLAGS = new Command()
  .option('-y, --yes', 'do not ask')
  .option('--dry-run', 'print everything and write nothing')
  .option('--again', 'propose again after the proposal was closed')
  .option('--remove', 'remove an unmerged proposal: its branch and its pull request')
  .option('--print-ruleset', 'print only the commands that protect the base branch and the ledger')
  .option(
    '--bot <name>',
    'account of Backporch, for --print-ruleset: the id of its App on GitHub, its login on Gitea',
  )

const CONFIGURED = [
  'repo',
  'branch',
  'path',
  'forge',
  'context',
  'contexts',
  'cluster',
  'live',
  'fieldManager',
  'auditLog',
  'package',
  'selector',
]

export const CONTROLLER_FLAGS = new Command()
  .addOption(
    new Option(
      '--config <path>',
      'several repositories with their clusters: a file with a ControllerConfig, read again when it changes',
    ).conflicts(CONFIGURED),
  )
  .option(
    '--concurrent <turns>',
    'turns of different repositories that run at the same time (default: 4)',
    parseConcurrency,
  )
  .option(
    '--interval <duration>',
    'time between two polls of git and the forge, as in 5m (default: 60s)',
    parseInterval,
  )
  .option(
    '--resync-interval <duration>',
    'time between two full turns if the clusters are watched (default: 1h)',
    parseInterval,
  )
  .option(
    '--webhook-address <host:port>',
    'listen for webhooks at /webhook (a port alone is on 127.0.0.1); their secret is in BACKPORCH_WEBHOOK_SECRET',
    listenAddress,
  )
  .option(
    '--http-address <host:port>',
    'serve /metrics, /healthz and /readyz (a port alone is on 127.0.0.1); everyone who reaches the address may read them',
    listenAddress,
  )
  .addOption(
    new Option(
      '--audit-webhook-address <host:port>',
      'take audit events of the API server at /audit (a port alone is on 127.0.0.1); their token is in BACKPORCH_AUDIT_TOKEN',
    )
      .argParser(listenAddress)
      .conflicts('auditLog'),
  )
  .option(
    '--kubernetes-events',
    'write an Event about an object when its drift is detected, and when it is gone; nothing else is written',
  )
  .option(
    '--preview',
    'comment on open pull requests what merging them changes, and which changes are already live; programs of a fork are never run',
  )
  .option(
    '--dry-run',
    'write nothing; report the writes of each turn if they differ from those of the last turn',
  )
  .addOption(
    new Option(
      '--log-format <format>',
      'JSON lines, or readable text; the log is on stderr (default: text on a terminal, json elsewhere)',
    ).choices(LOG_FORMATS),
  )
  .addOption(
    new Option(
      '--log-level <level>',
      'minimum level (default: info). -q is warn; -v is trace, which has every request',
    ).choices(LOG_LEVELS),
  )

export type DryRunOption = Pick<ValuesOf<typeof SCAN_FLAGS>, 'dryRun'>

function pullRequestNumber(text: string): number {
  if (!/^[1-9][0-9]{0,8}$/.test(text))
    throw new InvalidArgumentError('wanted the number of a pull request: 12')
  return Number(text)
}

function parseConcurrency(text: string): number {
  if (!/^[1-9][0-9]{0,2}$/.test(text))
    throw new InvalidArgumentError('wanted a number from 1 to 999')
  return Number(text)
}

function parseRepositoryName(text: string): string {
  if (!/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(text)) {
    throw new InvalidArgumentError(
      'Porch takes lower-case letters, digits and "-", at most 63, with a letter or digit at both ends',
    )
  }
  return text
}

function parseDirectory(text: string): string {
  const path = normalizePackagePath(text.replace(/^\/+/, ''))
  if (path === undefined)
    throw new InvalidArgumentError('wanted a folder of the repository, from its root: apps')
  return path
}

function parseDay(text: string): string {
  const time = Date.parse(`${text}T00:00:00Z`)
  if (
    !/^\d{4}-\d{2}-\d{2}$/.test(text) ||
    Number.isNaN(time) ||
    !new Date(time).toISOString().startsWith(text)
  )
    throw new InvalidArgumentError('wanted a date like 2026-12-31')
  return text
}

const LOOPBACK = '127.0.0.1'

/** Only loopback unless a host is given. */
export function listenAddress(text: string): ListenAddress {
  const [, six, name, port = ''] =
    /^(?:(?:\[([0-9a-f:.%]+)\]|([a-z0-9.-]*)):)?([0-9]{1,5})$/i.exec(text) ?? []
  if (port === '' || Number(port) > 65_535)
    throw new InvalidArgumentError('wanted HOST:PORT, as in 127.0.0.1:8080 or [::]:8080')
  return { host: six ?? (name || LOOPBACK), port: Number(port) }
}
