/** What follows from whose a branch is. */
import { type GitWrites, NO_WRITES } from './action.ts'
import type { Observation, OpenBranch } from './observation.ts'

/** Nothing on a foreign branch is trusted: its record is the one in the ledger. */
export function asInLedger({ git }: Observation, branch: OpenBranch): OpenBranch {
  const { record, workspace } = branch
  const { report } = git.ledger
  const episode =
    branch.others.length === 0 ? workspace.replace(/^drift-/, '') : record.spec.episode
  const changes = report?.status.episode === episode ? report.spec.changes : []
  return { ...branch, record: { ...record, spec: { ...record.spec, episode, changes } } }
}

/** The ledger gets the branches that it does not know and that were found to be ours; they stay where they are. */
export function foundOurs(branches: readonly OpenBranch[], { updates }: GitWrites): GitWrites {
  const stays = branches.filter(({ ref }) => updates.every((update) => update.ref !== ref))
  return {
    ...NO_WRITES,
    updates: stays.flatMap(({ ref, commit, holds }) =>
      holds === undefined ? [] : [{ ref, from: commit, to: commit, holds }],
    ),
  }
}
