/** The daemon: its arguments and flags. What it does is loaded when it runs. */
import { type Command, Option } from 'commander'
import { LOG_FORMATS, LOG_LEVELS } from '../ports/log.ts'
import { type ControllerOptions, listenAddress } from './flags/controller-options.ts'
import {
  interval,
  withAuditFlag,
  withClusterFlags,
  withFleetFlag,
  withForgeFlag,
  withOutputFlags,
  withRepositoryFlags,
} from './flags/options.ts'
import { TEXT_OUTPUTS } from './flags/outputs.ts'
import { withSelectionFlags } from './flags/selection-flags.ts'
import type { Run, World } from './world.ts'

export function addControllerCommand(program: Command, world: World, run: Run): void {
  const controller = program
    .command('controller')
    .description('run turns until stopped: at each --interval, and at once when a webhook arrives')
    .argument('[packages...]', 'paths of packages; the placed ones, or all, otherwise')
    .addOption(new Option('--interval <duration>', 'time between two turns, as in 5m; 60s otherwise').argParser(interval))
    .addOption(
      new Option(
        '--webhook-address <host:port>',
        'listen for webhooks at /webhook (a port alone is on 127.0.0.1); their secret is in BACKPORCH_WEBHOOK_SECRET',
      ).argParser(listenAddress),
    )
    .addOption(
      new Option(
        '--audit-webhook-address <host:port>',
        'take audit events of the API server at /audit (a port alone is on 127.0.0.1); their token is in BACKPORCH_AUDIT_TOKEN',
      )
        .argParser(listenAddress)
        .conflicts('auditLog'),
    )
    .option('--dry-run', 'write nothing; report the writes of each turn where they are not those of the turn before')
    .addOption(
      new Option(
        '--log-format <format>',
        'JSON lines, or lines for people; the log is on stderr. Text on a terminal, json elsewhere unless given',
      ).choices(LOG_FORMATS),
    )
    .addOption(
      new Option('--log-level <level>', 'minimum level (default: info). -q is warn; -v is trace, which has every request').choices(
        LOG_LEVELS,
      ),
    )
  withFleetFlag(
    withOutputFlags(withAuditFlag(withClusterFlags(withForgeFlag(withRepositoryFlags(withSelectionFlags(controller))))), TEXT_OUTPUTS),
  )
  controller.action((packages: string[], options: ControllerOptions) =>
    run(async () => (await import('./commands/controller.ts')).controller(packages, options, world)),
  )
}
