import type { Command } from 'commander'
import type { Resolution } from '../../drift/drift.ts'
import { isSelector } from '../../plan/select-changes.ts'
import { runTurn } from '../../reconcile/run-turn.ts'
import { unitFailures } from '../../reconcile/unit-result.ts'
import { worstExit } from '../exit-status.ts'
import { type CommonOptions, withClusterFlags, withOutputFlags, withRepositoryFlags } from '../options.ts'
import { printFailures } from '../print-failures.ts'
import { printTurn, tellWritten } from '../print-turn.ts'
import { withSession } from '../turn-session.ts'
import type { Run, World } from '../world.ts'

interface ResolveOptions extends CommonOptions {
  readonly message?: string
  readonly dryRun?: boolean
}

const SENTENCES: { readonly [name in Resolution]: string } = {
  Restore: 'propose that git is right: the cluster goes back after the merge',
  Adopt: 'propose that the cluster is right: the authored files are edited to say what runs',
  Release: 'propose that git stops managing the fields',
}

export function addResolutionCommands(program: Command, world: World, run: Run): void {
  for (const resolution of ['Restore', 'Adopt', 'Release'] as const) {
    const command = program
      .command(resolution.toLowerCase())
      .description(SENTENCES[resolution])
      .argument('[package]', 'path of the package; may be left out where there is one')
      .argument('[selectors...]', 'changes by number (1,3), number and field (2:spec.replicas) or object (deployment/web); all otherwise')
      .option('-m, --message <why>', 'why, for the people who review and for the history')
      .option('--dry-run', 'say what would be written, and write nothing')
    withOutputFlags(withClusterFlags(withRepositoryFlags(command)))
    command.action((name: string | undefined, selectors: string[], options: ResolveOptions) =>
      run(() => resolve(resolution, name, selectors, options, world)),
    )
  }
}

async function resolve(
  resolution: Resolution,
  name: string | undefined,
  selectors: readonly string[],
  options: ResolveOptions,
  world: World,
): Promise<number> {
  // `adopt 1,3`: in a repository with one package the path may be left out.
  const lead = name !== undefined && isSelector(name) ? [name] : []
  const packages = name === undefined || lead.length > 0 ? [] : [name]
  return withSession(world, options, packages, async ({ ports, request, progress }) => {
    const wish = { resolution, selectors: [...lead, ...selectors], message: options.message }
    const result = await runTurn(ports, { ...request, wish, dryRun: options.dryRun === true }, world.signal)
    progress.end()
    if (options.output === 'json' || options.output === 'yaml') printTurn(result, options, world)
    else {
      tellWritten(result, options, world)
      printFailures(result.units.flatMap(unitFailures), world)
    }
    const failures = result.units.flatMap(unitFailures)
    return failures.length === 0 ? 0 : worstExit(failures)
  })
}
