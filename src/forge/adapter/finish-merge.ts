/** Decisions on forges with pages: the push after the forge's own merge, and the refusals that they share. */
import type { PackageRepository } from '@backporch/git-store/package-repository'
import { Failure } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'
import type { Clock } from '@backporch/system/clock'
import type { KnownProposal, ProposalMerge, WantedProposal } from '../ports/hosted-forge.ts'

/** The forge may delete the branch at the same time. */
const MOST_PUSHES = 3

/**
 * Pushes tag, branch and ledger together or not at all: half of it would look like another decision.
 * @param commit the merge, as the forge made it
 * @throws Failure of the push, which says that the merge stands
 */
export async function finishMerge(
  repository: PackageRepository,
  { proposal, tag, along }: ProposalMerge,
  commit: ObjectId,
  signal: AbortSignal,
): Promise<void> {
  const tags = tag === undefined ? [] : [{ ref: tag, from: null, to: commit }]
  for (let attempt = 1; ; attempt += 1) {
    const { refs } = await repository.refs(signal)
    const gone =
      refs.get(proposal.ref) === proposal.commit
        ? [{ ref: proposal.ref, from: proposal.commit, to: null }]
        : []
    try {
      return await repository.push([...tags, ...gone, ...along], signal)
    } catch (thrown) {
      if (!(thrown instanceof Failure) || signal.aborted) throw thrown
      if (thrown.code === 'BP4003' && attempt < MOST_PUSHES) continue
      // Another turn wrote the ledger meanwhile. It, or the next one, finds the merge and completes it.
      if (thrown.code === 'BP4003') return
      const what = `the pull request is merged, but ${tag === undefined ? 'the ledger' : `${tag} and the ledger`} could not be pushed`
      throw new Failure({
        ...thrown.toJSON(),
        what,
        remedy: 'run backporch scan: it completes the merge',
        cause: thrown,
      })
    }
  }
}

export function movedBeforeMerge(remote: string, ref: string): Failure {
  return new Failure({
    code: 'BP4003',
    what: 'the branch moved between reading and merging',
    where: remote,
    why: `somebody else moved ${ref}`,
    remedy: 'read the repository again and repeat',
    retry: 'backoff',
  })
}

/** @param why of the proposal of the branch `ref` */
export function notOpen(remote: string, ref: string, why: string): Failure {
  return new Failure({
    code: 'BP2004',
    what: `there is no open pull request of ${ref.replace(/^refs\/heads\//, '')}`,
    where: remote,
    why,
    remedy: 'run backporch scan, which puts that right, then decide',
    retry: 'on-change',
  })
}

/** @param what that the forge does not merge @param reasons for a refusal, as a clause */
export function mergeRefused(
  remote: string,
  what: string,
  reasons: string,
  refusal: unknown,
): Failure {
  return new Failure({
    code: 'BP4002',
    what,
    where: remote,
    why: refusal instanceof Failure ? refusal.why : 'its rules are not met',
    remedy: `look at the pull request: ${reasons}, or the merge style is not allowed`,
    retry: 'on-change',
    cause: refusal,
  })
}

/** Milliseconds. The hooks of a push take about a second, and on a busy server many. */
const LOOKS = [100, 200, 400, 800, 1_600, 3_200, 3_200]

/** See `HostedForge.assertStaysOpen`. */
export async function assertStaysOpen(
  known: KnownProposal,
  isOpen: () => Promise<boolean>,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  for (const wait of [...LOOKS, undefined]) {
    if (!(await isOpen())) throw endedMeanwhile(known)
    if (wait !== undefined) await clock.sleep(wait, signal)
  }
}

/** The text of an ended proposal is what was reviewed. Nothing changes it any more, and the turn reads again. */
export function endedMeanwhile({ label, ref }: Pick<KnownProposal, 'label' | 'ref'>): Failure {
  return new Failure({
    code: 'BP4003',
    what: `${label} ended while the turn was at work`,
    where: ref,
    why: 'somebody merged or closed it',
    remedy: 'read the repository and the forge again and repeat',
    retry: 'backoff',
  })
}

/**
 * Before a proposal is opened: another turn may have opened one of the same commit meanwhile, and somebody has decided about it.
 * @param ended the last one of the branch @param known what this turn observed @throws Failure BP4003
 */
export function assertSeen(
  ended: KnownProposal,
  { commit }: Pick<WantedProposal, 'commit'>,
  known: KnownProposal | undefined,
): void {
  if (ended.state !== 'open' && ended.commit === commit && ended.number !== known?.number)
    throw endedMeanwhile(ended)
}
