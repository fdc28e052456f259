/** Each command is loaded when it runs. */
import { Command } from '@commander-js/extra-typings'
import type { ControllerContext, Run, TurnContext } from './context/cli-context.ts'
import {
  APPROVE_FLAGS,
  CONTROLLER_FLAGS,
  DECISION_FLAGS,
  IGNORE_FLAGS,
  IMPORT_FLAGS,
  INIT_FLAGS,
  RESOLVE_FLAGS,
  SCAN_FLAGS,
  VIA_FLAGS,
} from './flags/command-flags.ts'
import {
  AUDIT_FLAGS,
  addFlags,
  CLUSTER_FLAGS,
  createOutputFlags,
  EXIT_FLAGS,
  FLEET_FLAGS,
  FORGE_FLAGS,
  FUNCTION_FLAGS,
  listFlags,
  NAMESPACE_FLAGS,
  REPOSITORY_FLAGS,
} from './flags/options.ts'
import { REPORT_OUTPUTS, TEXT_OUTPUTS } from './flags/outputs.ts'
import { createSelectionFlags } from './flags/selection-flags.ts'

const SELECTORS =
  'changes by number (1,3-5), number and field (2:spec.replicas), or object (deployment/web, deploy/web, deployment/web:spec.replicas); all otherwise'
const ONE_PACKAGE = 'path of the package; optional if there is only one'
const SESSION_FLAGS = [
  REPOSITORY_FLAGS,
  FORGE_FLAGS,
  FUNCTION_FLAGS,
  CLUSTER_FLAGS,
  NAMESPACE_FLAGS,
] as const

export function addDecideCommands(program: Command, cli: ControllerContext, run: Run): void {
  const scan = program
    .command('scan')
    .description(
      'run one turn: observe, record drift in git, and propose it where the policy allows it',
    )
    .argument('[packages...]', 'paths of packages; the placed ones, or all, otherwise')
  addFlags(
    scan,
    SCAN_FLAGS,
    createSelectionFlags({}),
    ...SESSION_FLAGS,
    AUDIT_FLAGS,
    listFlags(REPORT_OUTPUTS),
    EXIT_FLAGS,
    FLEET_FLAGS,
  ).action((packages, options) =>
    run(async () => (await import('./commands/scan.ts')).scan(packages, options, cli)),
  )
  addResolutionCommands(program, cli, run)

  const ignore = program
    .command('ignore')
    .description(
      'propose an ignore rule that hides exactly the named lines of diff, in the policy, for review; --list lists the rules',
    )
    .argument('[package]', ONE_PACKAGE)
    .argument('[selectors...]', SELECTORS)
  addFlags(ignore, IGNORE_FLAGS, ...SESSION_FLAGS, listFlags()).action((name, selectors, options) =>
    run(async () =>
      options.list === true
        ? (await import('./commands/list-ignores.ts')).listIgnores(name, options, cli)
        : (await import('./commands/ignore.ts')).ignore(name, selectors, options, cli),
    ),
  )

  const imported = program
    .command('import')
    .description(
      'propose a package of the unmanaged live objects of a namespace; Secrets are named and never written',
    )
  addFlags(
    imported,
    IMPORT_FLAGS,
    REPOSITORY_FLAGS,
    FORGE_FLAGS,
    FUNCTION_FLAGS,
    CLUSTER_FLAGS,
    createOutputFlags(TEXT_OUTPUTS),
  ).action((options) =>
    run(async () => (await import('./commands/import.ts')).importObjects(options, cli)),
  )

  const approval = program
    .command('approve')
    .description('merge the open proposal of a package, tag the revision and delete the branch')
    .argument('[package]', ONE_PACKAGE)
  addFlags(
    approval,
    APPROVE_FLAGS,
    DECISION_FLAGS,
    ...SESSION_FLAGS,
    createOutputFlags(TEXT_OUTPUTS),
  ).action((name, options) =>
    run(async () => (await import('./commands/decide.ts')).approveOne(name, options, cli)),
  )
  const rejection = program
    .command('reject')
    .description(
      'close the open proposal: git and the cluster do not change, and this drift is silenced for the time in the policy (default: 30 days)',
    )
    .argument('[package]', ONE_PACKAGE)
  addFlags(rejection, DECISION_FLAGS, ...SESSION_FLAGS, createOutputFlags(TEXT_OUTPUTS)).action(
    (name, options) =>
      run(async () => (await import('./commands/decide.ts')).rejectOne(name, options, cli)),
  )

  const init = program
    .command('init')
    .description(
      'enrol a repository: observe, print what to expect, and propose a policy on the branch drift/configure',
    )
  addFlags(init, INIT_FLAGS, ...SESSION_FLAGS, createOutputFlags(['table', 'json', 'yaml'])).action(
    (options) => run(async () => (await import('./commands/init.ts')).init(options, cli)),
  )

  const controller = program
    .command('controller')
    .description(
      'watch the clusters, git and the forge until stopped, and run a turn for what changes',
    )
    .argument('[packages...]', 'paths of packages; the placed ones, or all, otherwise')
  addFlags(
    controller,
    CONTROLLER_FLAGS,
    createSelectionFlags({}),
    ...SESSION_FLAGS,
    AUDIT_FLAGS,
    createOutputFlags(TEXT_OUTPUTS),
    FLEET_FLAGS,
  ).action((packages, options) =>
    run(async () =>
      (await import('./controller/controller.ts')).runControllerCommand(packages, options, cli),
    ),
  )
}

function addResolutionCommands(program: Command, cli: TurnContext, run: Run): void {
  const SENTENCES = {
    Restore: 'propose that git is right: the cluster is restored after the merge',
    Adopt: 'propose that the cluster is right: the authored files are edited to the live values',
    Release: 'propose that git stops managing the fields',
  } as const
  for (const resolution of ['Restore', 'Adopt', 'Release'] as const) {
    const command = program
      .command(resolution.toLowerCase())
      .description(SENTENCES[resolution])
      .argument('[package]', ONE_PACKAGE)
      .argument('[selectors...]', SELECTORS)
    const via: typeof VIA_FLAGS = resolution === 'Restore' ? new Command() : VIA_FLAGS
    addFlags(command, RESOLVE_FLAGS, via, ...SESSION_FLAGS, listFlags()).action(
      (name, selectors, options) =>
        run(async () =>
          (await import('./commands/resolve.ts')).resolve(
            { resolution, name, selectors },
            options,
            cli,
          ),
        ),
    )
  }
}
