/** Proposals that their branch does not lead to any more: it was renamed, or they go into another base. Their number stays. */
import type { KnownProposal } from '../ports/hosted-forge.ts'

interface Wanted {
  readonly refs: readonly string[]
  /** By full ref name. */
  readonly numbers: ReadonlyMap<string, number> | undefined
}

/**
 * @param found by their branch
 * @param read one by its number, with its branch as it is now; undefined where there is none of this repository
 */
export async function readByNumber(
  found: readonly KnownProposal[],
  { refs, numbers }: Wanted,
  read: (number: number) => Promise<KnownProposal | undefined>,
): Promise<readonly KnownProposal[]> {
  const all = new Map(found.map((proposal) => [proposal.ref, proposal]))
  for (const ref of new Set(refs)) {
    const [known, number] = [all.get(ref), numbers?.get(ref)]
    // A later one of the branch counts.
    if (
      number === undefined ||
      known?.state === 'open' ||
      (known !== undefined && known.number >= number)
    )
      continue
    const proposal = await read(number)
    if (proposal !== undefined)
      all.set(ref, proposal.ref === ref ? proposal : { ...proposal, ref, movedTo: proposal.ref })
  }
  return [...all.values()]
}
