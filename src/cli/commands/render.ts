/** `render`: what `kpt fn render` would change in the files of packages, as kpt would write them, without kpt. */
import { formatPatch, OMIT_HEADERS, structuredPatch } from 'diff'
import { type PackageRender, type RenderedChange, renderPackages } from '../../reconcile/render-packages.ts'
import { oneLine } from '../../record/one-line.ts'
import { worstExit } from '../exit-status.ts'
import { packageLabel } from '../ledger-session.ts'
import { allowedFunctions, type CommonOptions } from '../options.ts'
import { printFailures } from '../print-failures.ts'
import { Terminal } from '../terminal.ts'
import { traceTo } from '../verbose.ts'
import type { World } from '../world.ts'

/** @returns 0 where no file would change, 1 where one would, 2 where a package does not render */
export async function render(packages: readonly string[], options: CommonOptions, world: World): Promise<number> {
  const repository = await world.openRepository(options.repo, undefined, traceTo(world, options))
  const renderer = await world.openRenderer(allowedFunctions(options))
  const renders = await renderPackages(repository, { branch: options.branch, packages, renderer }, world.signal)
  const terminal = new Terminal(world.stdout, { color: options.color, ascii: options.ascii === true, env: world.env })
  for (const one of renders) world.stdout.write(formatRender(one, terminal))
  const failures = renders.flatMap((one) => ('failures' in one ? one.failures : []))
  printFailures(failures, world)
  if (failures.length > 0) return worstExit(failures)
  return renders.some((one) => 'changes' in one && one.changes.length > 0) ? 1 : 0
}

function formatRender(one: PackageRender, terminal: Terminal): string {
  const name = oneLine(packageLabel(one.path), 300)
  if ('failures' in one) return `${terminal.glyph('removed')} ${terminal.style(name, 'bold')}  does not render\n`
  const { functions, resources, changes } = one
  const mark = changes.length === 0 ? terminal.glyph('ok') : terminal.glyph('changed')
  const head = `${mark} ${terminal.style(name, 'bold')}  ${counted(functions, 'function')}, ${counted(resources, 'resource')}, ${counted(changes.length, 'file')} would change`
  return [head, ...changes.flatMap((change) => patchLines(change, terminal)), ''].join('\n')
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Of a file with a Secret in it no line is shown. */
function patchLines({ path, before, after }: RenderedChange, terminal: Terminal): readonly string[] {
  if (/^["']?kind["']?:\s*["']?Secret\b/m.test(`${before ?? ''}\n${after ?? ''}`))
    return [`   ${path}: changes, and holds a Secret, so its lines are not shown`]
  const [from, to] = [before === undefined ? '/dev/null' : `git/${path}`, after === undefined ? '/dev/null' : `rendered/${path}`]
  const patch = structuredPatch(from, to, before ?? '', after ?? '', undefined, undefined, { context: 3 })
  const lines = formatPatch(patch, OMIT_HEADERS).replace(/\n$/, '').split('\n')
  const heads = [`--- ${from}`, `+++ ${to}`].map((line) => terminal.style(oneLine(line, 400), 'bold'))
  return [...heads, ...lines.map((line) => styled(oneLine(line, 2_000), terminal))]
}

function styled(line: string, terminal: Terminal): string {
  if (line.startsWith('+')) return terminal.style(line, 'green')
  if (line.startsWith('-')) return terminal.style(line, 'red')
  return line
}
