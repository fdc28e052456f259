import type { RepositoryOptions, TerminalOptions } from './flags/options.ts'
import { printNotes } from './print/print-notes.ts'
import type { World } from './world.ts'

/** Commits are read, never files that are not committed: whoever has such files is told, on stderr. */
export async function printWorkTree(
  verb: 'compared' | 'rendered',
  options: Pick<RepositoryOptions & TerminalOptions, 'quiet' | 'verbose' | 'repo'>,
  world: World,
): Promise<void> {
  if (options.quiet === true || /^[a-z+]+:\/\//.test(options.repo)) return
  const text = `the work tree has changes that are not committed; commits are ${verb}, not the work tree`
  if ((await world.workTree(options.repo)) === 'dirty') printNotes([{ cause: 'commit-compared', subject: '', text }], options, world)
}
