/** What a preview says where the head comes from a fork: nothing that it names is run, and no cluster is asked about what it declares. */
import { Failure, type FailureCode } from '@backporch/kyaml/failure'

/** A program, an image or a module would have to run. */
const NOT_RUN: ReadonlySet<FailureCode> = new Set(['BP1201', 'BP1206', 'BP1208'])

export function forkFailure(failure: Failure): Failure {
  if (!NOT_RUN.has(failure.code)) return failure
  const { code, what, where } = failure
  return new Failure({
    code,
    what,
    ...(where === undefined ? {} : { where }),
    why: 'the head comes from a fork, and nothing that it names is run, whatever the operator allows for the repository itself',
    remedy: 'review it, and push the commits to a branch of the repository',
    retry: 'on-change',
  })
}

/** Its author could ask the cluster about any object by declaring it. */
export function notReadForFork(): Failure {
  return new Failure({
    code: 'BP3012',
    what: 'what is live was not read',
    why: 'the head comes from a fork, whose author may name any object',
    remedy: 'review it, and push the commits to a branch of the repository',
    retry: 'on-change',
  })
}
