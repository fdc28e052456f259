import type { OpenedProposal } from '@backporch/forge/hosted-forge'
import type { LedgerFile } from '../../plan/observation/action.ts'
import { type PushedBranch, setPullRequest } from '../../record/pushed-branch.ts'
import { createPushedFile } from './apply/apply-writes.ts'

/**
 * @param opened by short branch name
 * @param pushed by full ref name
 */
export function numberBranches(
  opened: ReadonlyMap<string, OpenedProposal>,
  pushed: ReadonlyMap<string, PushedBranch>,
): readonly { readonly file: LedgerFile; readonly line: string }[] {
  return [...opened].flatMap(([branch, { number, url }]) => {
    const known = number === undefined ? undefined : pushed.get(`refs/heads/${branch}`)
    const kept =
      known === undefined || number === undefined
        ? undefined
        : setPullRequest(known, { number, url })
    return kept === undefined
      ? []
      : [{ file: createPushedFile(kept), line: `#${number} is of ${branch}` }]
  })
}
