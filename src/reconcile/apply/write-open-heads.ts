/** Statuses of the pull requests that are no proposals, and of merge groups: after everything that is about drift. */
import { asFailure } from '../../failure.ts'
import type { Note } from '../../note.ts'
import { planOpenHeads } from '../../plan/forge/plan-open-heads.ts'
import type { Forge } from '../../ports/hosted-forge.ts'
import { FRESH } from '../../proposal/text/proposal-statuses.ts'
import type { RepositoryView } from '../repository/repository-view.ts'
import { isHosted } from './is-hosted.ts'

export interface WrittenHeads {
  /** How many heads wait for a later pass. */
  readonly waiting: number
  /** Why a status was not written. */
  readonly notes: readonly Note[]
}

/** Writes nothing before the repository has a policy. @throws only the reason of `signal` */
export async function writeOpenHeads(
  forge: Forge,
  { baseBranch, refs, policies }: Pick<RepositoryView, 'baseBranch' | 'refs' | 'policies'>,
  signal: AbortSignal,
): Promise<WrittenHeads> {
  let waiting = 0
  if (!isHosted(forge) || policies.policies.length === 0) return { waiting, notes: [] }
  try {
    const planned = planOpenHeads(await forge.readOpenHeads({ baseBranch, context: FRESH, refs }, signal))
    waiting = planned.waiting + planned.writes.length
    for (const { commit, status } of planned.writes) {
      await forge.ensureStatuses(commit, [status], signal)
      waiting -= 1
    }
    return { waiting, notes: [] }
  } catch (thrown) {
    signal.throwIfAborted()
    const { code, message } = asFailure(thrown)
    return { waiting, notes: [{ cause: 'status-not-written', subject: '', text: `${code}: ${message}` }] }
  }
}

/** How many heads have no status yet; undefined where the forge has no pull requests. @throws Failure BP50xx */
export async function countWaitingHeads(
  forge: Forge,
  { baseBranch, refs }: Pick<RepositoryView, 'baseBranch' | 'refs'>,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (!isHosted(forge)) return undefined
  const { writes, waiting } = planOpenHeads(await forge.readOpenHeads({ baseBranch, context: FRESH, refs }, signal))
  return writes.length + waiting
}
