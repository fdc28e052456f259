import type { PackageRepository } from '@backporch/git-store/package-repository'
import { Failure } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'
import type { Clock } from '@backporch/system/clock'
import type { KnownProposal, ProposalMerge, WantedProposal } from '../ports/hosted-forge.ts'

/** The forge may delete the branch at the same time. */
const MOST_PUSHES = 3

/**
 * Atomic: a part of the refs would look like another decision.
 * @param commit as the forge made it
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
    const { refs } = await repository.listRefs(signal)
    const gone =
      refs.get(proposal.ref) === proposal.commit
        ? [{ ref: proposal.ref, from: proposal.commit, to: null }]
        : []
    try {
      return await repository.push([...tags, ...gone, ...along], signal)
    } catch (thrown) {
      if (!(thrown instanceof Failure) || signal.aborted) throw thrown
      if (thrown.code === 'BP4003' && attempt < MOST_PUSHES) continue
      // It, or the next turn, finds and completes the merge.
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

export function createMovedFailure(remote: string, ref: string): Failure {
  return new Failure({
    code: 'BP4003',
    what: 'the branch moved between reading and merging',
    where: remote,
    why: `somebody else moved ${ref}`,
    remedy: 'read the repository again and repeat',
    retry: 'backoff',
  })
}

export function createNotOpenFailure(remote: string, ref: string, why: string): Failure {
  return new Failure({
    code: 'BP2004',
    what: `there is no open pull request of ${ref.replace(/^refs\/heads\//, '')}`,
    where: remote,
    why,
    remedy: 'run backporch scan, which corrects that, then decide',
    retry: 'on-change',
  })
}

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
    remedy: `check the pull request: ${reasons}, or the merge style is not allowed`,
    retry: 'on-change',
    cause: refusal,
  })
}

/** Milliseconds. The hooks of a push take about a second, and much longer on a busy server. */
const LOOKS = [100, 200, 400, 800, 1_600, 3_200, 3_200]

export async function assertStaysOpen(
  known: KnownProposal,
  isOpen: () => Promise<boolean>,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  for (const wait of [...LOOKS, undefined]) {
    if (!(await isOpen())) throw createEndedFailure(known)
    if (wait !== undefined) await clock.sleep(wait, signal)
  }
}

/** The text of an ended proposal is what was reviewed; the turn reads again. */
export function createEndedFailure({ label, ref }: Pick<KnownProposal, 'label' | 'ref'>): Failure {
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
 * Before a proposal is opened: another turn may have opened one of the same commit, on which
 * somebody decided.
 * @param ended the last one of the branch
 * @throws Failure BP4003
 */
export function assertSeen(
  ended: KnownProposal,
  { commit }: Pick<WantedProposal, 'commit'>,
  known: KnownProposal | undefined,
): void {
  if (ended.state !== 'open' && ended.commit === commit && ended.number !== known?.number)
    throw createEndedFailure(ended)
}
