/**
 * Writes statuses of merge groups and of pull requests that are not proposals, after everything
 * about drift.
 */
import type { Forge } from '@backporch/forge/hosted-forge'
import { convertToFailure } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'
import type { Note } from '@backporch/kyaml/note'
import { planOpenHeads } from '../../../plan/turn/forge/plan-open-heads.ts'
import { FRESH } from '../../../proposal/text/proposal-statuses.ts'
import { isHosted } from '../../repository/is-hosted.ts'
import type { RepositoryView } from '../../repository/repository-view.ts'

export interface WrittenHeads {
  readonly waiting: number
  readonly notes: readonly Note[]
}

/** GitHub accepts a thousand statuses of a commit per context. */
export type Refusals = Map<ObjectId, Note>

/** With any other code the next request has the same answer. */
const REFUSED = 'BP5006'

/**
 * Writes nothing until the repository has a policy.
 * @param refusals kept from pass to pass: those heads are not retried
 * @throws only the reason of `signal`
 */
export async function writeOpenHeads(
  forge: Forge,
  { baseBranch, refs, policies }: Pick<RepositoryView, 'baseBranch' | 'refs' | 'policies'>,
  refusals: Refusals,
  signal: AbortSignal,
): Promise<WrittenHeads> {
  let waiting = 0
  const notes: Note[] = []
  if (!isHosted(forge) || policies.policies.length === 0) return { waiting, notes }
  try {
    const planned = planOpenHeads(
      await forge.readOpenHeads({ baseBranch, context: FRESH, refs }, signal),
      refusals,
    )
    const refused = new Set(planned.refused)
    for (const [commit, note] of refusals)
      refused.has(commit) ? notes.push(note) : refusals.delete(commit)
    waiting = planned.waiting + planned.refused.length + planned.writes.length
    for (const { commit, status } of planned.writes) {
      try {
        await forge.ensureStatuses(commit, [status], signal)
        waiting -= 1
      } catch (thrown) {
        signal.throwIfAborted()
        if (convertToFailure(thrown).code !== REFUSED) throw thrown
        refusals.set(commit, createNote(thrown, commit.slice(0, 8)))
        notes.push(createNote(thrown, commit.slice(0, 8)))
      }
    }
    return { waiting, notes }
  } catch (thrown) {
    signal.throwIfAborted()
    return { waiting, notes: [...notes, createNote(thrown, '')] }
  }
}

function createNote(thrown: unknown, subject: string): Note {
  const { code, message } = convertToFailure(thrown)
  return { cause: 'status-not-written', subject, text: `${code}: ${message}` }
}

/**
 * Heads without a status; undefined if the forge has no pull requests.
 * @throws Failure BP50xx
 */
export async function countWaitingHeads(
  forge: Forge,
  { baseBranch, refs }: Pick<RepositoryView, 'baseBranch' | 'refs'>,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (!isHosted(forge)) return undefined
  const { writes, waiting } = planOpenHeads(
    await forge.readOpenHeads({ baseBranch, context: FRESH, refs }, signal),
  )
  return writes.length + waiting
}
