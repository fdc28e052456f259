/** Commands are loaded when they run, for quick help and completion. */
import { type Command, Option } from '@commander-js/extra-typings'
import type { CliContext, LedgerContext, Run, TurnContext } from './context/cli-context.ts'
import {
  CHECK_FLAGS,
  DIFF_FLAGS,
  PORCH_FLAGS,
  PREVIEW_FLAGS,
  RBAC_FLAGS,
  RENDER_FLAGS,
  RENDER_OUTPUT_FLAGS,
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
  TERMINAL_FLAGS,
  WATCH_FLAGS,
} from './flags/options.ts'
import { DOCUMENT_OUTPUTS, PREVIEW_OUTPUTS, REPORT_OUTPUTS, TEXT_OUTPUTS } from './flags/outputs.ts'
import { createSelectionFlags } from './flags/selection-flags.ts'

const UNITS_IN_NAMESPACE =
  'only packages that had objects in this namespace when they were last observed'
const OBJECTS_IN_NAMESPACE =
  'only objects of this namespace (default: all, also objects without a namespace)'
const COMPARED_NAMESPACE =
  'only objects of this namespace, which is also that of manifests that have none, as for kubectl (default: all, also objects without a namespace)'
const SINCE_CHANGE = 'only changes written at this time or later; changes without a time are kept'
const ONE_CLUSTER = 'only this cluster'

export function addReadCommands(
  program: Command,
  cli: TurnContext & Pick<CliContext, 'probes'>,
  run: Run,
): void {
  const diff = program
    .command('diff')
    .description('show the differences between packages in git and the cluster; reads only')
    .argument('[packages...]', 'paths of packages (default: all)')
  const diffSelection = createSelectionFlags({
    namespace: COMPARED_NAMESPACE,
    risk: 'only changes of these risks, comma-separated; hidden changes do not affect the exit code',
    since: SINCE_CHANGE,
  })
  addFlags(
    diff,
    DIFF_FLAGS,
    diffSelection,
    REPOSITORY_FLAGS,
    FUNCTION_FLAGS,
    CLUSTER_FLAGS,
    AUDIT_FLAGS,
    WATCH_FLAGS,
    listFlags(REPORT_OUTPUTS),
    EXIT_FLAGS,
  ).action((packages, options) =>
    run(async () => (await import('./commands/diff.ts')).diff(packages, options, cli)),
  )

  const status = program
    .command('status')
    .description('state of each package in each cluster, from git alone')
    .argument('[packages...]', 'paths of packages (default: all)')
  const statusSelection = createSelectionFlags({
    namespace: UNITS_IN_NAMESPACE,
    cluster: ONE_CLUSTER,
    risk: 'only packages whose highest open risk is one of these, and Unknown packages',
    state:
      'only packages in these states; another package in state Unknown still gives exit code 3',
    since: 'only packages whose state began at this time or later',
  })
  addFlags(
    status,
    statusSelection,
    REPOSITORY_FLAGS,
    WATCH_FLAGS,
    listFlags(REPORT_OUTPUTS),
    EXIT_FLAGS,
  ).action((packages, options) =>
    run(async () => (await import('./commands/status.ts')).showStatus(packages, options, cli)),
  )

  addGetCommands(program, cli, run)
  addHistoryCommands(program, cli, run)

  const check = program
    .command('check')
    .description(
      'check whether backporch can work here: git, forge, cluster, syncer, policy; writes nothing',
    )
  addFlags(
    check,
    CHECK_FLAGS,
    REPOSITORY_FLAGS,
    FORGE_FLAGS,
    FUNCTION_FLAGS,
    CLUSTER_FLAGS,
    NAMESPACE_FLAGS,
    createOutputFlags(DOCUMENT_OUTPUTS),
  ).action((options) => run(async () => (await import('./commands/check.ts')).check(options, cli)))

  const rbac = program
    .command('rbac')
    .description(
      'print the roles, bindings and admission policy that an account needs for these packages; reads only',
    )
    .argument('[packages...]', 'paths of packages (default: all)')
  addFlags(
    rbac,
    RBAC_FLAGS,
    REPOSITORY_FLAGS,
    FUNCTION_FLAGS,
    CLUSTER_FLAGS,
    TERMINAL_FLAGS,
  ).action((packages, options) =>
    run(async () => (await import('./commands/rbac.ts')).printRights(packages, options, cli)),
  )

  const render = program
    .command('render')
    .description(
      'show what kpt fn render would change in the files of packages, or print its output with -o; does not need kpt, reads git alone',
    )
    .argument('[packages...]', 'paths of packages (default: all)')
  addFlags(
    render,
    RENDER_FLAGS,
    REPOSITORY_FLAGS,
    FUNCTION_FLAGS,
    RENDER_OUTPUT_FLAGS,
    TERMINAL_FLAGS,
  ).action((packages, options) =>
    run(async () => (await import('./commands/render.ts')).render(packages, options, cli)),
  )

  const preview = program
    .command('preview')
    .description(
      'show what merging a branch or a pull request changes in each cluster, and which of these changes are already live',
    )
    .argument(
      '[packages...]',
      'paths of packages (default: all that are built from an edited file)',
    )
  addFlags(
    preview,
    PREVIEW_FLAGS,
    REPOSITORY_FLAGS,
    FORGE_FLAGS,
    FUNCTION_FLAGS,
    CLUSTER_FLAGS,
    NAMESPACE_FLAGS,
    FLEET_FLAGS,
    createOutputFlags(PREVIEW_OUTPUTS),
  ).action((packages, options) =>
    run(async () => (await import('./commands/preview.ts')).preview(packages, options, cli)),
  )

  const explain = program
    .command('explain')
    .description(
      'explain a line of diff, or a code (explain BP2001, SEC-RBAC, preset:hpa, note:secret-in-git)',
    )
    .argument('<what>', 'path of a package, or a code')
    .argument(
      '[selectors...]',
      'lines by number, number and field, or object, also of ignored differences (default: all)',
    )
  addFlags(
    explain,
    REPOSITORY_FLAGS,
    FUNCTION_FLAGS,
    CLUSTER_FLAGS,
    NAMESPACE_FLAGS,
    AUDIT_FLAGS,
    createOutputFlags(TEXT_OUTPUTS),
  ).action((what, selectors, options) =>
    run(async () => (await import('./commands/explain.ts')).explain(what, selectors, options, cli)),
  )
}

function addGetCommands(program: Command, cli: LedgerContext, run: Run): void {
  const get = program.command('get').description('list from git alone')
  const packages = get
    .command('packages')
    .description('package revisions as porchctl lists them, with their drift')
    .argument('[packages...]', 'only these')
  const revisionSelection = createSelectionFlags({
    namespace: UNITS_IN_NAMESPACE,
    cluster: 'drift in this cluster only',
    risk: 'only revisions whose highest open risk is one of these',
    state: 'only revisions of packages in one of these states',
  })
  addFlags(
    packages,
    PORCH_FLAGS,
    revisionSelection,
    REPOSITORY_FLAGS,
    WATCH_FLAGS,
    listFlags(),
  ).action((names, options) =>
    run(async () => (await import('./commands/get.ts')).getPackages(names, options, cli)),
  )

  const drifts = get
    .command('drifts')
    .description('one row for each field or object that differs')
    .argument('[packages...]', 'only these')
  const driftSelection = createSelectionFlags({
    namespace: OBJECTS_IN_NAMESPACE,
    cluster: ONE_CLUSTER,
    risk: 'only changes of these risks, comma-separated',
    state: 'only changes of packages in these states',
    since: SINCE_CHANGE,
  })
  addFlags(drifts, driftSelection, REPOSITORY_FLAGS, WATCH_FLAGS, listFlags(REPORT_OUTPUTS)).action(
    (names, options) =>
      run(async () => (await import('./commands/get.ts')).getDrifts(names, options, cli)),
  )
}

function addHistoryCommands(program: Command, cli: LedgerContext, run: Run): void {
  const history = program
    .command('history')
    .description('list past drift, decisions and results; reads git alone')
    .argument('[packages...]', 'paths of packages (default: all)')
  const decided = createSelectionFlags({
    namespace: 'only decisions about an object of this namespace',
    cluster: ONE_CLUSTER,
    risk: 'only decisions whose worst risk is one of these',
    since: 'only what was decided then or later',
  })
  addFlags(history, decided, REPOSITORY_FLAGS, listFlags()).action((packages, options) =>
    run(async () => (await import('./commands/history.ts')).showHistory(packages, options, cli)),
  )

  const report = program
    .command('report')
    .description('print current drift and recent decisions as Markdown; reads git alone')
    .argument('[packages...]', 'paths of packages (default: all)')
    .addOption(
      new Option('-o, --output <format>', 'how to print').choices(['markdown']).default('markdown'),
    )
  const selection = createSelectionFlags({
    cluster: ONE_CLUSTER,
    since: 'decisions since then, a week otherwise',
  })
  addFlags(report, selection, REPOSITORY_FLAGS, TERMINAL_FLAGS).action((packages, options) =>
    run(async () => (await import('./commands/report.ts')).report(packages, options, cli)),
  )
}
