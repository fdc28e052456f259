/** The branch was renamed, or the proposal targets another base. The number stays. */
import type { KnownProposal } from '../ports/hosted-forge.ts'

interface Wanted {
  readonly refs: readonly string[]
  readonly numbers: ReadonlyMap<string, number> | undefined
}

export async function readByNumber(
  found: readonly KnownProposal[],
  { refs, numbers }: Wanted,
  read: (number: number) => Promise<KnownProposal | undefined>,
): Promise<readonly KnownProposal[]> {
  const all = new Map(found.map((proposal) => [proposal.ref, proposal]))
  for (const ref of new Set(refs)) {
    const [known, number] = [all.get(ref), numbers?.get(ref)]
    // A later proposal of the branch takes precedence.
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
