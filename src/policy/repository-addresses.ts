/** The addresses under which syncers know the repository: those that are read, and those that its policies name (`alsoKnownAs`). */
import { sameRepository } from '../syncers/sync-path.ts'
import type { DriftPolicyDocument } from './schema.ts'

interface PolicyWithAddresses {
  readonly document: { readonly spec: Pick<DriftPolicyDocument['spec'], 'alsoKnownAs' | 'enforce'> }
  readonly origin?: 'operator' | 'repository'
}

/**
 * Whether an address is one of this repository. Where the operator enforces a policy, only those that the operator names count beside the own one.
 * @param remotes address that is read, and of a clone those that it was cloned from
 */
export function addressesOf(
  remotes: readonly string[],
  policies: readonly PolicyWithAddresses[],
): (address: string) => boolean {
  const isEnforced = policies.some(
    ({ origin, document }) => origin === 'operator' && document.spec.enforce === true,
  )
  const counting = isEnforced ? policies.filter(({ origin }) => origin === 'operator') : policies
  const known = [...remotes, ...counting.flatMap(({ document }) => document.spec.alsoKnownAs ?? [])]
  return (address) => known.some((each) => sameRepository(address, each))
}
