/** `backporch init`: its flags. What it does is loaded when it runs. */
import type { Command } from 'commander'
import type { InitOptions } from './commands/init.ts'
import { withClusterFlags, withForgeFlag, withOutputFlags, withRepositoryFlags } from './flags/options.ts'
import type { Run, World } from './world.ts'

export function addInitCommand(program: Command, world: World, run: Run): void {
  const init = program
    .command('init')
    .description('enrol a repository: observe, print what to expect, and propose a policy on the branch drift/configure')
    .option('-y, --yes', 'do not ask')
    .option('--dry-run', 'print everything and write nothing')
    .option('--again', 'propose again after the proposal was closed')
    .option('--remove', 'remove an unmerged proposal: its branch and its pull request')
    .option('--print-ruleset', 'print only the commands that protect the base branch and the ledger')
    .option('--bot <name>', 'account of Backporch, for --print-ruleset: the id of its App on GitHub, its login on Gitea')
  withOutputFlags(withClusterFlags(withForgeFlag(withRepositoryFlags(init))), ['table', 'json', 'yaml'])
  init.action((options: InitOptions) => run(async () => (await import('./commands/init.ts')).init(options, world)))
}
