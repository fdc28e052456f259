/**
 * Checks that open pull requests have `drift/fresh`, because a repository may require it of each
 * one.
 */
import type { Forge } from '@backporch/forge/hosted-forge'
import type { Finding } from '@backporch/kyaml/note'
import type { RepositoryView } from '../repository/repository-view.ts'
import { countWaitingHeads } from '../turn/apply/write-open-heads.ts'

const FIX =
  'run backporch scan or the controller, which write it; the account needs the right to write statuses'

/**
 * Empty if the forge has no pull requests.
 * @throws Failure BP50xx
 */
export async function checkHeads(
  forge: Forge,
  view: Pick<RepositoryView, 'baseBranch' | 'refs'>,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const waiting = await countWaitingHeads(forge, view, signal)
  const check = 'open-heads'
  const { baseBranch } = view
  if (waiting === undefined) return []
  if (waiting === 0)
    return [
      {
        check,
        state: 'passed',
        message: `pull requests: each open one into ${baseBranch} has drift/fresh`,
      },
    ]
  const count = waiting === 1 ? '1 open one' : `${waiting} open ones`
  const message = `pull requests: ${count} into ${baseBranch} without drift/fresh, which must not be required before they have it`
  return [{ check, state: 'warning', message, fix: FIX }]
}
