/** Whether what came onto the base branch is what we proposed: whoever merges decides, and what nobody proposed is never settled by itself. */
import type { Landing } from '../plan/observation.ts'
import type { FileChange } from '../ports/package-repository.ts'
import { hashOf, pushedContent } from '../record/pushed-branch.ts'
import { changesBetween } from './changes-between.ts'
import { type RepositoryView, readPushed } from './repository-view.ts'

export interface MergedText {
  /** Full names of the branches that the record may have been on. */
  readonly refs: readonly string[]
  /** Of the record, as it is on the base branch. */
  readonly text: string
  readonly landing: Landing
}

/**
 * By the record, by the head commit that the forge or a merge commit names, and where nobody names one by what the landing changed.
 * @returns why it is not, as a part of a sentence; undefined where it is
 */
export async function whyAltered(
  view: RepositoryView,
  { refs, text, landing }: MergedText,
  signal: AbortSignal,
): Promise<string | undefined> {
  const pushed = await readPushed(view, refs, signal)
  const commits = [...pushed.values()].flatMap(({ spec }) => spec.commits)
  if (commits.length === 0) return 'the ledger does not know what was proposed'
  const record = hashOf(new TextEncoder().encode(text))
  if (!commits.some(({ records }) => records.includes(record))) return 'its record is none that backporch pushed'
  const isOurs = (id: string): boolean => commits.some(({ commit }) => commit === id)
  const head = refs.map((ref) => view.proposals.get(ref)).find((proposal) => proposal?.state === 'merged')?.commit
  if (head !== undefined) return isOurs(head) ? undefined : `${head.slice(0, 7)}, which was merged, is no commit that backporch pushed`
  const { parents } = await view.repository.commit(landing.commit, signal)
  if ([landing.commit, ...parents.slice(1)].some(isOurs)) return undefined
  const { content } = pushedContent(await changesBy(view, landing, signal))
  return commits.some((known) => known.content === content) ? undefined : 'its files are not those that backporch pushed'
}

/** What the landing changes against its first parent. */
async function changesBy({ repository }: RepositoryView, { commit }: Landing, signal: AbortSignal): Promise<FileChange[]> {
  const [parent] = (await repository.commit(commit, signal)).parents
  return changesBetween(repository, parent, commit, signal)
}
