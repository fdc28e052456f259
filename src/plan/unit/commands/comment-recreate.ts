/** A branch with foreign commits, recreated because a person with write access requested it. */
import { Failure } from '@backporch/kyaml/failure'
import type { Observation, OpenBranch } from '../../observation/observation.ts'

/**
 * The observation as if the unit's foreign branches were ours and empty: planning then rebuilds them, by the policy, and
 * replaces exactly the observed commit. Nothing on such a branch is trusted: not its choices, and not its reasons.
 * @throws Failure BP2009 while not everything could be observed
 */
export function withoutForeignCommits(observed: Observation): Observation {
  if (observed.incomplete.length > 0) throw notObserved(observed)
  return {
    ...observed,
    git: {
      ...observed.git,
      branches: observed.git.branches.map((branch) =>
        branch.foreign ? blank(branch, observed) : branch,
      ),
    },
  }
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

function blank(branch: OpenBranch, { key, cluster }: Observation): OpenBranch {
  const { message: _message, plannedBy: _by, plannedBefore: _before, ...spec } = branch.record.spec
  const began = TIME.test(spec.began) ? spec.began : cluster.observedAt
  const episode = branch.workspace.slice('drift-'.length)
  const text = { ...spec, changes: [], fingerprint: '', keyId: key.id, began, episode }
  return { ...branch, foreign: false, record: { ...branch.record, spec: text } }
}

function notObserved({ unit }: Observation): Failure {
  return new Failure({
    code: 'BP2009',
    what: `the branch of ${unit.packageName} is not built anew`,
    why: 'not everything that it is about could be observed, so it would say less than there is',
    remedy: 'say it again when the cluster can be read',
    retry: 'on-change',
  })
}
