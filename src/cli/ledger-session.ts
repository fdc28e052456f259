/** What commands share that answer from git alone. */
import { sentenceOf } from '../note.ts'
import type { PackageRepository } from '../ports/package-repository.ts'
import { type Ledger, ledgerOf } from '../reconcile/repository/read-ledger.ts'
import { type RepositoryView, readRepository } from '../reconcile/repository/repository-view.ts'
import type { DriftReport } from '../record/schema.ts'
import { unitName } from '../record/unit-name.ts'
import type { RepositoryOptions, TerminalOptions } from './flags/options.ts'
import { withSeenTimes } from './print/freshness.ts'
import { printNotes } from './print/print-notes.ts'
import { Printer } from './print/printer.ts'
import { traceTo } from './verbose.ts'
import { type ShowOptions, showOrWatch, type WatchResult } from './watch.ts'
import type { World } from './world.ts'

type LedgerOptions = RepositoryOptions & TerminalOptions

export interface LedgerReading {
  readonly view: RepositoryView
  readonly ledger: Ledger
}

export async function readLedgerOf(world: World, options: LedgerOptions): Promise<LedgerReading> {
  return readFrom(await openLedger(world, options), world, options, new Set())
}

/** Reads once, or with `--watch` whenever a ref of the repository has moved: a look that finds none costs one list of refs. */
export async function showLedger(
  world: World,
  options: LedgerOptions & ShowOptions,
  observe: (reading: LedgerReading) => Promise<WatchResult>,
): Promise<number> {
  const repository = await openLedger(world, options)
  const reported = new Set<string>()
  let observed: ReadonlyMap<string, unknown> | undefined
  return showOrWatch(world, options, async () => {
    if (observed !== undefined && sameRefs(observed, (await repository.refs(world.signal)).refs)) return undefined
    const reading = await readFrom(repository, world, options, reported)
    const answer = await observe(reading)
    observed = reading.view.refs
    return answer
  })
}

async function openLedger(world: World, options: LedgerOptions): Promise<PackageRepository> {
  return world.openRepository(options.repo, undefined, traceTo(world, options))
}

async function readFrom(
  repository: PackageRepository,
  world: World,
  options: LedgerOptions,
  reported: Set<string>,
): Promise<LedgerReading> {
  const view = await readRepository(repository, options.branch, world.signal, { folders: options.path ?? [] })
  const ledger = ledgerOf(view)
  printNotes(
    ledger.problems.filter((note) => !reported.has(sentenceOf(note))),
    new Printer(world, options),
  )
  for (const note of ledger.problems) reported.add(sentenceOf(note))
  return { view, ledger: withSeenTimes(ledger, view, world.clock.now()) }
}

function sameRefs(before: ReadonlyMap<string, unknown>, now: ReadonlyMap<string, unknown>): boolean {
  return before.size === now.size && [...now].every(([ref, commit]) => before.get(ref) === commit)
}

/** A package as people name it. @param reports where the name of one without a path may stand */
export function packageLabel(path: string, reports: readonly DriftReport[] = []): string {
  return unitName(reports.find(({ spec }) => spec.unit.package === path)?.spec.unit ?? { package: path })
}
