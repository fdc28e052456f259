import { shortenBranch } from '@backporch/git-store/ref-name'
import { Failure } from '@backporch/kyaml/failure'
import type { Observation, OpenBranch } from './observation.ts'

export function createCannotChangeFailure(
  { git, unit }: Observation,
  open: Pick<OpenBranch, 'ref'> | undefined,
  outcome: 'foreign' | 'frozen',
): Failure {
  const [unreadable] = git.unreadable
  if (open === undefined && unreadable !== undefined) {
    return new Failure({
      code: unreadable.code,
      what: `nothing is proposed for ${unit.packageName} in ${unit.cluster}`,
      where: unreadable.where,
      why: `its record cannot be read: ${unreadable.why}`,
      remedy:
        unreadable.location === 'branch'
          ? 'merge or delete the branch by hand, then scan again'
          : 'restore the file from the commit that wrote it',
    })
  }
  const branch = open === undefined ? unit.packageName : shortenBranch(open.ref)
  return new Failure({
    code: 'BP2009',
    what: `the plan of ${branch} cannot be changed`,
    where: branch,
    why:
      outcome === 'foreign'
        ? 'the branch has a commit that backporch did not make'
        : 'not all of its objects could be observed',
    remedy:
      outcome === 'foreign'
        ? 'merge or delete the branch by hand, then scan again'
        : 'scan again when the cluster can be read',
  })
}
