/** Commands that record and decide: their arguments and flags. What they do is loaded when one of them runs. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Resolution } from '../drift/drift.ts'
import {
  type CommonOptions,
  durationSeconds,
  withAuditFlag,
  withClusterFlags,
  withExitFlags,
  withFleetFlag,
  withForgeFlag,
  withOutputFlags,
  withRepositoryFlags,
} from './flags/options.ts'
import { REPORT_OUTPUTS, TEXT_OUTPUTS } from './flags/outputs.ts'
import { withSelectionFlags } from './flags/selection-flags.ts'
import type { Run, World } from './world.ts'

const SELECTORS =
  'changes by number (1,3-5), number and field (2:spec.replicas), or object (deployment/web, deploy/web, deployment/web:spec.replicas); all otherwise'
const ONE_PACKAGE = 'path of the package; optional if there is only one'

export function addDecideCommands(program: Command, world: World, run: Run): void {
  const scan = program
    .command('scan')
    .description('run one turn: observe, record drift in git, and propose it where the policy allows it')
    .argument('[packages...]', 'paths of packages; the placed ones, or all, otherwise')
    .option('--dry-run', 'print the writes without writing')
    .option('--show-ignored', 'list what ignore rules and releases cover')
  withFleetFlag(
    withExitFlags(
      withOutputFlags(withAuditFlag(withClusterFlags(withForgeFlag(withRepositoryFlags(withSelectionFlags(scan))))), REPORT_OUTPUTS),
    ),
  )
  scan.action((packages: string[], options: CommonOptions) =>
    run(async () => (await import('./commands/scan.ts')).scan(packages, options, world)),
  )
  addResolutionCommands(program, world, run)
  addIgnoreCommand(program, world, run)
  addSnoozeCommand(program, world, run)

  const approval = program
    .command('approve')
    .description('merge the open proposal of a package, tag the revision and delete the branch')
    .argument('[package]', ONE_PACKAGE)
    .option('--wait', 'wait until the cluster agrees with the decision')
    .addOption(new Option('--wait-timeout <duration>', 'how long to wait (default: from the policy)').argParser(durationSeconds))
  decisionFlags(approval).action((name: string | undefined, options: CommonOptions) =>
    run(async () => (await import('./commands/decide.ts')).approveOne(name, options, world)),
  )
  const rejection = program
    .command('reject')
    .description(
      'close the open proposal: git and the cluster do not change, and this drift is silenced for the time in the policy (default: 30 days)',
    )
    .argument('[package]', ONE_PACKAGE)
  decisionFlags(rejection).action((name: string | undefined, options: CommonOptions) =>
    run(async () => (await import('./commands/decide.ts')).rejectOne(name, options, world)),
  )
}

function addIgnoreCommand(program: Command, world: World, run: Run): void {
  const ignore = program
    .command('ignore')
    .description('propose an ignore rule that hides exactly the named lines of diff, in the policy, for review')
    .argument('[package]', ONE_PACKAGE)
    .argument('[selectors...]', SELECTORS)
    .option('-m, --message <why>', 'why, for the people who read the rule later; required')
    .option('--print', 'print a policy with the rule; nothing is written')
    .option('--dry-run', 'say what would be proposed, and write nothing')
    .addOption(new Option('--for <duration>', 'how long the rule holds, from now: 30d').argParser(durationSeconds))
    .addOption(new Option('--expires <day>', 'the last day on which the rule holds: 2026-12-31').argParser(day))
  withOutputFlags(withClusterFlags(withForgeFlag(withRepositoryFlags(ignore))), TEXT_OUTPUTS)
  ignore.action((name: string | undefined, selectors: string[], options: CommonOptions) =>
    run(async () => (await import('./commands/ignore.ts')).ignore(name, selectors, options, world)),
  )
}

function addSnoozeCommand(program: Command, world: World, run: Run): void {
  const snooze = program
    .command('snooze')
    .description('stop reminders about an open proposal for a while; the proposal stays open')
    .argument('<package>', ONE_PACKAGE)
    .argument('[duration]', 'how long: 7d, 12h')
  withOutputFlags(withClusterFlags(withForgeFlag(withRepositoryFlags(snooze))), TEXT_OUTPUTS)
  snooze.action((name: string, duration: string | undefined, options: CommonOptions) =>
    run(async () => (await import('./commands/snooze.ts')).snooze(name, duration, options, world)),
  )
}

function day(text: string): string {
  const time = Date.parse(`${text}T00:00:00Z`)
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || Number.isNaN(time) || !new Date(time).toISOString().startsWith(text))
    throw new InvalidArgumentError('wanted a date like 2026-12-31')
  return text
}

function decisionFlags(command: Command): Command {
  return withOutputFlags(
    withClusterFlags(
      withForgeFlag(
        withRepositoryFlags(
          command
            .option('-y, --yes', 'do not ask')
            .option('-m, --message <why>', 'why, for the history')
            .option('--as <name>', 'who decides; your git identity otherwise'),
        ),
      ),
    ),
    TEXT_OUTPUTS,
  )
}

const SENTENCES: { readonly [name in Resolution]: string } = {
  Restore: 'propose that git is right: the cluster is restored after the merge',
  Adopt: 'propose that the cluster is right: the authored files are edited to the live values',
  Release: 'propose that git stops managing the fields',
}

function addResolutionCommands(program: Command, world: World, run: Run): void {
  for (const resolution of ['Restore', 'Adopt', 'Release'] as const) {
    const command = program
      .command(resolution.toLowerCase())
      .description(SENTENCES[resolution])
      .argument('[package]', ONE_PACKAGE)
      .argument('[selectors...]', SELECTORS)
      .option('-m, --message <why>', 'why, for the people who review and for the history')
      .option('--dry-run', 'print the writes without writing')
    if (resolution !== 'Restore') command.option('--via <place>', 'the location in git to edit, where several give the live value')
    withOutputFlags(withClusterFlags(withForgeFlag(withRepositoryFlags(command))))
    command.action((name: string | undefined, selectors: string[], options: CommonOptions) =>
      run(async () => (await import('./commands/resolve.ts')).resolve(resolution, name, selectors, options, world)),
    )
  }
}
