/** Commands that look: their arguments and flags. What they do is loaded when one of them runs, so that help and completion are quick. */
import { type Command, Option } from 'commander'
import type { RenderOptions } from './commands/render.ts'
import {
  type CommonOptions,
  collect,
  withAuditFlag,
  withClusterFlags,
  withExitFlags,
  withForgeFlag,
  withFunctionFlags,
  withOutputFlags,
  withRepositoryFlags,
  withTerminalFlags,
  withWatchFlags,
} from './flags/options.ts'
import { DOCUMENT_OUTPUTS, REPORT_OUTPUTS, renderOutputOption, TEXT_OUTPUTS } from './flags/outputs.ts'
import { withSelectionFlags } from './flags/selection-flags.ts'
import type { Run, World } from './world.ts'

const UNITS_IN_NAMESPACE = 'only packages that had objects in this namespace when they were last observed'
const SINCE_CHANGE = 'only changes written at this time or later; changes without a time are kept'

export function addReadCommands(program: Command, world: World, run: Run): void {
  const diff = program
    .command('diff')
    .description('show the differences between packages in git and the cluster; reads only')
    .argument('[packages...]', 'paths of packages (default: all)')
    .option('--show-ignored', 'also list ignored and released differences, and those where git is ahead or behind')
    .option('--unmanaged', 'also list unmanaged objects in the namespaces of the packages; they are not drift')
    .option(
      '--yaml',
      'print a unified diff for each object; BACKPORCH_EXTERNAL_DIFF names another diff program, as KUBECTL_EXTERNAL_DIFF for kubectl',
    )
  withSelectionFlags(diff, {
    namespace: 'only objects of this namespace (default: all, also objects without a namespace)',
    risk: 'only changes of these risks, comma-separated; hidden changes do not affect the exit code',
    since: SINCE_CHANGE,
  })
  withExitFlags(withOutputFlags(withWatchFlags(withAuditFlag(withClusterFlags(withRepositoryFlags(diff)))), REPORT_OUTPUTS))
  diff.action((packages: string[], options: CommonOptions) =>
    run(async () => (await import('./commands/diff.ts')).diff(packages, options, world)),
  )

  const status = program
    .command('status')
    .description('state of each package in each cluster, from git alone')
    .argument('[packages...]', 'paths of packages (default: all)')
  withSelectionFlags(status, {
    namespace: UNITS_IN_NAMESPACE,
    cluster: 'only this cluster',
    risk: 'only packages whose highest open risk is one of these, and Unknown packages',
    state: 'only packages in these states; another package in state Unknown still gives exit code 3',
    since: 'only packages whose state began at this time or later',
  })
  withExitFlags(withOutputFlags(withWatchFlags(withRepositoryFlags(status)), REPORT_OUTPUTS))
  status.action((packages: string[], options: CommonOptions) =>
    run(async () => (await import('./commands/status.ts')).status(packages, options, world)),
  )

  addGetCommands(program, world, run)
  addHistoryCommand(program, world, run)
  addReportCommand(program, world, run)

  const check = program
    .command('check')
    .description('check whether backporch can work here: git, forge, cluster, syncer, policy; writes nothing')
    .option('--pre', 'before the installation: skip the checks that only writing needs')
  withOutputFlags(withClusterFlags(withForgeFlag(withRepositoryFlags(check))), DOCUMENT_OUTPUTS)
  check.action((options: CommonOptions) => run(async () => (await import('./commands/check.ts')).check(options, world)))

  const render = program
    .command('render')
    .description(
      'show what kpt fn render would change in the files of packages, or print its output with -o; does not need kpt, reads git alone',
    )
    .argument('[packages...]', 'paths of packages (default: all)')
  render
    .option('--cluster <name>', 'with -o: as the policies of this cluster render it')
    .option('--allow-render <program>', 'with -o: a program that may render: kubectl for kustomize (repeatable)', collect)
  withTerminalFlags(withFunctionFlags(withRepositoryFlags(render)).addOption(renderOutputOption()))
  render.action((packages: string[], options: RenderOptions) =>
    run(async () => (await import('./commands/render.ts')).render(packages, options, world)),
  )

  const explain = program
    .command('explain')
    .description('explain a line of diff, or a code (explain BP2001, SEC-RBAC, preset:hpa, note:secret-in-git)')
    .argument('<what>', 'path of a package, or a code')
    .argument('[selectors...]', 'lines by number, number and field, or object, also of ignored differences (default: all)')
  withOutputFlags(withAuditFlag(withClusterFlags(withRepositoryFlags(explain))), TEXT_OUTPUTS)
  explain.action((what: string, selectors: string[], options: CommonOptions) =>
    run(async () => (await import('./commands/explain.ts')).explain(what, selectors, options, world)),
  )
}

function addGetCommands(program: Command, world: World, run: Run): void {
  const get = program.command('get').description('list from git alone')
  const packages = get
    .command('packages')
    .description('package revisions as porchctl lists them, with their drift')
    .argument('[packages...]', 'only these')
  withSelectionFlags(packages, {
    namespace: UNITS_IN_NAMESPACE,
    cluster: 'drift in this cluster only',
    risk: 'only revisions whose highest open risk is one of these',
    state: 'only revisions of packages in one of these states',
  })
  withOutputFlags(withWatchFlags(withRepositoryFlags(packages)))
  packages.action((names: string[], options: CommonOptions) =>
    run(async () => (await import('./commands/get.ts')).getPackages(names, options, world)),
  )

  const drifts = get.command('drifts').description('one row for each field or object that differs').argument('[packages...]', 'only these')
  withSelectionFlags(drifts, {
    namespace: 'only objects of this namespace (default: all, also objects without a namespace)',
    cluster: 'only this cluster',
    risk: 'only changes of these risks, comma-separated',
    state: 'only changes of packages in these states',
    since: SINCE_CHANGE,
  })
  withOutputFlags(withWatchFlags(withRepositoryFlags(drifts)), REPORT_OUTPUTS)
  drifts.action((names: string[], options: CommonOptions) =>
    run(async () => (await import('./commands/get.ts')).getDrifts(names, options, world)),
  )

  const ignores = get.command('ignores').description('ignore rules: where, for what, why, until when, and what each hides now')
  withOutputFlags(withWatchFlags(withRepositoryFlags(ignores)))
  ignores.action((options: CommonOptions) => run(async () => (await import('./commands/get-ignores.ts')).getIgnores(options, world)))
}

function addHistoryCommand(program: Command, world: World, run: Run): void {
  const history = program
    .command('history')
    .description('list past drift, decisions and results; reads git alone')
    .argument('[packages...]', 'paths of packages (default: all)')
  withSelectionFlags(history, {
    namespace: 'only decisions about an object of this namespace',
    cluster: 'only this cluster',
    risk: 'only decisions whose worst risk is one of these',
    since: 'only what was decided then or later',
  })
  withOutputFlags(withRepositoryFlags(history))
  history.action((packages: string[], options: CommonOptions) =>
    run(async () => (await import('./commands/history.ts')).history(packages, options, world)),
  )
}

function addReportCommand(program: Command, world: World, run: Run): void {
  const report = program
    .command('report')
    .description('print current drift and recent decisions as Markdown; reads git alone')
    .argument('[packages...]', 'paths of packages (default: all)')
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['markdown']).default('markdown'))
  withSelectionFlags(report, { cluster: 'only this cluster', since: 'decisions since then, a week otherwise' })
  withTerminalFlags(withRepositoryFlags(report))
  report.action((packages: string[], options: CommonOptions) =>
    run(async () => (await import('./commands/report.ts')).report(packages, options, world)),
  )
}
