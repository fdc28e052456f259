/** What commands share that answer from git alone. */
import { type Ledger, readWholeLedger } from '../reconcile/read-ledger.ts'
import { type RepositoryView, readRepository } from '../reconcile/repository-view.ts'
import type { CommonOptions } from './options.ts'
import type { World } from './world.ts'

export async function readLedgerOf(
  world: World,
  options: CommonOptions,
): Promise<{ readonly view: RepositoryView; readonly ledger: Ledger }> {
  const repository = world.openRepository(options.repo, undefined)
  const view = await readRepository(repository, options.branch, world.signal)
  const ledger = await readWholeLedger(view, world.signal)
  if (options.quiet !== true) for (const problem of ledger.problems) world.stderr.write(`note: ${problem}\n`)
  return { view, ledger }
}

/** Path of a package as people name it: the root package is `.`. */
export function packageLabel(path: string): string {
  return path === '' ? '.' : path
}
