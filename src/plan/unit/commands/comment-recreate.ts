import { Failure } from '@backporch/kyaml/failure'
import type { Observation, OpenBranch } from '../../observation/observation.ts'

/**
 * As if the unit's foreign branches were Backporch's and empty: planning rebuilds them by the
 * policy, and replaces exactly the observed commit. Neither choices nor reasons on such a branch
 * are trusted.
 * @throws Failure BP2009 while the observation is incomplete
 */
export function omitForeignCommits(observed: Observation): Observation {
  if (observed.incomplete.length > 0) throw createNotObservedFailure(observed)
  return {
    ...observed,
    git: {
      ...observed.git,
      branches: observed.git.branches.map((branch) =>
        branch.foreign ? clearBranch(branch, observed) : branch,
      ),
    },
  }
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

function clearBranch(branch: OpenBranch, { key, cluster }: Observation): OpenBranch {
  const { message: _message, plannedBy: _by, plannedBefore: _before, ...spec } = branch.record.spec
  const began = TIME.test(spec.began) ? spec.began : cluster.observedAt
  const episode = branch.workspace.slice('drift-'.length)
  const text = { ...spec, changes: [], fingerprint: '', keyId: key.id, began, episode }
  return { ...branch, foreign: false, record: { ...branch.record, spec: text } }
}

function createNotObservedFailure({ unit }: Observation): Failure {
  return new Failure({
    code: 'BP2009',
    what: `the branch of ${unit.packageName} is not rebuilt`,
    why: 'not all of its objects could be observed, so the branch would be incomplete',
    remedy: 'repeat the command when the cluster can be read',
    retry: 'on-change',
  })
}
