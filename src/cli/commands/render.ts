/** What `kpt fn render` would change, without kpt. */
import { randomBytes } from 'node:crypto'
import { Failure } from '@backporch/kyaml/failure'
import type { Note } from '@backporch/kyaml/note'
import { createRedactionKey, type RedactionKey } from '@backporch/kyaml/redaction'
import { convertToOneLine } from '@backporch/kyaml/text'
import {
  type BuiltUnit,
  type PackageRender,
  type RenderedChange,
  renderPackages,
} from '../../reconcile/repository/sources/render-packages.ts'
import { redactShownText } from '../../record/shown-text.ts'
import type { RenderChoice } from '../../sources/build/render-choice.ts'
import { joinFolderPath } from '../../sources/kustomize/files/kustomization-walk.ts'
import { describeChoice } from '../../sources/registry.ts'
import type { CliContext, TurnContext } from '../context/cli-context.ts'
import type { RENDER_FLAGS, RENDER_OUTPUT_FLAGS } from '../flags/command-flags.ts'
import { getWorstExitStatus } from '../flags/exit-status.ts'
import {
  type FunctionOptions,
  getAllowedFunctions,
  type RepositoryOptions,
  type TerminalOptions,
  type ValuesOf,
} from '../flags/options.ts'
import type { RenderOutput } from '../flags/outputs.ts'
import { printFailures } from '../print/print-failures.ts'
import { printNotes, printWorkTree } from '../print/print-notes.ts'
import { Printer } from '../print/printer.ts'
import { count } from '../print/ranked-changes.ts'
import { formatUnifiedDiff } from '../print/unified-diff.ts'
import { formatPackageLabel } from '../session/ledger-session.ts'

type RenderedPackage = Extract<PackageRender, { readonly output: unknown }>

type RenderOptions = RepositoryOptions &
  FunctionOptions &
  TerminalOptions &
  ValuesOf<typeof RENDER_FLAGS> &
  ValuesOf<typeof RENDER_OUTPUT_FLAGS>

/**
 * @returns 0 if no file would change, 1 if one would, 2 if a package does not render; with an
 * output 0 or 2
 */
export async function render(
  packages: readonly string[],
  options: RenderOptions,
  cli: TurnContext,
): Promise<number> {
  const { output } = options
  if (output.to === 'folder') cli.checkNewFolder(output.path)
  const printer = new Printer(cli, { ...options, output: 'table' })
  const repository = await cli.openRepository(options.repo, {
    readOnly: true,
    trace: printer.trace,
  })
  const renderer = await cli.openRenderer(getAllowedFunctions(options, cli.env))
  const notes: Note[] = []
  const renders = await renderPackages(
    repository,
    {
      branch: options.branch,
      packages,
      folders: options.path ?? [],
      applied: output.to !== 'diff',
      cluster: options.cluster,
      renderer,
      onNote: (note) => notes.push(note),
    },
    cli.signal,
  )
  const failures = renders.flatMap((one) => ('failures' in one ? one.failures : []))
  if (output.to === 'diff') {
    await printWorkTree('rendered', options.repo, printer)
    // Hidden values are comparable within one output only.
    const key = createRedactionKey(randomBytes(32))
    for (const one of renders) printer.write(formatRender(one, key, printer))
  }
  printNotes([...notes, ...renders.flatMap((one) => ('notes' in one ? one.notes : []))], printer)
  printFailures(failures, cli, printer)
  // All or none: the output is likely to be applied.
  if (failures.length > 0) return getWorstExitStatus(failures)
  if (output.to === 'diff')
    return renders.some((one) => 'changes' in one && one.changes.length > 0) ? 1 : 0
  await printWorkTree('rendered', options.repo, printer)
  printRendered(renders, output, cli)
  return 0
}

function printRendered(
  renders: readonly PackageRender[],
  output: Exclude<RenderOutput, { readonly to: 'diff' }>,
  cli: Pick<CliContext, 'stdout' | 'writeNewFolder'>,
): void {
  const rendered = renders.flatMap((one) => ('failures' in one ? [] : [one]))
  if (output.to === 'unwrap')
    cli.stdout.write(
      rendered
        .map((one) => ('built' in one ? one.applied() : one.output.applied()))
        .filter((text) => text !== '')
        .join('---\n'),
    )
  else {
    const byKpt = rendered.map(requireKptRender)
    if (output.to === 'resourcelist') cli.stdout.write(getOnlyPackage(byKpt).output.list())
    else cli.writeNewFolder(output.path, indexFiles(byKpt))
  }
}

function indexFiles(rendered: readonly RenderedPackage[]): ReadonlyMap<string, string> {
  const single = rendered.length === 1
  return new Map(
    rendered.flatMap(({ path, output }) =>
      [...output.files()].map(
        ([file, text]) => [single ? file : joinFolderPath(path, file), text] as const,
      ),
    ),
  )
}

function getOnlyPackage(rendered: readonly RenderedPackage[]): RenderedPackage {
  const [first, second] = rendered
  if (first !== undefined && second === undefined) return first
  throw new Failure({
    code: 'BP1001',
    what: `${rendered.length} packages do not fit into one ResourceList`,
    why: 'paths in a ResourceList are relative to one package',
    remedy: 'name one package, or give -o unwrap or a folder',
  })
}

/** Only kpt's rendering has the file of each resource. */
function requireKptRender(one: RenderedPackage | BuiltUnit): RenderedPackage {
  if (!('built' in one)) return one
  const { path, built } = one
  throw new Failure({
    code: 'BP1001',
    what: `${formatPackageLabel(path)} has no rendered files`,
    why: `it is rendered ${describeChoice(built).how}, which does not tell the file of an object`,
    remedy: 'give -o unwrap',
  })
}

function formatRender(one: PackageRender, key: RedactionKey, printer: Printer): string {
  const { terminal } = printer
  const name = convertToOneLine(formatPackageLabel(one.path), 300)
  if ('failures' in one)
    return `${terminal.getGlyph('removed')} ${terminal.style(name, 'bold')}  does not render\n`
  if ('built' in one) {
    const { built, resources } = one
    const how = `rendered ${describeChoice(built).how}`
    return `${terminal.getGlyph('ok')} ${terminal.style(name, 'bold')}  ${count(resources, 'object')}, ${convertToOneLine(how, 300)}: it has no Kptfile\n`
  }
  const { functions, resources, changes, otherwise } = one
  const mark = changes.length === 0 ? terminal.getGlyph('ok') : terminal.getGlyph('changed')
  const head = `${mark} ${terminal.style(name, 'bold')}  ${count(functions, 'function')}, ${count(resources, 'resource')}, ${count(changes.length, 'file')} would change`
  return [
    head,
    ...otherwise.map(formatOtherwiseLine),
    ...changes.flatMap((change) => patchLines(change, key, printer)),
    '',
  ].join('\n')
}

function formatOtherwiseLine(choice: RenderChoice): string {
  const how = `renders it ${describeChoice(choice).how}`
  return `   a policy ${convertToOneLine(how, 300)}; these are the changes that kpt would make`
}

function patchLines(
  { path, before, after }: RenderedChange,
  key: RedactionKey,
  { terminal, cli }: Printer,
): readonly string[] {
  const [from, to] = [before, after].map((text) =>
    text === undefined ? undefined : { shown: redactShownText(text, key) },
  )
  if (
    (from !== undefined && from.shown === undefined) ||
    (to !== undefined && to.shown === undefined)
  )
    return [
      `   ${convertToOneLine(path, 300)}: changes; its lines are not shown, because it may hold a Secret`,
    ]
  const sides = [
    { name: `git/${path}`, text: from?.shown },
    { name: `rendered/${path}`, text: to?.shown },
  ] as const
  return [
    formatUnifiedDiff(...sides, terminal, cli.env['GITHUB_ACTIONS'] === 'true').replace(/\n$/, ''),
  ]
}
