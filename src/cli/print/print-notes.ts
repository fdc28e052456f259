import { formatNoteSentence, groupNotes, groupSentence, type Note } from '@backporch/kyaml/note'
import { convertToOneLine } from '@backporch/kyaml/text'
import type { NotePart } from '../../record/documents/drift-report-list.ts'
import type { Printer } from './printer.ts'

export const MOST_LINES = 5

/** Without `verbose`, one per cause. */
export function noteLines(
  notes: readonly Note[],
  { verbose }: { readonly verbose?: boolean },
): readonly string[] {
  const groups = groupNotes(notes)
  // `explain` accepts the cause.
  if (verbose === true)
    return [...new Set(notes.map((note) => `${formatNoteSentence(note)} [${note.cause}]`))]
  const total = groups.reduce((sum, { count }) => sum + count, 0)
  if (total === groups.length && total <= MOST_LINES) return groups.map(groupSentence)
  const shown = groups.slice(0, MOST_LINES - 1)
  const hidden = groups.length - shown.length
  const causes = hidden === 0 ? '' : `, with ${hidden} more ${hidden === 1 ? 'cause' : 'causes'}`
  return [...shown.map(groupSentence), `${total} notes in all${causes}; -v prints each`]
}

export function printNotes(notes: readonly Note[], printer: Printer): void {
  for (const line of noteLines(notes, printer))
    printer.hint(`note: ${convertToOneLine(line, 2_000)}`)
}

/** With `verbose` every note is among the examples. */
export function buildNotesPart(
  notes: readonly Note[],
  { verbose }: { readonly verbose?: boolean },
): { readonly notes?: NotePart[] } {
  if (notes.length === 0) return {}
  const groups = groupNotes(notes, verbose === true ? Number.POSITIVE_INFINITY : undefined)
  return {
    notes: groups.map(({ cause, count, examples }) => ({
      cause,
      count,
      examples: examples.map((one) => ({ ...one })),
    })),
  }
}

/** Uncommitted changes are never read. */
export async function printWorkTree(
  verb: 'compared' | 'rendered',
  repo: string,
  printer: Printer,
): Promise<void> {
  if (printer.quiet || /^[a-z+]+:\/\//.test(repo)) return
  const text = `the work tree has changes that are not committed; commits are ${verb}, not the work tree`
  if ((await printer.cli.workTree(repo)) === 'dirty')
    printNotes([{ cause: 'commit-compared', subject: '', text }], printer)
}
